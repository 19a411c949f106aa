import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryBound } from "@refmcp/core/boundary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLines } from "./find.ts";
import { Notes } from "./notes.ts";

let folder = "";
let notes: Notes;
const rest = { limit: 10, budget: 20_000, signal: new AbortController().signal };

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sample-find-")));
  await writeFile(join(folder, "a.md"), "Tea\r\ncoffee\r\ngreen tea");
  await writeFile(join(folder, "b.md"), "no drinks");
  await writeFile(join(folder, "c.txt"), "tea, but no note");
  const bound = new DirectoryBound({ configured: [{ path: folder, source: "argument" }], mode: "off" });
  notes = new Notes(createPathGuard(bound), 1_000);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("findLines", () => {
  it("finds lines of notes without regard to case", async () => {
    expect(await findLines(notes, { ...rest, query: "tea" })).toEqual({
      lines: [
        { path: join(folder, "a.md"), line: 1, text: "Tea" },
        { path: join(folder, "a.md"), line: 3, text: "green tea" },
      ],
    });
  });

  it("comes back to every line once, one at a time", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await findLines(notes, { ...rest, query: "e", limit: 1, cursor });
      seen.push(...page.lines.map(({ text }) => text));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(["Tea", "coffee", "green tea"]);
  });

  it("keeps to the budget, and shows one line at least", async () => {
    await writeFile(join(folder, "b.md"), `${"tea ".repeat(20)}\n`.repeat(12));
    const { lines, next_cursor } = await findLines(notes, { ...rest, query: "tea", budget: 1_300 });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(10);
    expect(next_cursor).toBeDefined();
  });

  it("stops when it is cancelled", async () => {
    const signal = AbortSignal.abort(new Error("cancelled"));
    await expect(findLines(notes, { ...rest, query: "tea", signal })).rejects.toThrow("cancelled");
  });
});
