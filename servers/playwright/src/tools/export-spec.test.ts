import { beforeAll, describe, expect, it } from "vitest";
import { type Session, session } from "../../test/session.ts";

let talk: Session;
beforeAll(async () => {
  talk = await session();
});

describe("pw_export_spec", () => {
  it("writes a spec; test/export.long.test.ts runs such under the real playwright test", async () => {
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
      'test.use({ ...devices["iPhone 15"], defaultBrowserType: "chromium", colorScheme: "dark" });',
    );
    expect(text).toContain('await expect(page.locator("h1")).toContainText("Docs");');
    expect(text).not.toMatch(/first\(\)|networkidle|evaluateAll/);
  });

  it("cannot be made to write code of the caller's", async () => {
    const { text } = await talk.good("pw_export_spec", {
      title: '"); process.exit(1); ("',
      url: 'http://localhost:3000/"); process.exit(2); ("',
      assertions: ["h1 is '\"); process.exit(3); (\"'"],
    });
    // What is in strings and in patterns is no code.
    const withoutStrings = text
      .replace(/hasText: \/(?:[^/\\\n]|\\.)*\/u/g, "hasText")
      .replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
    for (const n of [1, 2, 3]) expect(text).toMatch(new RegExp(`process\\\\?\\.exit\\\\?\\(${n}`));
    expect(withoutStrings).not.toContain("process.exit");
  });

  it.each([
    [{ url: "file:///etc/passwd" }, "file: is not allowed"],
    [{ assertions: ["h1 contans 'x'"] }, "cannot be read"],
    [{ device: "iPhon 15" }, "iPhone 15"],
  ])("refuses %j", async (given, said) => {
    const answer = await talk.call("pw_export_spec", { url: "http://localhost:3000/", ...given });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain(said);
  });
});
