import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin } from "../servers.ts";
import { shopRepository } from "./data/repository.ts";
import { connectApps, useViews } from "./host.ts";

describe("a diff of 30 files", () => {
  const show = useViews();
  let folder = "";
  let client: Client;
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-apps-diff-")));
    shopRepository(folder);
    client = await connectApps(serverBin("git"), [folder]);
  });
  afterAll(async () => {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const shownFor = async (given: Record<string, unknown>) => {
    const call = { name: "git_diff", arguments: { target: "HEAD~1..HEAD", ...given } };
    const shown = await show(client, call, await client.callTool(call), { width: 720 });
    await shown.view.getByRole("status").filter({ hasText: "file" }).waitFor();
    return shown;
  };

  it("lists all files with their counts, folds them, and goes to files and changes", async () => {
    const shown = await shownFor({ context_lines: 20 });
    const { view, page } = shown;
    const more = view.getByRole("button", { name: "Load more" });
    const pending = view.locator("li.pending");
    for (let left = await pending.count(); left > 0; left = await pending.count()) {
      await more.click();
      await expect.poll(() => pending.count()).toBeLessThan(left);
    }
    const list = view.getByRole("navigation", { name: "Files" }).getByRole("listitem");
    expect(await list.count()).toBe(30);
    expect(await list.filter({ hasText: "src/stores/order-store.ts" }).textContent()).toMatch(
      /^M.*\+5−4$/,
    );
    expect(await list.filter({ hasText: "src/legacy.js" }).textContent()).toMatch(/^D/);
    expect(
      await list.filter({ hasText: "src/server.ts → src/http/server.ts" }).textContent(),
    ).toMatch(/^R/);
    expect(await list.filter({ hasText: "assets/logo.png" }).textContent()).toMatch(/^B/);
    expect(await list.filter({ hasText: "migrations/004_orders.sql" }).textContent()).toMatch(
      /^A.*\+3$/,
    );
    const height = async () =>
      view.locator("body").evaluate((body) => body.getBoundingClientRect().height);
    expect(await height()).toBeLessThan(1_300);
    const boxes = view.locator("details.file");
    expect(await boxes.count()).toBe(30);
    expect(await boxes.filter({ visible: true }).count()).toBeLessThan(30);

    await list.getByRole("button", { name: "tests/test_reviews.py" }).click();
    const reviews = boxes.filter({ hasText: "def test_review_is_found" });
    await reviews.locator(".t-keyword", { hasText: "def" }).first().waitFor();
    expect(await reviews.locator("mark").count()).toBeGreaterThan(0);
    await view.getByRole("button", { name: "Show all 30 files" }).click();
    expect(await boxes.filter({ visible: true }).count()).toBe(30);

    const current = view.locator("tr.current");
    await page.keyboard.press("n");
    const first = await current.textContent();
    await page.keyboard.press("n");
    expect(await current.textContent()).not.toBe(first);
    await page.keyboard.press("p");
    expect(await current.textContent()).toBe(first);
    expect(await current.count()).toBe(1);

    // The moved file has a long run without a change.
    await list.getByRole("button", { name: "src/server.ts" }).click();
    const moved = boxes.filter({ hasText: "createServer" });
    const lines = await moved.locator("tr.same").count();
    await moved
      .getByRole("button", { name: /unchanged lines/ })
      .first()
      .click();
    expect(await moved.locator("tr.same").count()).toBeGreaterThan(lines + 7);

    await view.getByRole("button", { name: "Side by side" }).click();
    expect(await view.locator("table.unified").count()).toBe(0);
    expect(await view.locator("td.added").count()).toBeGreaterThan(60);
    await page.close();
  });

  it("copies the diff of a file", async () => {
    const shown = await shownFor({ paths: ["package.json"] });
    await shown.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await shown.view.getByRole("button", { name: "Copy" }).click();
    await shown.view.getByRole("button", { name: "Copied" }).waitFor();
    const pasted = shown.page.locator("textarea");
    await shown.page
      .locator("body")
      .evaluate((body) => body.prepend(body.ownerDocument.createElement("textarea")));
    await pasted.focus();
    await shown.page.keyboard.press("Control+V");
    const text = await pasted.inputValue();
    expect(text).toContain('-  "version": "1.9.3",\n+  "version": "2.0.0",');
    expect(text).toMatch(/^--- a\/package\.json/m);
    await shown.page.close();
  });
});
