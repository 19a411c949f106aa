import { clip, digits, fitCount, oneLine } from "@refmcp/boundary/answer";
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";
import { counted } from "../errors.ts";

/** Limits of the search for the shortest edit script; beyond them no lines are shown. */
const OPTIONS = { context: 3, maxEditLength: 1_000, timeout: 1_000 };
const MAX_LINE_CHARS = 1_000;
/** If the script is too long, only this many lines are compared. */
const EXCERPT_LINES = 200;
/** Of the first hunk, however small the budget is. */
const MIN_CHARS = 1_000;

type Hunk = StructuredPatch["hunks"][number];

interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** `1 line added, 2 removed` */
export function lineCounts({ added, removed }: LineCounts): string {
  return `${counted(added, "line")} added, ${digits(removed)} removed`;
}

export interface DiffWork {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
  /** Characters of the diff as JSON text; a part of the first hunk is returned in any case. */
  readonly maxChars: number;
}

interface Diff extends LineCounts {
  readonly text: string;
  readonly hiddenHunks: number;
}

/** The unified diff of two texts with LF line endings, as far as it fits. */
export function diffTexts({ oldName, newName, before, after, maxChars }: DiffWork): Diff {
  if (before === after) return { text: "", added: 0, removed: 0, hiddenHunks: 0 };
  const names = [oneLine(oldName), oneLine(newName)] as const;
  const patch = structuredPatch(...names, before, after, undefined, undefined, OPTIONS);
  if (patch === undefined) {
    const [old, now] = [before.split("\n"), after.split("\n")];
    const end = old.findIndex((line, at) => line !== now[at]) + EXCERPT_LINES;
    const [oldPart, newPart] = [old, now].map((lines) => `${lines.slice(0, end).join("\n")}\n`);
    const part = { oldName, newName, before: oldPart ?? "", after: newPart ?? "", maxChars };
    const { text } = diffTexts(part);
    return { text, added: news(before, after), removed: news(after, before), hiddenHunks: 1 };
  }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  const hunks: Hunk[] = [];
  let remaining = maxChars;
  for (const hunk of patch.hunks) {
    const lines = hunk.lines.map(cutLine);
    remaining -= JSON.stringify(lines).length;
    if (remaining < 0) break;
    hunks.push({ ...hunk, lines });
  }
  const hiddenHunks = patch.hunks.length - hunks.length;
  const [first] = patch.hunks;
  if (hunks.length === 0 && first) hunks.push(cutHunk(first, maxChars));
  const text = formatPatch({ ...patch, hunks }, FILE_HEADERS_ONLY);
  return { text, added: count("+"), removed: count("-"), hiddenHunks };
}

/** The beginning of a hunk that does not fit. */
function cutHunk(hunk: Hunk, maxChars: number): Hunk {
  const lines = hunk.lines.map(cutLine);
  return {
    ...hunk,
    lines: [...lines.slice(0, fitCount(lines, Math.max(maxChars, MIN_CHARS))), " …"],
  };
}

/** How many lines of `after` are not in `before`. */
function news(before: string, after: string): number {
  const counts = new Map<string, number>();
  for (const line of before.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  return after.split("\n").filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  }).length;
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  return `${clip(line, MAX_LINE_CHARS)}… (${digits(line.length - MAX_LINE_CHARS)} more characters)`;
}

/** A diff, the rest of its answer, and what of that is for people who see it as files. */
export interface DiffAnswer {
  readonly diff: string;
  readonly rest: string;
  readonly remark: string;
}
