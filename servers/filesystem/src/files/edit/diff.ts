import { clip, grouped, oneLine } from "@refmcp/boundary/answer";
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";
import { counted } from "../errors.ts";

const CONTEXT = 3;
/** Maximum length of the edit script to search for. */
const MAX_EDITS = 500;
const MAX_LINE_CHARS = 1_000;

type Hunk = StructuredPatch["hunks"][number];

interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** `1 line added, 2 removed` */
export function lineCounts({ added, removed }: LineCounts): string {
  return `${counted(added, "line")} added, ${grouped(removed)} removed`;
}

export interface DiffWork {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
  /** Characters of the diff as JSON text; at least one hunk is returned, however long. */
  readonly maxChars: number;
}

export interface Diff extends LineCounts {
  readonly text: string;
  readonly hiddenHunks: number;
}

/** The unified diff of two texts. Only the lines between their common beginning and end are compared. */
export function diffTexts({ oldName, newName, before, after, maxChars }: DiffWork): Diff {
  const shown: Hunk[] = [];
  const total = { added: 0, removed: 0 };
  let hiddenHunks = 0;
  let remaining = maxChars;
  for (const hunk of hunksOf(linesOf(before), linesOf(after))) {
    for (const line of hunk.lines) {
      if (line.startsWith("+")) total.added += 1;
      if (line.startsWith("-")) total.removed += 1;
    }
    if (hiddenHunks > 0) {
      hiddenHunks += 1;
      continue;
    }
    const isFirst = shown.length === 0;
    const lines = fitting(
      hunk.lines.map(cutLine),
      isFirst ? Math.max(remaining, 1_000) : remaining,
    );
    remaining -= lines.length === 0 ? 0 : JSON.stringify(lines.join("\n")).length + 40;
    if (lines.length === hunk.lines.length) shown.push({ ...hunk, lines });
    else {
      hiddenHunks += 1;
      if (isFirst) shown.push({ ...hunk, lines: [...lines, " …"] });
    }
  }
  const names = { oldFileName: oneLine(oldName), newFileName: oneLine(newName) };
  const patch = { ...names, oldHeader: undefined, newHeader: undefined, hunks: shown };
  const text = shown.length === 0 ? "" : formatPatch(patch, FILE_HEADERS_ONLY);
  return { text, ...total, hiddenHunks };
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The hunks of two texts, given as lines with their line endings. */
function hunksOf(before: readonly string[], after: readonly string[]): Hunk[] {
  const max = Math.min(before.length, after.length);
  let head = 0;
  while (head < max && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < max - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  if (head === before.length && head === after.length) return [];
  const start = Math.max(0, head - CONTEXT);
  const rest = Math.max(0, tail - CONTEXT);
  const old = before.slice(start, before.length - rest);
  const changed = after.slice(start, after.length - rest);
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const [one, other] = [old.join(""), changed.join("")];
  const patch = structuredPatch("", "", one, other, undefined, undefined, options);
  return (patch?.hunks ?? lineByLine(old, changed)).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + start,
    newStart: hunk.newStart + start,
  }));
}

/** Compares texts that differ in many lines: after a replacement throughout, the others are still at the same place. */
function lineByLine(before: readonly string[], after: readonly string[]): Hunk[] {
  if (before.length !== after.length) return [hunkOf(before, after, 0, before.length)];
  const hunks: Hunk[] = [];
  for (let at = 0; at < before.length; at++) {
    if (before[at] === after[at]) continue;
    let last = at;
    for (let next = at; next < before.length && next - last <= 2 * CONTEXT; next++)
      if (before[next] !== after[next]) last = next;
    hunks.push(hunkOf(before, after, Math.max(0, at - CONTEXT), last + 1 + CONTEXT));
    at = last;
  }
  return hunks;
}

/** A hunk from one line to another; if the texts have different lengths, all of both. */
function hunkOf(
  before: readonly string[],
  after: readonly string[],
  start: number,
  end: number,
): Hunk {
  const isAll = before.length !== after.length;
  const [old, changed] = [before.slice(start, end), after.slice(start, isAll ? undefined : end)];
  const lines: string[] = [];
  for (let at = 0; at < old.length || at < changed.length; ) {
    let next = at;
    while (
      isAll
        ? next < Math.max(old.length, changed.length)
        : next < old.length && old[next] !== changed[next]
    )
      next += 1;
    lines.push(...marked("-", old.slice(at, next)), ...marked("+", changed.slice(at, next)));
    if (next < old.length) lines.push(...marked(" ", old.slice(next, next + 1)));
    at = next + 1;
  }
  return {
    oldStart: start + 1,
    oldLines: old.length,
    newStart: start + 1,
    newLines: changed.length,
    lines,
  };
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n")
      ? [mark + line.slice(0, -1)]
      : [mark + line, "\\ No newline at end of file"],
  );
}

function fitting(lines: readonly string[], remaining: number): string[] {
  let used = 0;
  const count = lines.findIndex((line) => {
    used += JSON.stringify(line).length;
    return used > remaining;
  });
  return count === -1 ? [...lines] : lines.slice(0, count);
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  return `${clip(line, MAX_LINE_CHARS)}… (${grouped(line.length - MAX_LINE_CHARS)} more characters)`;
}
