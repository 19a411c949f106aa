import { describe, expect, it } from "vitest";
import { listed, makeTree, type Tree } from "../../../test/tree.ts";
import { listDirectory } from "./list-directory.ts";

async function list(tree: Tree, request: Partial<Parameters<typeof listDirectory>[1]> = {}) {
  const usual = {
    path: tree.root,
    details: false,
    sort: "name",
    limit: 200,
    budget: 20_000,
  } as const;
  return listed(await listDirectory(tree, { ...usual, ...request }));
}

describe("listDirectory", () => {
  it.each(["name", "size", "mtime"] as const)(
    "pages without repeat or gap, sorted by %s",
    async (sort) => {
      const tree = await makeTree(
        Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`f${i}`, "x".repeat(i % 3)])),
      );
      const lines: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await list(tree, { sort, details: true, limit: 7, cursor });
        lines.push(...page.lines);
        cursor = page.cursor;
        pages += 1;
      } while (cursor !== undefined);
      expect(pages).toBe(4);
      expect(lines).toEqual((await list(tree, { sort, details: true })).lines);
      expect(new Set(lines).size).toBe(25);
    },
  );

  it("refuses damaged cursors and those of another listing", async () => {
    const tree = await makeTree({ "a/x": "", "a/y": "", b: "" });
    const { cursor } = await list(tree, { limit: 1 });
    for (const request of [
      { cursor: "rubbish" },
      { cursor, path: tree.at("a") },
      { cursor, sort: "size" as const },
    ])
      await expect(list(tree, request)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("stays within its budget, and a newline in a name cannot forge an entry", async () => {
    const tree = await makeTree(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`${i}-${"\n".repeat(100)}${"ä".repeat(70)}`, ""]),
      ),
    );
    const { lines, cursor } = await list(tree, { limit: 1000 });
    expect(lines.join("\n").length).toBeLessThan(20_000);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.every((line) => /^\[FILE\] \d+-/.test(line))).toBe(true);
    expect(cursor).toBeDefined();
  });
});
