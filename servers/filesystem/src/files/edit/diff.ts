import { clip, grouped, oneLine } from "@refmcp/boundary/answer";
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";
import { counted } from "../messages.ts";
import { differences, feedsIn, type Region } from "./changed-ranges.ts";

const CONTEXT = 3;
/** Maximum length of the edit script to search for; beyond it, the whole range counts as replaced. */
const MAX_EDITS = 1000;
const MAX_LINE_CHARS = 1000;
/** More changed lines in one range than any budget can show, so that comparing it takes bounded time. */
const MAX_EXCERPT_LINES = 400_000;

type Hunk = StructuredPatch["hunks"][number];

interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** `1 line added, 2 removed` */
export function lineCounts({ added, removed }: LineCounts): string {
  return `${counted(added, "line")} added, ${grouped(removed)} removed`;
}

export function countLines(before: string, after: string): LineCounts {
  const [excerpt] = excerptsOf(before, after, differences(before, after), 0);
  return excerpt === undefined ? { added: 0, removed: 0 } : countsOf(hunksOf(excerpt, 0));
}

export interface DiffWork {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
  readonly maxChars: number;
}

export function diffTexts({ oldName, newName, before, after, maxChars }: DiffWork): Diff {
  return unifiedDiff(oldName, before, after, differences(before, after), maxChars, newName);
}

export interface Diff extends LineCounts {
  readonly text: string;
  readonly hiddenHunks: number;
}

/**
 * The unified diff of two texts that differ only in `regions` (sorted). Only the regions and their context are
 * compared, so the cost does not depend on the size of the texts.
 *
 * @param maxChars of the diff as JSON text; at least one hunk is returned, however long.
 */
