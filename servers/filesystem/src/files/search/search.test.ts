import { execFileSync } from "node:child_process";
import { open, readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isLong, someOf } from "../../../../../vitest.long.ts";
import { keepSwapping } from "../../../test/swapper.ts";
import { lines, searcherOf, type TextSearch } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";

/** Megabytes of a large file. */
const PARTS = isLong ? 100 : 30;

describe("text search", () => {
  it("finds lines, with numbers, context and totals", async () => {
    const tree = await makeTree({
      "a.txt": "one\ntwo needle\nthree\nfour\nfive needle\nsix\n",
      "sub/b.txt": "needle",
      "c.txt": "nothing\n",
    });
    const search = searcherOf(tree);
    expect(await search({ pattern: "needle" })).toEqual({
      files: [
        {
          path: tree.at("a.txt"),
          matches: [
            { line: 2, text: "two needle" },
            { line: 5, text: "five needle" },
          ],
        },
        { path: tree.at("sub/b.txt"), matches: [{ line: 1, text: "needle" }] },
      ],
      total_files: 2,
      total_lines: 3,
    });
    const { files } = await search({ pattern: "needle", context: 2, path: "a.txt" });
    expect(files).toEqual([
      {
        path: tree.at("a.txt"),
        matches: [
          { line: 2, text: "two needle", before: ["one"], after: ["three", "four"] },
          { line: 5, text: "five needle", after: ["six"] },
        ],
      },
    ]);
    const inOne = await search({ pattern: "needle", path: "a.txt" });
    expect(inOne).toMatchObject({ total_files: 1, total_lines: 2 });
  });

  it("accepts literal text, and ignores case on request", async () => {
    const tree = await makeTree({ a: "f(x) [a]\nF(X)\nfx\nÄrger\närger\n" });
    const search = searcherOf(tree);
    const linesOf = async (request: Partial<TextSearch>) =>
      lines(tree, await search(request)).map((line) => line.slice(2));
    expect(await linesOf({ pattern: "f(x)", literal: true })).toEqual(["1:f(x) [a]"]);
    expect(await linesOf({ pattern: "f(x)", literal: true, ignore_case: true })).toEqual([
      "1:f(x) [a]",
      "2:F(X)",
    ]);
    expect(await linesOf({ pattern: "f(x)" })).toEqual(["3:fx"]);
    expect(await linesOf({ pattern: "Ä", ignore_case: true })).toEqual(["4:Ärger", "5:ärger"]);
    expect(await linesOf({ pattern: "(?i)ä" })).toEqual(["4:Ärger", "5:ärger"]);
  });

  it("follows symlinks only to files inside, reads no FIFOs, and handles any name", async () => {
    const name = "new\nline\u001b[31m\0".slice(0, -1);
    const tree = await makeTree({
      [name]: "x",
      "-e": "x",
      "outside/secret": "x",
      "link-dir": { link: "../outside" },
      "link-file": { link: "../outside/secret" },
      "link-in": { link: "-e" },
      loop: { link: "." },
    });
    execFileSync("mkfifo", [tree.at("fifo")]);
    const search = searcherOf(tree);
    const result = await search({});
    expect(result.files.map(({ path }) => path)).toEqual([
      tree.at("-e"),
      tree.at("link-in"),
      tree.at(name),
    ]);
    expect(result.notes).toEqual([expect.stringMatching(/^3 symlinks were not followed/)]);
    await expect(search({ path: "link-file" })).rejects.toMatchObject({ kind: "denied" });
    await expect(search({ path: "link-dir" })).rejects.toMatchObject({ kind: "denied" });
    expect((await search({ path: "link-in" })).total_lines).toBe(1);
  });

  it("shows nothing from outside while a directory is swapped for a link", async () => {
    const content: Record<string, string> = {};
    for (let i = 0; i < 50; i++) {
      content[`victim/d/f${i}`] = "x innocent\n";
      content[`outside/d/f${i}`] = "x SECRET\n";
    }
    const tree = await makeTree(content);
    await keepSwapping(tree.at("victim"), tree.outside);
    const search = searcherOf(tree);
    for (let i = 0; i < 15; i++) {
      const content = await search({ limit: 1000 });
      expect(JSON.stringify(content)).not.toContain("SECRET");
      const secret = await search({ pattern: "SECRET", mode: i % 2 === 0 ? "files" : "counts" });
      expect(secret.files).toEqual([]);
      expect(secret.total_files).toBe(0);
    }
  });

  it("stops patterns that backtrack endlessly, naming them and the file, and lets others run", async () => {
    const tree = await makeTree({
      "bad/x": `${"a".repeat(50)}!b!x!=`,
      "good/y": "needle\n".repeat(3),
    });
    const search = searcherOf(tree);
    const bombs = someOf(3, ["(a+)+$", "(a|aa)+b", "(.*a){20}x", "([a-z]+)*=", "(?:a*)*b"]);
    const refused = Promise.all(
      bombs.map((pattern, index) =>
        expect(search({ pattern, path: index === 0 ? "bad/x" : "bad" })).rejects.toMatchObject({
          kind: "timeout",
          message: expect.stringMatching(
            /^Matching ".*" took more than \d+ s for one part of ".*\/bad\/x"/,
          ),
        }),
      ),
    );
    const result = await search({ pattern: "needle" });
    expect(result).toMatchObject({ total_lines: 3, total_files: 1 });
    await refused;
  });

  it("stops when cancelled or timed out, leaves nothing behind, and can search again", async () => {
    const tree = await makeTree({});
    const file = await open(tree.at("big"), "w");
    const part = Buffer.from("The quick brown fox jumps over the lazy dog.\n".repeat(25_000));
    for (let i = 0; i < PARTS; i++) await file.write(part);
    await file.close();
    const search = searcherOf(tree);
    const descriptors = async () => (await readdir("/proc/self/fd")).length;
    const pattern = "(?:[a-z]{1,30}\\s){3,30}\\d";
    await search({ pattern: "absent" });
    const before = await descriptors();

    const controller = new AbortController();
    const running = expect(search({ pattern, signal: controller.signal })).rejects.toThrow(
      "taken back",
    );
    // Other calls are answered while it runs.
    await tree.guard.openDirectory(tree.root).then((directory) => directory.close());
    controller.abort(new Error("taken back"));
    await running;
    await expect(search({ pattern, budgetMs: 100 })).rejects.toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("0.1 s"),
    });
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
    expect((await search({ pattern: "lazy dog", limit: 1 })).total_lines).toBe(PARTS * 25_000);
  });
});
