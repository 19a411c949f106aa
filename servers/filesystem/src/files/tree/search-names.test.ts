import { utimes } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { keepSwapping } from "../../../test/swapper.ts";
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

  it("respects ignore rules, reports how many entries they hide, and can show them", async () => {
    const tree = await makeTree({
      ".gitignore": "dist/\n*.log\n",
      "dist/a.ts": "",
      "src/a.ts": "",
      "src/x.log": "",
      "tmp/a.ts": "",
      ".git/a.ts": "",
    });
    expect(await search(tree, { pattern: "a.ts" }, ["tmp/"])).toMatchObject({
      lines: [tree.at("src/a.ts")],
      facts:
        "[1 match. 4 entries are hidden by ignore rules or .git; include_ignored=true shows the ignored ones.]",
    });
    expect(await paths(tree, { pattern: "a.ts", include_ignored: true }, ["tmp/"])).toEqual([
      "dist/a.ts",
      "src/a.ts",
      "tmp/a.ts",
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

  it("sorts the newest and the largest first", async () => {
    const tree = await makeTree({ a: "1", b: "333", c: "22" });
    await utimes(tree.at("a"), 2e9, 2e9);
    await utimes(tree.at("b"), 1e9, 1e9);
    await utimes(tree.at("c"), 1.5e9, 1.5e9);
    const sorted = async (sort: "mtime" | "size") =>
      (await search(tree, { sort })).lines.map((line) => `${line.split(" ")[0]} ${line.at(-1)}`);
    expect(await sorted("mtime")).toEqual([
      "2033-05-18T03:33:20.000Z a",
      "2017-07-14T02:40:00.000Z c",
      "2001-09-09T01:46:40.000Z b",
    ]);
    expect(await sorted("size")).toEqual(["3 b", "2 c", "1 a"]);
  });

  it("returns partial results when time runs out, and continues from there", async () => {
    const tree = await makeTree(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i}/f${i}`, ""])),
    );
    const first = await search(tree, { pattern: "f*", budgetMs: 0, limit: 1000 });
    if (first.cursor !== undefined) expect(first.facts).toMatch(/^\[Continue .*ran out of time at/);
    const found = [...first.lines];
    let cursor = first.cursor;
    while (cursor !== undefined) {
      const page = await search(tree, { pattern: "f*", limit: 1000, cursor });
      found.push(...page.lines);
      cursor = page.cursor;
    }
    expect(new Set(found).size).toBe(200);
    expect(found.length).toBe(200);
  });

  it("stays within its budget with long paths", async () => {
    const long = Array.from({ length: 8 }, () => "d".repeat(200)).join("/");
    const tree = await makeTree(
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${long}/f${i}`, ""])),
    );
    const page = await search(tree, { pattern: "f*" });
    expect(page.lines.join("\n").length + page.facts.length).toBeLessThan(20_000);
    expect(page.cursor).toBeDefined();
    expect(page.facts).toContain("30 matches.");
  });

  it("suggests wildcards if an exact name is not found", async () => {
    const tree = await makeTree({ "config.json": "" });
    const { facts } = await search(tree, { pattern: "config" });
    expect(facts).toBe(
      '[0 matches. The pattern has no wildcard and matches only this exact name; "*config*" matches names that contain it.]',
    );
  });

  it("refuses a cursor of another search", async () => {
    const tree = await makeTree({ a: "", b: "" });
    const { cursor } = await search(tree, { limit: 1 });
    await expect(search(tree, { limit: 1, pattern: "b*", cursor })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("shows nothing from outside while a directory is swapped for a link", async () => {
    const tree = await makeTree({
      "victim/in/a": "",
      "outside/in/SECRET": "",
      "outside/SECRET": "",
    });
    await keepSwapping(tree.at("victim"), tree.outside);
    for (let i = 0; i < 100; i++) {
      const found = await search(tree, { pattern: "*SECRET*", include_ignored: true });
      expect(found.lines).toEqual([]);
      expect(found.facts).toContain("0 matches.");
    }
  });
});
