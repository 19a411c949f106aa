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

  it("lists all files with their counts, and loads those that are not there", async () => {
    const shown = await shownFor({ context_lines: 20 });
    const { view, page } = shown;
    const more = view.getByRole("button", { name: "Load more" });
    const list = view.getByRole("navigation", { name: "Files" }).getByRole("listitem");
    expect(await list.count()).toBe(30);
    await view
      .getByRole("status")
      .filter({ hasText: /; \d+ of 30 files loaded$/ })
      .waitFor();
    const pending = view.locator("li.pending");
    for (let left = await pending.count(); left > 0; left = await pending.count()) {
      await more.click();
      await expect.poll(() => pending.count()).toBeLessThan(left);
    }
    expect(await view.getByRole("status").textContent()).toBe(
      "30 files changed, 118 insertions, 56 deletions, 1 binary",
    );
    expect(await list.count()).toBe(30);
    const entry = async (name: string) => list.filter({ hasText: name }).textContent();
    expect(await entry("src/stores/order-store.ts")).toMatch(/\+5−4$/);
    expect(await entry("src/server.ts → src/http/server.ts")).not.toBeNull();
    expect(await entry("migrations/004_orders.sql")).toMatch(/\+3$/);
    const boxes = view.locator("details.file");
    expect(await boxes.count()).toBe(30);
    expect(await boxes.filter({ hasText: "src/legacy.js" }).textContent()).toContain("deleted");
    expect(await boxes.filter({ hasText: "assets/logo.png" }).textContent()).toContain("binary");
    await list.getByRole("button", { name: "tests/test_reviews.py" }).click();
    const reviews = boxes.filter({ hasText: "def test_review_is_found" });
    await reviews.locator("mark").first().waitFor();
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
