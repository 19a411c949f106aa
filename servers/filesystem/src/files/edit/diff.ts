import { clip, digits, fitCount, oneLine } from "@refmcp/boundary/answer";
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";
import { counted } from "../errors.ts";

/** Limits of the search for the shortest edit script; beyond them no lines are shown. */
const LIMITS = { maxEditLength: 1_000, timeout: 1_000 };
const CONTEXT = { context: 3 };
const MAX_LINE_CHARS = 1_000;
/** If the script is too long, only this many lines are compared. */
const EXCERPT_LINES = 200;
/** Of the first hunk, however small the budget is. */
const MIN_CHARS = 1_000;

/** A place in a text: the characters from `start` to `end` are replaced with `text`. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Hunk = StructuredPatch["hunks"][number];

/** `1 line added, 2 removed` */
export function lineCounts({ added, removed }: Pick<Diff, "added" | "removed">): string {
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

interface Diff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
  readonly hiddenHunks: number;
}

/** The unified diff of two texts with LF line endings, as far as it fits. */
export function diffTexts({ oldName, newName, before, after, maxChars }: DiffWork): Diff {
  if (before === after) return { text: "", added: 0, removed: 0, hiddenHunks: 0 };
  const names = [oneLine(oldName), oneLine(newName)] as const;
  const { skipped, old, now } = differing(before, after);
  const [added, removed] = [news(old, now), news(now, old)];
  // Each of these lines is an edit. Looking for others takes seconds in a large text.
  const isShort = added + removed <= LIMITS.maxEditLength;
  const whole = isShort && structuredPatch(...names, old, now, "", "", { ...CONTEXT, ...LIMITS });
  const patch = whole || structuredPatch(...names, excerpt(old), excerpt(now), "", "", CONTEXT);
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  const hunks: Hunk[] = [];
  let remaining = maxChars;
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped;
    hunk.newStart += skipped;
    const lines = hunk.lines.map(cutLine);
    remaining -= JSON.stringify(lines).length;
    if (remaining >= 0) hunks.push({ ...hunk, lines });
  }
  const hiddenHunks = patch.hunks.length - hunks.length;
  const [first] = patch.hunks;
  if (hunks.length === 0 && first) hunks.push(cutHunk(first, maxChars));
  const text = formatPatch({ ...patch, hunks }, FILE_HEADERS_ONLY);
  if (!whole) return { text, added, removed, hiddenHunks: 1 };
  return { text, added: count("+"), removed: count("-"), hiddenHunks };
}

/** A match without what is the same before and after it at its beginning and end. */
export function narrowed(lf: string, { start, end, text }: Match): Match {
  const max = Math.min(end - start, text.length);
  let front = 0;
  while (front < max && lf.charCodeAt(start + front) === text.charCodeAt(front)) front += 1;
  let back = 0;
  while (
    back < max - front &&
    lf.charCodeAt(end - 1 - back) === text.charCodeAt(text.length - 1 - back)
  )
    back += 1;
  return { start: start + front, end: end - back, text: text.slice(front, text.length - back) };
}

/** Where two texts differ, in whole lines with their context, and how many lines are before it. */
function differing(before: string, after: string) {
  const all = { start: 0, end: before.length, text: after };
  let { start: from, end: to } = narrowed(before, all);
  for (let line = 0; line <= CONTEXT.context; line += 1) {
    from = from < 2 ? 0 : before.lastIndexOf("\n", from - 2) + 1;
    to = before.indexOf("\n", to) + 1 || before.length;
  }
  const skipped = before.slice(0, from).split("\n").length - 1;
  const old = before.slice(from, to);
  return { skipped, old, now: after.slice(from, after.length - (before.length - to)) };
}

const excerpt = (text: string) => `${text.split("\n", EXCERPT_LINES).join("\n")}\n`;

/** The beginning of a hunk that does not fit. */
function cutHunk(hunk: Hunk, maxChars: number): Hunk {
  const lines = hunk.lines.map(cutLine);
  const count = fitCount(lines, Math.max(maxChars, MIN_CHARS));
  return { ...hunk, lines: [...lines.slice(0, count), " …"] };
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
