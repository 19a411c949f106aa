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
const close = (name: string) => talk.good("pw_browse_close", { session: name });

describe("pw_browse_evaluate", () => {
  it("evaluates JavaScript and returns its value, its error or the reason why it cannot be returned", async () => {
    await open("code");
    const value = async (expression: string) =>
      (await talk.call("pw_browse_evaluate", { session: "code", expression })).text;
    expect(await value("document.querySelector('h1').textContent")).toBe('"Lamps"');
    expect(await value("async () => ({ sum: 1 + 1, list: [1n, undefined] })")).toBe(
      '{"sum":2,"list":["1",null]}',
    );
    expect(await value("undefined")).toBe("undefined");
    expect(await value("nothing.at.all")).toContain("nothing is not defined");
    expect(await value("const a = {}; a.a = a; a")).toMatch(/circular reference|failed/);
    expect((await value("'x'.repeat(1e6)")).length).toBeLessThan(20_001);
    await close("code");
  });
});
