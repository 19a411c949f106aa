import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { compose, difference, type Region, type Splice, spliced } from "./changed-ranges.ts";
import { countLines, unifiedDiff } from "./diff.ts";

function regionsOf(splices: readonly Splice[]): Region[] {
  return compose([], splices);
}

const TEXT = Array.from({ length: 200 }, (_, index) => `line ${index + 1}\n`).join("");

describe("unifiedDiff", () => {
  it("produces a patch that applies, with 3 lines of context", () => {
    const splices = [10, 12, 50, 199].map((line) => {
      const start = TEXT.indexOf(`line ${line}\n`);
      return { start, end: start + `line ${line}`.length, text: `changed ${line}\nand more` };
    });
    const after = spliced(TEXT, splices);
    const diff = unifiedDiff("a.txt", TEXT, after, regionsOf(splices), 20_000);
    expect(applyPatch(TEXT, diff.text)).toBe(after);
    expect(diff).toMatchObject({ added: 8, removed: 4, hiddenHunks: 0 });
    expect(diff.text.match(/^@@.*@@$/gm)).toEqual([
      "@@ -7,9 +7,11 @@",
      "@@ -47,7 +49,8 @@",
      "@@ -196,5 +199,6 @@",
    ]);
  });

  it("handles the start and end of a file and missing line endings", () => {
    const cases: [string, string][] = [
      ["", "a\n"],
      ["a\n", ""],
      ["a", "a\n"],
      ["a\nb", "ab"],
      ["ab", "a\nb"],
      ["a\nb\nc", "a\nb\nd"],
      ["x\na\nb\nc\n", "a\nb\nc\n"],
      ["a\n", "a\nb"],
    ];
    for (const [before, after] of cases) {
      const region = difference(before, after);
      const diff = unifiedDiff("f", before, after, region === undefined ? [] : [region], 20_000);
      expect(applyPatch(before, diff.text)).toBe(after);
      expect(countLines(before, after)).toEqual({ added: diff.added, removed: diff.removed });
    }
  });

  it("shows only the changed lines of a range", () => {
    const before = "one\ntwo\nthree\nfour\n";
    const after = "ONE\ntwo\nthree\nFOUR\n";
    const diff = unifiedDiff(
      "f",
      before,
      after,
      [{ oldStart: 0, oldEnd: 18, newStart: 0, newEnd: 18 }],
      20_000,
    );
    expect(diff).toMatchObject({ added: 2, removed: 2 });
  });

  it("stays within its budget, and reports how many hunks and lines are hidden", () => {
    const splices = Array.from({ length: 10 }, (_, index) => {
      const start = TEXT.indexOf(`line ${index * 20 + 1}\n`);
      return { start, end: start + 4, text: "LINE" };
    });
    const after = spliced(TEXT, splices);
    const diff = unifiedDiff("f", TEXT, after, regionsOf(splices), 500);
    expect(diff).toMatchObject({ added: 10, removed: 10 });
    expect(diff.hiddenHunks).toBeGreaterThan(3);
    expect(JSON.stringify(diff.text).length).toBeLessThan(700);
  });

  it("truncates very long lines and a single hunk that is too long", () => {
    const before = `${"x".repeat(50_000)}\n`;
    const diff = unifiedDiff(
      "f",
      before,
      `y${before}`,
      [{ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 1 }],
      5000,
    );
    expect(diff.text).toContain("more characters)");
    expect(diff.text.length).toBeLessThan(5000);
    const many = unifiedDiff(
      "f",
      "",
      TEXT,
      [{ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: TEXT.length }],
      1000,
    );
    expect(many).toMatchObject({ added: 200, removed: 0, hiddenHunks: 1 });
    expect(many.text).toContain("+line 1\n");
  });

  it("prevents names from forging a line", () => {
    const region = { oldStart: 0, oldEnd: 1, newStart: 0, newEnd: 1 };
    const lines = unifiedDiff("a\n+++ b", "x", "y", [region], 900).text.split("\n");
    expect(lines.filter((line) => line.startsWith("+++"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("--- "))).toHaveLength(1);
  });

  it("finishes in time on texts that have nothing in common", () => {
    const before = Array.from({ length: 50_000 }, (_, index) => `old ${index}\n`).join("");
    const after = Array.from({ length: 50_000 }, (_, index) => `new ${index}\n`).join("");
    expect(countLines(before, after)).toEqual({ added: 50_000, removed: 50_000 });
  });
});

describe("unifiedDiff of random texts", () => {
  it("always applies, also if many regions share a line", () => {
    let state = 11;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const word = (length: number) => Array.from({ length }, () => "abcd\n"[next(5)]).join("");
    for (let round = 0; round < 600; round++) {
      const before = word(next(200));
      const splices: Splice[] = [];
      for (let at = next(20); at <= before.length; ) {
        const end = Math.min(before.length, at + next(4));
        splices.push({ start: at, end, text: word(next(4)) });
        at = end + 1 + next(30);
      }
      const after = spliced(before, splices);
      const regions = regionsOf(splices).filter(
        ({ oldStart, oldEnd, newStart, newEnd }) =>
          before.slice(oldStart, oldEnd) !== after.slice(newStart, newEnd),
      );
      const { text } = unifiedDiff("f", before, after, regions, 100_000);
      expect(text === "" ? before : applyPatch(before, text)).toBe(after);
    }
  });
});
