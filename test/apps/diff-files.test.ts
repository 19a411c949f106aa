import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { git } from "../../servers/git/test/fixture.ts";
import { serverBin } from "../servers.ts";
import { connectApps, useViews } from "./host.ts";

/** 30 files before and after a change: 25 stores, and one that is renamed, deleted, created, binary or short. */
function filesOf(isNew: boolean): Record<string, string | Buffer> {
  const store = (name: string, missing: string) =>
    Array.from({ length: 50 }, (_, line) =>
      line === 25
        ? missing
        : `  // What the store of ${name} does in line ${line}, in some words.\n`,
    ).join("");
  const stores = Array.from({ length: 25 }, (_, at) => [
    `src/stores/store-${at}.ts`,
    store(`${at}`, isNew ? `  throw new NotFound(${at});\n` : "  return undefined;\n"),
  ]);
  return {
    ...Object.fromEntries(stores),
    [isNew ? "src/http/server.ts" : "src/server.ts"]: store("sessions", "  listen(8080);\n"),
    ...(isNew ? { "migrations/1.sql": "CREATE INDEX a;\n" } : { "src/legacy.js": "old();\n" }),
    "assets/logo.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, isNew ? 2 : 1, 0, 0]),
    "package.json": `{\n  "version": "${isNew ? "2.0.0" : "1.9.3"}",\n  "type": "module"\n}\n`,
  };
}

describe("a diff of 30 files", () => {
  const show = useViews();
  let folder = "";
  let client: Client;
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-apps-diff-")));
    git(folder, "init", "--quiet", "--initial-branch=main");
    git(folder, "config", "user.name", "Ada");
    git(folder, "config", "user.email", "ada@example.org");
    for (const isNew of [false, true]) {
      for (const name of ["src", "assets"])
        rmSync(join(folder, name), { recursive: true, force: true });
      for (const [path, content] of Object.entries(filesOf(isNew))) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      git(folder, "add", "--all");
      git(folder, "commit", "--quiet", "--message=Shop");
    }
    client = await connectApps(serverBin("git"), [folder]);
  });
  afterAll(async () => {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const shownFor = async (args: Record<string, unknown>) => {
    const call = { name: "git_diff", arguments: { target: "HEAD~1..HEAD", ...args } };
    const app = await show(client, call, await client.callTool(call), { width: 720 });
    await app.view.getByRole("status").filter({ hasText: "file" }).waitFor();
    return app;
  };

  it("lists all files with their counts, and loads those that are not there", async () => {
    const app = await shownFor({ context_lines: 20 });
    const { view, page } = app;
    const more = view.getByRole("button", { name: "Load more" });
    const list = view.getByRole("navigation", { name: "Files" }).getByRole("listitem");
    expect(await list.count()).toBe(30);
    await view
      .getByRole("status")
      .filter({ hasText: /; \d+ of 30 files loaded$/ })
      .waitFor();
    const pending = view.locator("li.pending");
    for (
      let pendingCount = await pending.count();
      pendingCount > 0;
      pendingCount = await pending.count()
    ) {
      await more.click();
      await expect.poll(() => pending.count()).toBeLessThan(pendingCount);
    }
    expect(await view.getByRole("status").textContent()).toBe(
      "30 files changed, 27 insertions, 27 deletions, 1 binary",
    );
    expect(await list.count()).toBe(30);
    const entry = async (name: string) => list.filter({ hasText: name }).textContent();
    expect(await entry("src/stores/store-3.ts")).toMatch(/\+1−1$/);
    expect(await entry("src/server.ts → src/http/server.ts")).not.toBeNull();
    expect(await entry("migrations/1.sql")).toMatch(/\+1$/);
    const boxes = view.locator("details.file");
    expect(await boxes.count()).toBe(30);
    expect(await boxes.filter({ hasText: "src/legacy.js" }).textContent()).toContain("deleted");
    expect(await boxes.filter({ hasText: "assets/logo.png" }).textContent()).toContain("binary");
    await list.getByRole("button", { name: "package.json" }).click();
    await boxes.filter({ hasText: '"version"' }).locator("mark").first().waitFor();
    await page.close();
  });

  it("copies the diff of a file", async () => {
    const app = await shownFor({ paths: ["package.json"] });
    await app.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await app.view.getByRole("button", { name: "Copy" }).click();
    await app.view.getByRole("button", { name: "Copied" }).waitFor();
    const pasted = app.page.locator("textarea");
    await app.page
      .locator("body")
      .evaluate((body) => body.prepend(body.ownerDocument.createElement("textarea")));
    await pasted.focus();
    await app.page.keyboard.press("Control+V");
    const text = await pasted.inputValue();
    expect(text).toContain('-  "version": "1.9.3",\n+  "version": "2.0.0",');
    expect(text).toMatch(/^--- a\/package\.json/m);
    await app.page.close();
  });
});
