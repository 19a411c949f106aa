import { beforeAll, describe, expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { folderOf, type Session, sharedSession, site } from "../../test/session.ts";
import { CALL, makeDrivers } from "../../test/testers.ts";
import { Sessions } from "../browser/run/sessions.ts";
import { RunStore } from "../browser/store/runs.ts";

let url: string;
let talk: Session;
beforeAll(async () => {
  url = (await site({ "/": SHOP, "/next": page("<h1>Next</h1>") })).url;
  talk = await sharedSession();
});

const open = (name: string) => talk.good("pw_browse_open", { session: name, url });
const close = (name: string) => talk.good("pw_browse_close", { session: name });

describe("pw_browse_close", () => {
  it("explains a wrong name, a closed session and a wrong sentence", async () => {
    const unknown = await talk.call("pw_browse_act", { session: "nobody", steps: [] });
    expect(unknown.text).toContain("There is no session");
    expect(unknown.text).toContain("pw_browse_open");
    await open("short");
    expect((await talk.call("pw_browse_open", { session: "short", url })).text).toContain(
      "already open",
    );
    expect(
      (await talk.call("pw_browse_act", { session: "short", steps: ["clik 'x'"] })).text,
    ).toContain("click");
    await close("short");
    expect((await talk.call("pw_browse_act", { session: "short" })).text).toContain(
      "it was closed with pw_browse_close",
    );
    expect((await talk.call("pw_browse_open", { session: "../x", url })).isError).toBe(true);
  });

  it("closes an idle session, and says so", async () => {
    const drivers = await makeDrivers();
    let ended: Promise<unknown> | undefined;
    const dedicated = () => {
      const driver = drivers.dedicated();
      ended = driver.ended;
      return driver;
    };
    try {
      const runs = new RunStore({ folder: await folderOf("idle") });
      const sessions = new Sessions({
        drivers: { dedicated },
        runs,
        changed: () => undefined,
        idleMs: 60,
      });
      await sessions.open("idle", { url, steps: [] }, CALL);
      await ended;
      expect(() => sessions.act("idle", { steps: [] }, CALL)).toThrow(
        "no call used it for 0.001 minutes",
      );
    } finally {
      await drivers.close();
    }
  });
});
