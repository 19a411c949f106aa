import { beforeAll, describe, expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { type Session, session, sharedSession, site } from "../../test/session.ts";

let url: string;
let talk: Session;
beforeAll(async () => {
  url = (await site({ "/": SHOP, "/next": page("<h1>Next</h1>") })).url;
  talk = await sharedSession();
});

const open = (name: string) => talk.good("pw_browse_open", { session: name, url });
const close = (name: string) => talk.good("pw_browse_close", { session: name });

describe("pw_browse_open", () => {
  it("is offered only with their toolset, and pw_browse_evaluate only with its option", async () => {
    const offered = async (...args: string[]) => {
      const { connected } = await session({ args, hasBrowser: false });
      const { tools } = await connected.client.listTools();
      await connected.close();
      return tools.map(({ name }) => name).filter((name) => name.startsWith("pw_browse"));
    };
    expect(await offered("--allow-evaluate")).toEqual([]);
    const three = ["pw_browse_act", "pw_browse_close", "pw_browse_open"];
    expect(await offered("--toolsets", "all")).toEqual(three);
    expect(await offered("--toolsets", "all", "--allow-evaluate")).toContain("pw_browse_evaluate");
  });

  it("limits open sessions; one that failed to open does not count", async () => {
    const dead = await talk.call("pw_browse_open", { session: "dead", url: "http://127.0.0.1:1/" });
    expect(dead.text).toContain("127.0.0.1:1");
    for (const name of ["a", "b", "c"]) await open(name);
    const fourth = await talk.call("pw_browse_open", { session: "d", url });
    expect(fourth).toMatchObject({ isError: true, text: expect.stringContaining("a, b, c") });
    await close("b");
    await open("d");
    for (const name of ["a", "c", "d"]) await close(name);
  });
});
