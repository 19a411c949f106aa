import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { diffTexts } from "./diff.ts";

const diff = (before: string, after: string, maxChars = 20_000, name = "f") =>
  diffTexts({ oldName: name, newName: name, before, after, maxChars });

describe("diffTexts", () => {
  it("prevents names from forging a line", () => {
    const lines = diff("x", "y", 900, "a\n+++ b").text.split("\n");
    expect(lines.filter((line) => line.startsWith("+++"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("--- "))).toHaveLength(1);
  });

  it("finishes in time on texts that have nothing in common, or differ everywhere", () => {
    const numbered = (word: string) =>
      Array.from({ length: 50_000 }, (_, index) => `${word} ${index}\n`).join("");
    const counts = { added: 50_000, removed: 50_000 };
    expect(diff(numbered("old"), numbered("new"))).toMatchObject(counts);
    const other = (word: string) => numbered("x").replace(/x (\d*[02468])\n/g, `${word} $1\n`);
    expect(diff(other("old"), other("new"))).toMatchObject({ added: 25_000, removed: 25_000 });
  });

  it("always applies", () => {
    let state = 11;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const word = (length: number) => Array.from({ length }, () => "abcd\n"[next(5)]).join("");
    for (let round = 0; round < 600; round++) {
      const before = word(next(200));
      let after = "";
      for (let at = 0; at < before.length; ) {
        const end = at + next(30);
        after += before.slice(at, end) + word(next(4));
        at = end + next(4);
      }
      const { text } = diff(before, after, 100_000);
      expect(text === "" ? before : applyPatch(before, text)).toBe(after);
    }
  });
});
