import { execFileSync } from "node:child_process";
import { utimes, writeFile } from "node:fs/promises";
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

const nameOf = (line: string) => line.slice(line.lastIndexOf(" ") + 1);

describe("listDirectory", () => {
  it("shows types and symlink targets, and hidden and ignored entries like all others", async () => {
    const tree = await makeTree({
      ".gitignore": "*\n",
      "b.txt": "hello",
      "a dir/x": "",
      in: { link: "b.txt" },
      out: { link: "../outside" },
      loop: { link: "loop" },
    });
    execFileSync("mkfifo", [tree.at("pipe")]);
    expect(await list(tree)).toEqual({
      lines: [
        "[FILE] .gitignore",
        "[DIR] a dir",
        "[FILE] b.txt",
        "[LINK] in -> b.txt",
        "[LINK] loop -> loop (outside, or missing)",
        "[LINK] out -> ../outside (outside, or missing)",
        "[OTHER] pipe",
      ],
      facts: `[7 entries in ${tree.root}.]`,
      cursor: undefined,
    });
  });

  it("adds sizes, times and a summary, and sorts by them", async () => {
    const tree = await makeTree({ small: "1", big: "12345", middle: "123", "dir/x": "" });
    await utimes(tree.at("small"), 1_000_000_000, 1_000_000_000);
    await utimes(tree.at("big"), 900_000_000, 900_000_000);
    const bySize = await list(tree, { details: true, sort: "size" });
    expect(bySize.lines.map((line) => line.split(" ")[1])).toEqual(["5", "3", "1", "-"]);
    expect(bySize.facts).toContain("4 entries in ");
    expect(bySize.facts).toContain(" (3 files, 1 directory, 9 bytes).");
    expect(bySize.lines[2]).toBe("[FILE] 1 2001-09-09T01:46:40.000Z small");
    const byTime = await list(tree, { details: true, sort: "mtime" });
    expect(byTime.lines.map(nameOf).slice(-2)).toEqual(["small", "big"]);
  });

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

  it("continues correctly if entries were added and removed", async () => {
    const tree = await makeTree({ a: "", b: "", c: "", d: "" });
    const { cursor } = await list(tree, { limit: 2 });
    execFileSync("rm", [tree.at("b")]);
    await writeFile(tree.at("bb"), "");
    const second = await list(tree, { limit: 2, cursor });
    expect(second.lines.map(nameOf)).toEqual(["bb", "c"]);
  });

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

  it("refuses files and what is outside", async () => {
    const tree = await makeTree({ file: "", out: { link: "../outside" } });
    await expect(list(tree, { path: tree.at("file") })).rejects.toMatchObject({ kind: "invalid" });
    await expect(list(tree, { path: tree.at("out") })).rejects.toMatchObject({ kind: "denied" });
    await expect(list(tree, { path: tree.at("nothing") })).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});
