import { beforeAll, describe, expect, it } from "vitest";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
beforeAll(async () => {
  web = await site({
    "/": page(`<header><nav aria-label="Main"><a href="/x">Docs</a></nav></header>
      <main><h1>It's "quoted"</h1><h2>More</h2>
      <label>Email <input></label><button>Save</button><button>Save</button><button>Save as…</button>
      <button>Don't "go"</button></main><script>console.error("it hurts")</script>`),
    "/crowd": page(Array.from({ length: 300 }, (_, n) => `<button>Button ${n}</button>`).join("")),
    "/narrow": page(
      "<button></button><script>document.querySelector('button').textContent = innerWidth</script>",
    ),
  });
  talk = await session();
});

describe("pw_inspect_page", () => {
  it("answers targets that assertions take as they are", async () => {
    const { data, links } = await talk.good("pw_inspect_page", { url: web.url });
    expect(data).toMatchObject({
      status: 200,
      title: "Docs",
      outline: expect.arrayContaining([`h1 It's "quoted"`, "h2 More", "main", "navigation 'Main'"]),
      console: ["error: it hurts"],
    });
    const targets = Array.isArray(data.targets) ? data.targets.map(String) : [];
    expect(targets).toEqual(
      expect.arrayContaining([
        "link 'Docs'",
        "textbox 'Email'",
        "first button exactly 'Save'",
        "nth 2 button exactly 'Save'",
        "button 'Save as…'",
      ]),
    );
    const assertions = targets.map((target) => `${target} is visible`);
    expect(assertions.length).toBeGreaterThanOrEqual(5);
    const run = await talk.good("pw_run_test", { url: web.url, assertions });
    expect(run.data, run.text).toMatchObject({ passed: true });
    expect(links.map(({ name }) => name)).toEqual(["home.png"]);
  });

  it("is bounded, and says what it left out", async () => {
    const { data } = await talk.good("pw_inspect_page", { url: `${web.url}/crowd`, limit: 10 });
    expect(data.targets).toHaveLength(10);
    expect(data.not_shown).toBe(290);
  });

  it("looks with the device that is asked for", async () => {
    const { data } = await talk.good("pw_inspect_page", { url: `${web.url}/narrow`, device: "400x300" });
    expect(data.targets).toEqual(["button '400'"]);
    const answer = await talk.call("pw_inspect_page", { url: web.url, device: "iPhon 15" });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("iPhone 15");
  });
});
