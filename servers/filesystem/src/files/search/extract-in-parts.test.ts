import { closeSync, openSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lines, searcherOf, utf16 } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";
import { blocksOf } from "./text-blocks.ts";

/** 12 MB of lines of different lengths; every 50,000th contains "needle". */
const LARGE = Array.from({ length: 200_000 }, (_, index) => {
  return `${index % 50_000 === 49_999 ? "needle" : "straw"} ${"ö".repeat(index % 60)}${index}\n`;
}).join("");

describe("a large file that all threads search", () => {
  it("has the lines, numbers and totals of a search from its start", async () => {
    const tree = await makeTree({
      "a.log": LARGE,
      "bom.log": `\uFEFF${LARGE}`,
      "dir/b.log": LARGE,
    });
    const search = searcherOf(tree);
    const found = [49_999, 99_999, 149_999, 199_999].map(
      (at) => `${at + 1}:needle ${"ö".repeat(at % 60)}${at}`,
    );
    for (const name of ["a.log", "bom.log"]) {
      const all = await search({ path: name, pattern: "needle" });
      expect(lines(tree, all)).toEqual(found.map((line) => `${name}:${line}`));
      expect(all).toMatchObject({ total_lines: 4, total_files: 1 });
    }
    const first = await search({ path: "a.log", pattern: "needle", limit: 3 });
    expect(lines(tree, first)).toEqual(found.slice(0, 3).map((line) => `a.log:${line}`));
    expect(first.total_lines).toBe(4);
    const rest = await search({
      path: "a.log",
      pattern: "needle",
      limit: 3,
      cursor: first.next_cursor,
    });
    expect(lines(tree, rest)).toEqual([`a.log:${found[3]}`]);
    expect(await search({ path: "a.log", pattern: "^straw.*7$", mode: "counts" })).toMatchObject({
      total_lines: 20_000,
    });
  });

  it("is one text: UTF-16 is decoded from its start, and a NUL byte anywhere makes it binary", async () => {
    const tree = await makeTree({});
    writeFileSync(tree.at("wide.log"), utf16(LARGE));
    writeFileSync(tree.at("binary.log"), `${LARGE}\0needle\n`);
    const search = searcherOf(tree);
    const wide = await search({ path: "wide.log", pattern: "needle" });
    expect(wide.files[0]?.matches?.map(({ line }) => line)).toEqual([
      50_000, 100_000, 150_000, 200_000,
    ]);
    expect(await search({ path: "binary.log", pattern: "needle" })).toMatchObject({
      total_lines: 0,
    });
  });

  it("has each line in exactly one part, wherever it is divided", async () => {
    const tree = await makeTree({});
    let state = 23;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 300; round++) {
      const long = round % 50 === 0 ? "x".repeat(1_500_000) : "";
      const text = `${Array.from({ length: next(40) }, () => "ab\n"[next(3)]).join("")}${long}\nend${"\n".repeat(next(2))}`;
      writeFileSync(tree.at("file"), text);
      const cuts = [0, next(text.length), next(text.length), Number.MAX_SAFE_INTEGER].sort(
        (a, b) => a - b,
      );
      const fd = openSync(tree.at("file"), "r");
      const parts = cuts.slice(1).map((end, index) => {
        const blocks = blocksOf(fd, undefined, { start: cuts[index] ?? 0, end });
        return Array.from(blocks, (block) => block?.text).join("");
      });
      closeSync(fd);
      expect(parts.join("")).toBe(text);
      const filled = parts.filter((part) => part !== "");
      for (const part of filled.slice(0, -1)) expect(part.endsWith("\n")).toBe(true);
    }
  });
});
