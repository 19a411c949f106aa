import { utimes } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { listed, makeTree, type Tree } from "../../../test/tree.ts";
import { searchNames } from "./search-names.ts";

async function search(
  tree: Tree,
  request: Partial<Parameters<typeof searchNames>[1]> = {},
  ignored: string[] = [],
) {
  const answer = await searchNames(
    { guard: tree.guard, ignored },
    {
      path: tree.root,
      pattern: "*",
      excludePatterns: [],
      type: "any",
      include_ignored: false,
      sort: "path",
      limit: 100,
      budget: 20_000,
      ...request,
    },
  );
  return listed(answer);
}

/** The paths below the root. */
async function paths(
  tree: Tree,
  request: Partial<Parameters<typeof searchNames>[1]> = {},
  ignored: string[] = [],
): Promise<string[]> {
  const { lines } = await search(tree, request, ignored);
  return lines.map((line) => line.slice(line.indexOf(tree.root) + tree.root.length + 1));
}

describe("searchNames", () => {
  it("finds files, directories and links by name at any depth, or by path", async () => {
    const tree = await makeTree({
      "a.ts": "",
      "src/b.ts": "",
      "src/deep/c.ts/x": "",
      "src/l.ts": { link: "b.ts" },
      "README.md": "",
    });
    const all = ["a.ts", "src/b.ts", "src/deep/c.ts/", "src/l.ts"];
    expect(await paths(tree, { pattern: "*.ts" })).toEqual(all);
    expect(await paths(tree, { pattern: "*.ts", type: "file" })).toEqual(["a.ts", "src/b.ts"]);
    expect(await paths(tree, { pattern: "*.ts", type: "directory" })).toEqual(["src/deep/c.ts/"]);
    expect(await paths(tree, { pattern: "src/*.ts" })).toEqual(["src/b.ts", "src/l.ts"]);
    expect(await paths(tree, { pattern: "deep/**", path: "src" })).toEqual([
      "src/deep/c.ts/",
      "src/deep/c.ts/x",
    ]);
  });

  it("excludes as the official server does", async () => {
    const tree = await makeTree({
      "node_modules/a.ts": "",
      "src/node_modules/a.ts": "",
      "src/a.ts": "",
      "src/a.test.ts": "",
    });
    expect(
      await paths(tree, { pattern: "*.ts", excludePatterns: ["node_modules", "**/*.test.ts"] }),
    ).toEqual(["src/a.ts"]);
  });

  it.each(["path", "mtime", "size"] as const)(
    "pages without repeat or gap, sorted by %s",
    async (sort) => {
      const tree = await makeTree(
        Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [`d${i % 4}/e${i % 3}/f${i}`, "x".repeat(i % 5)]),
        ),
      );
      for (let i = 0; i < 40; i += 3)
        await utimes(tree.at(`d${i % 4}/e${i % 3}/f${i}`), 1e9 + (i % 7), 1e9 + (i % 7));
      const whole = await paths(tree, { pattern: "f*", sort });
      expect(whole.length).toBe(40);
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await search(tree, { pattern: "f*", sort, limit: 7, cursor });
        expect(page.facts.includes("40 matches.")).toBe(cursor === undefined);
        paged.push(
          ...page.lines.map((line) => line.slice(line.indexOf(tree.root) + tree.root.length + 1)),
        );
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
    },
  );

  it("returns partial results when time runs out, and continues from there", async () => {
    const tree = await makeTree(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i}/f${i}`, ""])),
    );
    const first = await search(tree, { pattern: "f*", budgetMs: 0, limit: 1000 });
    if (first.cursor !== undefined) expect(first.facts).toMatch(/^\[Continue .*ran out of time at/);
    const lines = [...first.lines];
    let cursor = first.cursor;
    while (cursor !== undefined) {
      const page = await search(tree, { pattern: "f*", limit: 1000, cursor });
      lines.push(...page.lines);
      cursor = page.cursor;
    }
    expect(new Set(lines).size).toBe(200);
    expect(lines.length).toBe(200);
  });
});
