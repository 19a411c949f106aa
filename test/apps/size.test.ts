import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SERVERS, serverFolder } from "../servers.ts";

/** Hosts may refuse larger pages, and they are slow to show. */
const MAX_VIEW = 600_000;

describe.each(SERVERS)("the built package of %s", (name) => {
  it("has small views that name no address to load from", async () => {
    const folder = join(serverFolder(name), "dist", "views");
    const views = (await readdir(folder)).filter((file) => file.endsWith(".html"));
    expect(views.length).toBeGreaterThan(0);
    for (const view of views) {
      const page = await readFile(join(folder, view));
      expect(page.length, view).toBeLessThanOrEqual(MAX_VIEW);
      expect(page.toString()).not.toMatch(/(?:src|href)="?https?:|@import|url\(["']?https?:/);
    }
  });
});
