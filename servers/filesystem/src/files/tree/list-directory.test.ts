import { execFileSync } from "node:child_process";
import { utimes, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeTree, type Tree } from "../../../test/tree.ts";
import { listDirectory } from "./list-directory.ts";

function list(tree: Tree, request: Partial<Parameters<typeof listDirectory>[1]> = {}) {
  return listDirectory(tree, {
    path: tree.root,
    details: false,
    sort: "name",
    limit: 200,
    budget: 20_000,
    ...request,
  });
}

describe("listDirectory", () => {
  it("shows types and symlink targets", async () => {
    const tree = await makeTree({
      "b.txt": "hello",
      "a dir/x": "",
      in: { link: "b.txt" },
      out: { link: "../outside" },
      broken: { link: "nothing" },
      loop: { link: "loop" },
    });
    execFileSync("mkfifo", [tree.at("pipe")]);
    expect(await list(tree)).toEqual({
      path: tree.root,
      total: 7,
      entries: [
        { name: "a dir", type: "directory" },
        { name: "b.txt", type: "file" },
        { name: "broken", type: "link", target: "nothing", target_inside: false },
        { name: "in", type: "link", target: "b.txt", target_inside: true },
        { name: "loop", type: "link", target: "loop", target_inside: false },
        { name: "out", type: "link", target: "../outside", target_inside: false },
        { name: "pipe", type: "other" },
      ],
    });
  });

  it("shows hidden and ignored entries like all others", async () => {
    const tree = await makeTree({ ".gitignore": "*\n", ".git/HEAD": "", "a.log": "" });
    expect((await list(tree)).entries.map(({ name }) => name)).toEqual([
      ".git",
      ".gitignore",
      "a.log",
    ]);
  });

  it("adds sizes, times and a summary, and sorts by them", async () => {
    const tree = await makeTree({ small: "1", big: "12345", middle: "123", "dir/x": "" });
    await utimes(tree.at("small"), 1_000_000_000, 1_000_000_000);
    await utimes(tree.at("big"), 900_000_000, 900_000_000);
    const bySize = await list(tree, { details: true, sort: "size" });
    expect(bySize.entries.map(({ name, size }) => [name, size])).toEqual([
      ["big", 5],
      ["middle", 3],
      ["small", 1],
      ["dir", undefined],
    ]);
    expect(bySize).toMatchObject({ total: 4, total_files: 3, total_directories: 1, total_size: 9 });
    expect(bySize.entries.at(2)?.modified).toBe("2001-09-09T01:46:40.000Z");
    const byTime = await list(tree, { details: true, sort: "mtime" });
    expect(byTime.entries.map(({ name }) => name).slice(-2)).toEqual(["small", "big"]);
  });

  it.each(["name", "size", "mtime"] as const)(
    "pages without repeat or gap, sorted by %s",
    async (sort) => {
      const tree = await makeTree(
        Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`f${i}`, "x".repeat(i % 3)])),
      );
      const names: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await list(tree, { sort, details: true, limit: 7, cursor });
        expect(page.total).toBe(25);
        expect(page.total_size === undefined).toBe(cursor !== undefined);
        names.push(...page.entries.map(({ name }) => name));
        cursor = page.next_cursor;
        pages += 1;
      } while (cursor !== undefined);
      expect(pages).toBe(4);
      const whole = await list(tree, { sort, details: true });
      expect(names).toEqual(whole.entries.map(({ name }) => name));
      expect(new Set(names).size).toBe(25);
    },
  );

  it("continues correctly if entries were added and removed", async () => {
    const tree = await makeTree({ a: "", b: "", c: "", d: "" });
    const first = await list(tree, { limit: 2 });
    execFileSync("rm", [tree.at("b")]);
    await writeFile(tree.at("bb"), "");
    const second = await list(tree, { limit: 2, cursor: first.next_cursor });
    expect(second.entries.map(({ name }) => name)).toEqual(["bb", "c"]);
  });

  it("refuses damaged cursors and those of another listing", async () => {
    const tree = await makeTree({ "a/x": "", "a/y": "", b: "" });
    const { next_cursor } = await list(tree, { limit: 1 });
    expect(next_cursor).toBeDefined();
    for (const request of [
      { cursor: "rubbish" },
      { cursor: next_cursor, path: tree.at("a") },
      { cursor: next_cursor, sort: "size" as const },
    ]) {
      await expect(list(tree, request)).rejects.toMatchObject({
        kind: "invalid",
        hint: expect.stringContaining("cursor"),
      });
    }
  });

  it("a newline in a name cannot forge an entry", async () => {
    const name = 'a\n{"name":"forged","type":"file"}';
    const tree = await makeTree({ [`${name}`]: "" });
    const { entries } = await list(tree);
    expect(entries).toEqual([{ name, type: "file" }]);
    expect(JSON.stringify(entries)).not.toContain("\n");
  });

  it("stays within its budget whatever the names", async () => {
    const tree = await makeTree(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`${i}-${"\n".repeat(100)}${"ä".repeat(70)}`, ""]),
      ),
    );
    const page = await list(tree, { limit: 1000 });
    expect(JSON.stringify(page).length).toBeLessThan(20_000);
    expect(page.entries.length).toBeGreaterThan(20);
    expect(page.next_cursor).toBeDefined();
  });

  it("marks names that are not UTF-8", async () => {
    const tree = await makeTree({});
    await writeFile(Buffer.concat([Buffer.from(`${tree.root}/bad-`), Buffer.from([0xff])]), "");
    const { entries, notes } = await list(tree);
    expect(entries).toEqual([{ name: "bad-\uFFFD", type: "file" }]);
    expect(notes).toEqual([expect.stringContaining("not UTF-8")]);
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
