import { beforeAll, describe, expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { type Session, sharedSession, site } from "../../test/session.ts";

let url: string;
let talk: Session;
beforeAll(async () => {
  url = (await site({ "/": SHOP, "/next": page("<h1>Next</h1>") })).url;
  talk = await sharedSession();
});

const open = (name: string) => talk.good("pw_browse_open", { session: name, url });
const act = (name: string, ...steps: string[]) =>
  talk.good("pw_browse_act", { session: name, steps });
const close = (name: string) => talk.good("pw_browse_close", { session: name });

describe("pw_browse_act", () => {
  it("keeps the page between calls, with targets and screenshots", async () => {
    const opened = await open("shop");
    expect(opened.data).toMatchObject({ status: 200, title: "Docs", console: [], artifacts: [] });
    expect(opened.data.targets).toEqual(expect.arrayContaining(["textbox 'Name'", "button 'Add'"]));
    const added = await act(
      "shop",
      "fill textbox 'Name' with 'Desk lamp'",
      "click button 'Add'",
      "screenshot 'list'",
    );
    expect(added.data).toMatchObject({ console: ["error: added 1"] });
    expect(added.data.snapshot).toBeUndefined();
    expect(added.links.map(({ name }) => name)).toEqual(["page-list.png"]);
    const picture = await talk.good("pw_view_artifact", {
      run_id: added.data.run_id,
      name: "page-list.png",
    });
    expect(picture.images).toHaveLength(1);
    const seen = await talk.good("pw_browse_act", { session: "shop" });
    expect(seen.data).toMatchObject({
      snapshot: expect.stringContaining("Desk lamp"),
      console: [],
      artifacts: [],
    });
    const failed = await act("shop", "expect h1 is 'Chairs' within 50ms", "goto /next");
    expect(failed.data.failed_step).toContain("expect h1 is 'Chairs' within 50ms: its text is");
    expect(failed.data.url).toBe(`${url}/`);
    const next = await talk.good("pw_browse_act", {
      session: "shop",
      steps: ["goto /next"],
      snapshot: true,
    });
    expect(next.data).toMatchObject({
      url: `${url}/next`,
      snapshot: expect.stringContaining("Next"),
    });
    expect((await close("shop")).text).toContain("closed");
  });

  it("checks assertions as a run does, and sees everything since the session was opened", async () => {
    await open("checked");
    const checks = async (steps: string[], assertions: string[]) => {
      const { data } = await talk.good("pw_browse_act", { session: "checked", steps, assertions });
      return data;
    };
    await act("checked", "fill textbox 'Name' with 'Desk lamp'", "click button 'Add'");
    const assertions = ["li count is 1", "h1 is 'Chairs' within 50ms", "page contains 'Desk'"];
    const data = await checks([], [...assertions, "no console errors"]);
    expect(data).toMatchObject({
      assertions: [
        { name: "li count is 1", passed: true },
        { name: "h1 is 'Chairs' within 50ms", passed: false, actual: 'its text is "Lamps"' },
        { name: "page contains 'Desk'", passed: true },
        { passed: false, actual: expect.stringContaining('1 console error, the first: "added 1') },
      ],
      // The earlier answer contained it.
      console: [],
    });
    const failed = await checks(["expect h1 is 'Chairs' within 50ms"], ["h1 exists"]);
    expect(failed).toMatchObject({
      failed_step: expect.stringContaining("expect h1"),
      assertions: [{ passed: false, actual: "not checked: a step failed" }],
    });
    await close("checked");
  });
});
