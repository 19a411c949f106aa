import type { Eol } from "../read/text-encoding.ts";

/**
 * A range of a text that was replaced: from `oldStart` to `oldEnd` before, from `newStart` to `newEnd` after.
 */
export interface Region {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** One replacement in a text: the characters from `start` to `end` are replaced with `text`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** How many parts are joined at once, so that millions of them do not take memory at the same time. */
const JOINED = 10_000;

/** The text with all `splices` (sorted, not overlapping) applied. */
export function spliced(text: string, splices: Iterable<Splice>): string {
  const joined: string[] = [];
  let parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of splices) {
    parts.push(text.slice(at, start), replacement);
    at = end;
    if (parts.length < JOINED) continue;
    joined.push(parts.join(""));
    parts = [];
  }
  joined.push(parts.join(""), text.slice(at));
  return joined.join("");
}

/** Where `wanted` begins in `text`, at least `step` characters apart. */
export function placesOf(text: string, wanted: string, step = wanted.length): Int32Array {
  let places = new Int32Array(64);
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) {
    if (count === places.length) {
      const more = new Int32Array(2 * count);
      more.set(places);
      places = more;
    }
    places[count++] = at;
  }
  return places.subarray(0, count);
}

/** The regions of a text in which `oldText` was replaced with `newText` at all `places`, computed when they are read. */
export function repeatedRegions(
  places: Int32Array,
  oldText: string,
  newText: string,
): Iterable<Region> {
  const changed = difference(oldText, newText);
  return {
    *[Symbol.iterator]() {
      if (changed === undefined) return;
      let shift = 0;
      for (const place of places) {
        yield {
          oldStart: place + changed.oldStart,
          oldEnd: place + changed.oldEnd,
          newStart: place + shift + changed.newStart,
          newEnd: place + shift + changed.newEnd,
        };
        shift += newText.length - oldText.length;
      }
    },
  };
}

/**
 * Combines two steps of changes: `regions` changed the first text, and `splices` (sorted, not overlapping) change the
 * result. Returns the regions between the first text and the last; adjacent ones are merged.
 */
export function compose(regions: readonly Region[], splices: readonly Splice[]): Region[] {
  const steps = [
    ...regions.map(({ oldStart, oldEnd, newStart: start, newEnd: end }) => {
      return { start, end, fromOld: end - start - (oldEnd - oldStart), toNew: 0 };
    }),
    ...splices.map(({ start, end, text }) => ({
      start,
      end,
      fromOld: 0,
      toNew: text.length - (end - start),
    })),
  ].sort((a, b) => a.start - b.start || a.end - b.end);
  const result: Region[] = [];
  let fromOld = 0;
  let toNew = 0;
  for (let index = 0; index < steps.length; ) {
    const { start } = steps[index] ?? { start: 0 };
    const oldStart = start - fromOld;
    const newStart = start + toNew;
    let end = start;
    for (let step = steps[index]; step !== undefined && step.start <= end; step = steps[++index]) {
      end = Math.max(end, step.end);
      fromOld += step.fromOld;
      toNew += step.toNew;
    }
    result.push({ oldStart, oldEnd: end - fromOld, newStart, newEnd: end + toNew });
  }
  return result;
}

export function difference(before: string, after: string): Region | undefined {
  if (before === after) return undefined;
  const max = Math.min(before.length, after.length);
  let front = 0;
  while (front < max && before.charCodeAt(front) === after.charCodeAt(front)) front += 1;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (
    Math.min(oldEnd, newEnd) > front &&
    before.charCodeAt(oldEnd - 1) === after.charCodeAt(newEnd - 1)
  ) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  return { oldStart: front, oldEnd, newStart: front, newEnd };
}

/** The regions in which two texts differ: one, or none. */
export function differences(before: string, after: string): Region[] {
  const region = difference(before, after);
  return region === undefined ? [] : [region];
}

/**
 * Converts line endings to LF, so that text with LF matches files with any. A lone CR counts if the file has no other
 * line endings.
 */
export function unified(original: string, eol: Eol) {
  const isCr = eol === "cr";
  const carriages = eol === "crlf" || eol === "mixed" ? carriagesIn(original) : [];
  const toOriginal = (at: number) => at + countBelow(carriages, at);
  function* originals(after: string, regions: Iterable<Region>): Generator<Splice> {
    for (const { oldStart, oldEnd, newStart, newEnd } of regions) {
      const [start, end] = [toOriginal(oldStart), toOriginal(oldEnd)];
      const text = after.slice(newStart, newEnd);
      const ending = isCr ? "\r" : text.includes("\n") ? endAt(original, start, end) : "\n";
      yield { start, end, text: withEnds(text, ending) };
    }
  }
  return {
    text: isCr ? original.replaceAll("\r", "\n") : withLf(original),
    /** The original with the ranges of `regions` (in `text`) replaced from `after`; everything else is unchanged. */
    restore: (after: string, regions: Iterable<Region>): string => {
      return isCr || carriages.length > 0 ? spliced(original, originals(after, regions)) : after;
    },
  };
}

export function feedsIn(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1))
    count += 1;
  return count;
}

/** Converts line endings of a caller's text to LF. */
export function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

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
