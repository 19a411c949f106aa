import { beforeAll, describe, expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { type Session, sharedSession, site } from "../../test/session.ts";

let talk: Session;
beforeAll(async () => {
  talk = await sharedSession();
});

describe("pw_export_spec", () => {
  it("writes a spec; test/export.long.test.ts runs such specs with the real playwright test", async () => {
    const { text } = await talk.good("pw_export_spec", {
      title: "a `title` with 'quotes' and \\ slashes",
      url: "http://localhost:3000/docs",
      device: "iPhone 15 + dark",
      steps: ["fill label 'Password' with secret 'PASSWORD'", "click button 'Go'"],
      assertions: ["h1 contains 'Docs'"],
    });
    expect(text).toContain('from "@playwright/test"');
    expect(text).toContain("PW_SECRET_PASSWORD");
    expect(text).toContain('import { devices, expect, test } from "@playwright/test";');
    expect(text).toContain(
      'test.use({ ...devices["iPhone 15"], baseURL: "http://localhost:3000", defaultBrowserType: "chromium", colorScheme: "dark" });',
    );
    expect(text).toContain('await page.goto("/docs");');
    expect(text).toContain('await expect(page.locator("h1")).toContainText("Docs");');
    expect(text).not.toMatch(/first\(\)|networkidle|evaluateAll/);
  });

  it("repeats negative checks and counts once the page has settled, as a run does", async () => {
    const { text } = await talk.good("pw_export_spec", {
      url: "http://localhost:3000/",
      assertions: ["no console errors", "#e is empty", "h1 is 'Docs'", "li count at most 2"],
    });
    const body = text.slice(text.indexOf("page.goto"), text.lastIndexOf("});"));
    expect(
      body
        .split("\n")
        .slice(1, -1)
        .map((line) => line.trim()),
    ).toEqual([
      'await expect(page.locator("#e")).toBeEmpty();',
      'await expect(page.locator("h1")).toHaveText("Docs");',
      'await expect.poll(() => page.locator("li").count()).toBeLessThanOrEqual(2);',
      "await settled(page, open);",
      'await expect(page.locator("#e")).toBeEmpty({ timeout: 1 });',
      'expect(await page.locator("li").count()).toBeLessThanOrEqual(2);',
      "expect(consoleErrors).toEqual([]);",
    ]);
  });

  it("lets the page settle once for checks in a row, at the end or as steps", async () => {
    const late = ["no console errors", "no failed requests", "no serious a11y violations"];
    const steps = late.map((one) => `expect ${one}`);
    const url = "http://localhost:3000/";
    const both = await talk.good("pw_export_spec", { url, steps, assertions: late });
    expect(both.text.match(/await settled/g)).toHaveLength(1);
    const apart = await talk.good("pw_export_spec", { url, steps: [...steps, "reload", ...steps] });
    expect(apart.text.match(/await settled/g)).toHaveLength(2);
    expect(apart.text).toContain(
      '.filter((one) => ["serious","critical"].includes(String(one.impact)))',
    );
  });

  it.each([
    ["http://localhost:3000/a?b=1#c", "goto /d", ['goto("/a?b=1#c")', 'goto("/d")']],
    ["http://localhost:3000/a", "goto http://localhost:3000/b", ['goto("/a")', 'goto("/b")']],
    [
      "http://localhost:3000//evil.test/a",
      "goto ./b",
      ['goto("http://localhost:3000//evil.test/a")', 'new URL("./b"'],
    ],
    ["http://localhost:3000/", "goto http://localhost:30001/", ['goto("http://localhost:30001/")']],
  ])("writes %s and %s for its baseURL", async (url, step, lines) => {
    const { text } = await talk.good("pw_export_spec", { url, steps: [step] });
    expect(text).toContain('test.use({ baseURL: "http://localhost:3000" });');
    for (const line of lines) expect(text).toContain(line);
  });

  it("writes a path for the page that is open, if a step left the baseURL", async () => {
    const steps = ["goto http://other.test/", "goto /x"];
    const { text } = await talk.good("pw_export_spec", { url: "http://localhost:3000/", steps });
    expect(text).toContain('new URL("/x", page.url()).href');
  });

  it("writes the role and name of what a run found by its markup, where they are unambiguous", async () => {
    const { url } = await site({
      "/": page(
        `<input placeholder="Username" data-test="username"><label>It's "new" <input id="n" type="checkbox"></label>
         <button class="a">Save</button><button>Save all</button><button class="b">Same</button><button>Same</button>`,
      ),
    });
    const run = await talk.good("pw_run_test", {
      url,
      steps: ["fill `[data-test=\"username\"]` with 'Ada'", "check #n", "click .a", "click .b"],
    });
    const { text } = await talk.good("pw_export_spec", { run_id: run.data.run_id });
    for (const line of [
      'getByRole("textbox", { name: "Username" }).fill("Ada")',
      'getByRole("checkbox", { name: "It\'s \\"new\\"" }).check()',
      'getByRole("button", { name: "Save", exact: true }).click()',
      'locator(".b").click()',
    ])
      expect(text).toContain(line);
  });

  it("writes the locator that a run found for each bare quoted text", async () => {
    const { url } = await site({
      "/": page(
        `<h1>Docs</h1><label>Name <input></label><input placeholder="City"><button>Send now</button>`,
      ),
    });
    const run = await talk.good("pw_run_test", {
      url,
      steps: [
        " fill 'Name' with 'it\\'s Ada'",
        "type 'Paris' into exactly 'City'",
        "expect 'Name' has value 'it\\'s Ada'",
      ],
      assertions: ["'Send now' is enabled", "'Send now' is visible", "not 'City' is empty"],
      devices: ["iPhone 15"],
    });
    const { text } = await talk.good("pw_export_spec", { run_id: run.data.run_id });
    for (const line of [
      'page.getByLabel("Name").fill("it\'s Ada")',
      'page.getByPlaceholder("City", { exact: true }).pressSequentially("Paris")',
      'expect(page.getByLabel("Name")).toHaveValue("it\'s Ada")',
      'expect(page.getByRole("button", { name: "Send now" })).toBeEnabled()',
      'expect(page.getByText("Send now").filter({ visible: true })).toBeVisible()',
      'expect(page.getByPlaceholder("City")).not.toBeEmpty()',
      'devices["iPhone 15"]',
    ])
      expect(text).toContain(line);
    expect(text).not.toContain(".or(");
  });

  it("cannot be made to write the caller's code", async () => {
    const { text } = await talk.good("pw_export_spec", {
      title: '"); process.exit(1); ("',
      url: 'http://localhost:3000/"); process.exit(2); ("',
      assertions: ["h1 is '\"); process.exit(3); (\"'"],
    });
    // Strings and patterns are not code.
    const withoutStrings = text
      .replace(/hasText: \/(?:[^/\\\n]|\\.)*\/u/g, "hasText")
      .replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
    for (const n of [1, 2, 3]) expect(text).toMatch(new RegExp(`process\\\\?\\.exit\\\\?\\(${n}`));
    expect(withoutStrings).not.toContain("process.exit");
  });

  it("writes a session: what succeeded, with its checks in place, also after it was closed", async () => {
    const { url } = await site({ "/": SHOP, "/next": page("<h1>Next</h1>") });
    const shop = talk;
    const act = (...steps: string[]) => ({ session: "shop", steps });
    await shop.good("pw_browse_open", {
      ...{ url, device: "dark" },
      ...act("locale 'de-DE'", "wait for h1"),
    });
    await shop.good("pw_browse_act", {
      ...act(
        "fill 'Name' with 'Desk lamp'",
        "expect h1 is 'Chairs' within 10ms",
        "click button 'Add'",
      ),
    });
    await shop.good("pw_browse_act", {
      ...act("click 'Add'", "set cookie 'a' to 'b'"),
      assertions: [
        "li count is 1",
        "li count is 2 within 10ms",
        "no page errors",
        "no failed requests",
      ],
    });
    await shop.good("pw_browse_evaluate", { session: "shop", expression: "1 +\n1" });
    await shop.good("pw_browse_act", { ...act("goto /next"), assertions: ["h1 is 'Next'"] });
    const { text } = await shop.good("pw_export_spec", { session: "shop", title: "shop" });
    expect(text).toContain(
      `test.use({ baseURL: "${url}", colorScheme: "dark", locale: "de-DE" });`,
    );
    expect(text.slice(text.indexOf("// Left out"), text.indexOf("test("))).toBe(
      [
        "expect h1 is 'Chairs' within 10ms (it failed)",
        "li count is 2 within 10ms (it failed)",
        "pw_browse_evaluate 1 +\\n1",
        "",
      ]
        .map((one) => (one === "" ? "" : `// Left out: ${one}\n`))
        .join(""),
    );
    const body = text.slice(text.indexOf("await page.goto"), text.lastIndexOf("});"));
    expect(body.trim().split(/\n\s*/)).toEqual([
      'await page.goto("/");',
      'await expect(page.locator("h1")).toBeVisible();',
      'await page.getByLabel("Name").fill("Desk lamp");',
      'await page.getByRole("button", { name: "Add" }).click();',
      `await page.context().addCookies([{ name: "a", value: "b", url: "${url}" }]);`,
      'await expect(page.locator("li")).toHaveCount(1);',
      "await settled(page, open);",
      'await expect(page.locator("li")).toHaveCount(1, { timeout: 1 });',
      "expect(pageErrors).toEqual([]);",
      "expect(failedRequests).toEqual([]);",
      'await page.goto("/next");',
      'await expect(page.locator("h1")).toHaveText("Next");',
    ]);
    await shop.good("pw_browse_close", { session: "shop" });
    expect((await shop.good("pw_export_spec", { session: "shop", title: "shop" })).text).toBe(text);
  });

  it.each([
    [{ url: undefined }, "None of url, run_id and session was given"],
    [{ run_id: "20260101-000000-00000000" }, "There is no run"],
    [{ session: "nobody" }, "There is no session"],
    [{ session: "a", run_id: "20260101-000000-00000000" }, "Both run_id and session were given"],
    [{ url: "file:///etc/passwd" }, "file: is not allowed"],
    [{ assertions: ["h1 contans 'x'"] }, "cannot be parsed"],
    [{ device: "iPhon 15" }, "iPhone 15"],
  ])("refuses %j", async (given, said) => {
    const answer = await talk.call("pw_export_spec", { url: "http://localhost:3000/", ...given });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain(said);
  });
});
