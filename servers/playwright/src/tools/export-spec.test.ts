import { expect, it } from "vitest";
import { openedFirst, sharedSession } from "../../test/session.ts";

const talk = openedFirst(sharedSession);

it("pw_export_spec writes a spec; test/export.long.test.ts runs such specs with the real playwright test", async () => {
  const { text } = await talk.good("pw_export_spec", {
    title: "a `title` with 'quotes' and \\ slashes",
    url: "http://localhost:3000/docs",
    device: "iPhone 15 + dark",
    steps: ["fill label 'Password' with secret 'PASSWORD'", "click button 'Go'"],
    assertions: ["h1 contains 'Docs'"],
  });
  expect(text).toContain("PW_SECRET_PASSWORD");
  expect(text).toContain('import { devices, expect, test } from "@playwright/test";');
  expect(text).toContain(
    'test.use({ ...devices["iPhone 15"], baseURL: "http://localhost:3000", defaultBrowserType: "chromium", colorScheme: "dark" });',
  );
  expect(text).toContain('await page.goto("/docs");');
  expect(text).toContain('await expect(page.locator("h1")).toContainText("Docs");');
  expect(text).not.toMatch(/first\(\)|evaluateAll/);
});

it("pw_export_spec repeats negative checks and counts once the page has settled, as a run does", async () => {
  const { text } = await talk.good("pw_export_spec", {
    url: "http://localhost:3000/",
    assertions: ["no console errors", "#e is empty", "page contains 'Docs'", "li count at most 2"],
  });
  expect(text).toMatch(/on\("pageerror", \(error\) => consoleErrors\.push/);
  const body = text.slice(text.indexOf("page.goto"), text.lastIndexOf("});"));
  expect(body.split(/\n\s*/).slice(1, -1)).toEqual([
    'await expect(page.locator("#e")).toBeEmpty();',
    "await expect(page.getByText(/Docs/).filter({ visible: true })).not.toHaveCount(0);",
    'await expect.poll(() => page.locator("li").count()).toBeLessThanOrEqual(2);',
    'await page.waitForLoadState("networkidle");',
    'await expect(page.locator("#e")).toBeEmpty({ timeout: 1 });',
    'expect(await page.locator("li").count()).toBeLessThanOrEqual(2);',
    "expect(consoleErrors).toEqual([]);",
  ]);
});

it("pw_export_spec checks that there is one table before its rows, as a run does", async () => {
  const args = { url: "http://localhost:3000/", assertions: ["table has at most 5 rows"] };
  const { text } = await talk.good("pw_export_spec", args);
  expect(text).toContain('await expect(page.getByRole("table")).toHaveCount(1);');
  expect(text).toMatch(/getByRole\("table"\)\.getByRole\("row"\).*toBeLessThanOrEqual\(5\);/);
});

it("pw_export_spec cannot be made to write the caller's code", async () => {
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

it.each([
  [{ url: undefined }, "Neither url nor run_id was given"],
  [{ run_id: "20260101-000000-00000000" }, "There is no run"],
  [{ device: "iPhon 15" }, "iPhone 15"],
  [{ steps: ["dismiss dialog", "accept dialog"] }, "two dialogs in a row"],
])("pw_export_spec refuses %j", async (args, said) => {
  const answer = await talk.call("pw_export_spec", { url: "http://localhost:3000/", ...args });
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain(said);
});
