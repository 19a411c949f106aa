import type { Eol } from "../read/text-encoding.ts";
import { type Region, type Splice, spliced } from "./changed-ranges.ts";

/** A text with LF line endings only, and how to restore its original line endings. */
export interface Unified {
  readonly text: string;
  /**
   * The original with the ranges of `regions` (in `text`) replaced from `after`; everything else is unchanged.
   */
  restore(after: string, regions: readonly Region[]): string;
}

/**
 * Converts line endings to LF, so that text with LF matches files with any. A lone CR counts if the file has no other
 * line endings.
 */
export function unified(original: string, eol: Eol): Unified {
  const isCr = eol === "cr";
  const carriages = eol === "crlf" || eol === "mixed" ? carriagesIn(original) : [];
  const toOriginal = (at: number) => at + countBelow(carriages, at);
  const restored = (after: string, { oldStart, oldEnd, newStart, newEnd }: Region): Splice => {
    const [start, end] = [toOriginal(oldStart), toOriginal(oldEnd)];
    return {
      start,
      end,
      text: withEnds(after.slice(newStart, newEnd), isCr ? "\r" : endAt(original, start, end)),
    };
  };
  return {
    text: isCr ? original.replaceAll("\r", "\n") : withLf(original),
    restore: (after, regions) =>
      spliced(
        original,
        regions.map((region) => restored(after, region)),
      ),
  };
}

/** The number of line feeds in a range of a text. */
export function feedsIn(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Converts line endings of a caller's text to LF. */
export function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Converts LF line endings to `end`. */
export function withEnds(text: string, end: "\n" | "\r\n" | "\r"): string {
  return end === "\n" ? text : text.replaceAll("\n", end);
}

/** For each CRLF, the position of its LF in the text without carriage returns. */
function carriagesIn(original: string): number[] {
  const found: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2))
    found.push(at - found.length);
  return found;
}

/** How many of the sorted numbers are smaller than `at`. */
function countBelow(sorted: readonly number[], at: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The line ending that applies to a range: its first one, else the one before it, else the one after it. */
function endAt(text: string, start: number, end: number): "\n" | "\r\n" {
  const inside = text.indexOf("\n", start);
  const before = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  const at = inside !== -1 && inside < end ? inside : before !== -1 ? before : inside;
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}
