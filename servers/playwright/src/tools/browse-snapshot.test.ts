import { beforeAll, describe, expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { type Session, sharedSession, site } from "../../test/session.ts";

let url: string;
let talk: Session;
beforeAll(async () => {
  url = (await site({ "/": SHOP, "/next": page("<h1>Next</h1>") })).url;
  talk = await sharedSession();
});

describe("pw_browse_snapshot", () => {
  it("returns targets that work unchanged in steps, up to the limit", async () => {
    await talk.good("pw_browse_open", { url });
    const { data } = await talk.good("pw_browse_snapshot");
    const targets = Array.isArray(data.targets) ? data.targets.map(String) : [];
    expect(targets).toEqual(
      expect.arrayContaining(["heading 'Lamps'", "textbox 'Name'", "button 'Add'"]),
    );
    const steps = targets.map((target) => `hover ${target}`);
    expect((await talk.good("pw_browse_act", { steps })).data.failed_step).toBeUndefined();
    const few = await talk.good("pw_browse_snapshot", { limit: 1 });
    expect(few.data).toMatchObject({ targets: [targets[0]], not_shown: targets.length - 1 });
    await talk.good("pw_browse_act", { steps: ["goto /next"] });
    expect((await talk.good("pw_browse_snapshot")).data.snapshot).not.toContain("Lamps");
    await talk.good("pw_browse_close");
  });
});
