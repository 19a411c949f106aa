import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import letters from "../../packages/sql/src/chart/letters.json" with { type: "json" };
import { SERVERS, serverFolder } from "../servers.ts";

/** Hosts may refuse larger pages, and they are slow to show. */
const MAX_VIEW = 150_000;
/** Scales, letters, and what paints them. */
const MAX_CHART = 400_000;

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

it.each(["sqlite", "postgres"])(
  "charts take less than 400 kB of the package of %s",
  async (name) => {
    const folder = join(serverFolder(name), "dist");
    const files = await readdir(folder);
    expect(files.filter((file) => /\.(wasm|ttf|woff2?)$/.test(file))).toEqual([]);
    const texts = await Promise.all(
      files
        .filter((file) => file.endsWith(".js"))
        .map((file) => readFile(join(folder, file), "utf8")),
    );
    // The file with the outlines of letters, such as that of A.
    const charts = texts.filter((text) => text.includes(letters.A));
    expect(charts.length).toBeGreaterThan(0);
    for (const text of charts) expect(Buffer.byteLength(text)).toBeLessThan(MAX_CHART);
  },
);
