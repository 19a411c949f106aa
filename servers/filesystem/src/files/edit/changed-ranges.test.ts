import { describe, expect, it } from "vitest";
import { compose, difference, type Region, type Splice, spliced } from "./changed-ranges.ts";

/** A generator of numbers that is the same in every run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Puts the new text of each region into the old text. */
function applied(before: string, after: string, regions: readonly Region[]): string {
  return spliced(
    before,
    regions.map(({ oldStart, oldEnd, newStart, newEnd }) => ({
      start: oldStart,
      end: oldEnd,
      text: after.slice(newStart, newEnd),
    })),
  );
}

describe("compose", () => {
  it("leads from the first text to the last, whatever the steps", () => {
    for (let seed = 0; seed < 500; seed++) {
      const next = numbers(seed);
      const first = Array.from({ length: 5 + next(40) }, (_, index) =>
        String.fromCharCode(97 + (index % 26)),
      ).join("");
      let text = first;
      let regions: Region[] = [];
      for (let step = 0; step < 1 + next(6); step++) {
        const splices: Splice[] = [];
        for (let at = next(5); at < text.length; ) {
          const end = Math.min(text.length, at + next(4));
          splices.push({ start: at, end, text: "#".repeat(next(4)) });
          at = end + 1 + next(12);
        }
        regions = compose(regions, splices);
        text = spliced(text, splices);
      }
      expect(applied(first, text, regions)).toBe(text);
      for (const [index, region] of regions.entries()) {
        expect(region.oldStart).toBeGreaterThanOrEqual(regions[index - 1]?.oldEnd ?? 0);
      }
    }
  });
});

describe("difference", () => {
  it("is the range between the common prefix and the common suffix", () => {
    expect(difference("same", "same")).toBeUndefined();
    expect(difference("aXb", "aYYb")).toEqual({ oldStart: 1, oldEnd: 2, newStart: 1, newEnd: 3 });
    expect(difference("aa", "aaa")).toEqual({ oldStart: 2, oldEnd: 2, newStart: 2, newEnd: 3 });
    expect(difference("", "x")).toEqual({ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 1 });
  });
});
