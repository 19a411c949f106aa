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

/** The text with all `splices` (sorted, not overlapping) applied. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of splices) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/**
 * Combines two steps of changes: `regions` changed the first text, and `splices` (sorted, not overlapping) change the
 * result. Returns the regions between the first text and the last; adjacent ones are merged.
 */
export function compose(regions: readonly Region[], splices: readonly Splice[]): Region[] {
  const steps = [
    ...regions.map(({ oldStart, oldEnd, newStart, newEnd }) => ({
      start: newStart,
      end: newEnd,
      fromOld: newEnd - newStart - (oldEnd - oldStart),
      toNew: 0,
    })),
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
    let { start, end } = steps[index] ?? { start: 0, end: 0 };
    const oldStart = start - fromOld;
    const newStart = start + toNew;
    for (let step = steps[index]; step !== undefined && step.start <= end; step = steps[++index]) {
      end = Math.max(end, step.end);
      fromOld += step.fromOld;
      toNew += step.toNew;
      start = Math.min(start, step.start);
    }
    result.push({ oldStart, oldEnd: end - fromOld, newStart, newEnd: end + toNew });
  }
  return result;
}

/** The region in which two texts differ, or undefined if they are equal. */
export function difference(before: string, after: string): Region | undefined {
  if (before === after) return undefined;
  const max = Math.min(before.length, after.length);
  let front = 0;
  while (front < max && before.charCodeAt(front) === after.charCodeAt(front)) front += 1;
  let back = 0;
  while (
    back < max - front &&
    before.charCodeAt(before.length - 1 - back) === after.charCodeAt(after.length - 1 - back)
  ) {
    back += 1;
  }
  return { oldStart: front, oldEnd: before.length - back, newStart: front, newEnd: after.length - back };
}