export function unifiedDiff(
  path: string,
  before: string,
  after: string,
  regions: Iterable<Region>,
  maxChars: number,
  newPath = path,
): Diff {
  const shown: Hunk[] = [];
  const total = { added: 0, removed: 0 };
  let hiddenHunks = 0;
  let remaining = maxChars;
  const count = ({ added, removed }: LineCounts) => {
    total.added += added;
    total.removed += removed;
  };
  for (const excerpt of excerptsOf(before, after, regions, CONTEXT)) {
    if (hiddenHunks > 0) {
      // This hunk is not shown, so only its lines are counted.
      hiddenHunks += 1;
      count(excerpt.touched);
      continue;
    }
    for (const hunk of hunksOf(excerpt, CONTEXT)) {
      count(countsOf([hunk]));
      const isFirst = shown.length === 0;
      const lines = fitting(
        hunk.lines.map(cutLine),
        isFirst ? Math.max(remaining, 1000) : remaining,
      );
      remaining -= lines.length === 0 ? 0 : JSON.stringify(lines.join("\n")).length + 40;
      if (lines.length === hunk.lines.length) shown.push({ ...hunk, lines });
      else {
        hiddenHunks += 1;
        if (isFirst) shown.push({ ...hunk, lines: [...lines, " …"] });
      }
    }
  }
  const names = { oldFileName: oneLine(path), newFileName: oneLine(newPath) };
  const patch = { ...names, oldHeader: undefined, newHeader: undefined, hunks: shown };
  return {
    text: shown.length === 0 ? "" : formatPatch(patch, FILE_HEADERS_ONLY),
    ...total,
    hiddenHunks,
  };
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

/** A range of whole lines of both texts around one or more regions. */
interface Excerpt {
  readonly before: string;
  readonly after: string;
  /** Number of its first line, from 1. */
  readonly oldLine: number;
  readonly newLine: number;
  /** The number of lines that the regions touch, without comparing their content. */
  readonly touched: LineCounts;
}

/** Regions whose contexts touch share one excerpt, except that a very long one ends early. */
function* excerptsOf(
  before: string,
  after: string,
  regions: Iterable<Region>,
  context: number,
): Generator<Excerpt> {
  let line = 1;
  let counted = 0;
  let shift = 0;
  let shown = 0;
  const cores = coresOf(before, after, regions);
  for (let next = cores.next(); next.done !== true; ) {
    let core = next.value;
    const start = Math.max(shown, linesBack(before, core.oldStart, context));
    const newStart = core.newStart - (core.oldStart - start);
    const touched = { added: 0, removed: 0 };
    let end: number;
    while (true) {
      touched.added += linesIn(after.slice(core.newStart, core.newEnd));
      touched.removed += linesIn(before.slice(core.oldStart, core.oldEnd));
      end = linesOn(before, core.oldEnd, context);
      next = cores.next();
      if (next.done === true || linesBack(before, next.value.oldStart, context) > end) break;
      if (touched.added + touched.removed > MAX_EXCERPT_LINES) {
        end = core.oldEnd;
        break;
      }
      core = next.value;
    }
    line += linesIn(before.slice(counted, start));
    counted = start;
    const excerpt = {
      before: before.slice(start, end),
      after: after.slice(newStart, core.newEnd + (end - core.oldEnd)),
      oldLine: line,
      newLine: line + shift,
      touched,
    };
    shift += linesIn(excerpt.after) - linesIn(excerpt.before);
    shown = end;
    yield excerpt;
  }
}

/** The regions widened to whole lines of both texts; those that share a line are one. */
function* coresOf(before: string, after: string, regions: Iterable<Region>): Generator<Region> {
  let core: Region | undefined;
  for (const { oldStart, oldEnd, newStart, newEnd } of regions) {
    // Also at the end of a text without a last line ending.
    const isSameLine =
      core !== undefined &&
      (oldStart < core.oldEnd || (oldStart === core.oldEnd && !startsLine(before, oldStart)));
    const last = isSameLine ? core : undefined;
    if (core !== undefined && last === undefined) yield core;
    const start = last?.oldStart ?? linesBack(before, oldStart, 0);
    const isClosed = startsLine(before, oldEnd) && startsLine(after, newEnd);
    const isInside = last !== undefined && oldEnd < last.oldEnd;
    const end = isInside ? last.oldEnd : isClosed ? oldEnd : linesOn(before, oldEnd, 1);
    core = {
      oldStart: start,
      oldEnd: end,
      newStart: last?.newStart ?? newStart - (oldStart - start),
      newEnd: newEnd + (end - oldEnd),
    };
  }
  if (core !== undefined) yield core;
}

function startsLine(text: string, at: number): boolean {
  return at === 0 || text.charCodeAt(at - 1) === 10;
}

/** The start of the line at `at`, or of the one `count` lines above it. */
function linesBack(text: string, at: number, count: number): number {
  let start = at;
  for (let left = count; ; left--) {
    start = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
    if (left === 0 || start === 0) return start;
    start -= 1;
  }
}

/** The end of the `count`th line from `at` on. */
function linesOn(text: string, at: number, count: number): number {
  let end = at;
  for (let left = count; left > 0 && end < text.length; left--) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return end;
}

/** The number of lines, including a last one without a line ending. */
function linesIn(text: string): number {
  return feedsIn(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}

/** The hunks of an excerpt, with the line numbers of the whole texts. */
function hunksOf({ before, after, oldLine, newLine }: Excerpt, context: number): Hunk[] {
  const options = { context, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  const hunks = patch?.hunks ?? [replacingHunk(before, after)];
  return hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + oldLine - 1,
    newStart: hunk.newStart + newLine - 1,
  }));
}

function replacingHunk(before: string, after: string): Hunk {
  const lines = [...marked("-", before), ...marked("+", after)];
  return { oldStart: 1, oldLines: linesIn(before), newStart: 1, newLines: linesIn(after), lines };
}

function marked(mark: string, text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n").map((line) => mark + line);
  if (text.endsWith("\n")) lines.pop();
  else lines.push("\\ No newline at end of file");
  return lines;
}

function countsOf(hunks: readonly Hunk[]): LineCounts {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
