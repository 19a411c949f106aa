import type { Eol } from "../read/text-encoding.ts";
import type { Region } from "./changed-ranges.ts";

/** A text with LF line ends only, and the way back to its own line ends. */
export interface Unified {
  readonly text: string;
  /** The original with the stretches of `regions` (in `text`) replaced from `after`; everything else stays as it is. */
  restore(after: string, regions: readonly Region[]): string;
}

/** Line ends as LF, so that a text written with LF matches a file with any. A CR counts where the file knows no other. */
export function unified(original: string, eol: Eol): Unified {
  if (eol === "cr") {
    return {
      text: original.replaceAll("\r", "\n"),
      restore: (after, regions) =>
        rebuilt(
          original,
          regions,
          (at) => at,
          (text) => text.replaceAll("\n", "\r"),
          after,
        ),
    };
  }
  const carriages = eol === "crlf" || eol === "mixed" ? carriagesIn(original) : [];
  const toOriginal = (at: number) => at + countBelow(carriages, at);
  return {
    text: carriages.length === 0 ? original : original.replaceAll("\r\n", "\n"),
    restore: (after, regions) =>
      rebuilt(
        original,
        regions,
        toOriginal,
        (text, start, end) => withEnds(text, endAt(original, start, end)),
        after,
      ),
  };
}

/** Line ends of a text from a caller as LF. */
export function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** LF line ends as `end`. */
export function withEnds(text: string, end: "\n" | "\r\n" | "\r"): string {
  return end === "\n" ? text : text.replaceAll("\n", end);
}

function rebuilt(
  original: string,
  regions: readonly Region[],
  toOriginal: (at: number) => number,
  ends: (text: string, start: number, end: number) => string,
  after: string,
): string {
  const parts: string[] = [];
  let at = 0;
  for (const region of regions) {
    const start = toOriginal(region.oldStart);
    const end = toOriginal(region.oldEnd);
    parts.push(original.slice(at, start), ends(after.slice(region.newStart, region.newEnd), start, end));
    at = end;
  }
  parts.push(original.slice(at));
  return parts.join("");
}

/** For each CRLF, where its LF stands in the text without carriage returns. */
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

/** The line end in force at a stretch: its own first one, else the one before it, else the one behind it. */
function endAt(text: string, start: number, end: number): "\n" | "\r\n" {
  const inside = text.indexOf("\n", start);
  const before = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  const at = inside !== -1 && inside < end ? inside : before !== -1 ? before : inside;
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}
