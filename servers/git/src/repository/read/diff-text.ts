import { clip, fitting, oneLine } from "@refmcp/boundary/answer";
import { counted, textOf } from "../run/text.ts";
import { type FileChange, fileLine, isFileStart, totalOf } from "./changed-files.ts";
import type { LinePage } from "./line-pager.ts";

/** The part of a patch that fits. */
interface Shown {
  readonly text: string;
  /** The line of the patch to continue from; undefined at its end. */
  readonly next: number | undefined;
  /** Files that were not shown yet. */
  readonly leftOut: readonly string[];
}

/**
 * As many complete files of a page as fit; if the first one does not, as many of its hunks or lines as fit. The first page of
 * a patch over the budget starts with the counts of all files.
 */
export function wholeFiles(
  page: LinePage,
  files: readonly FileChange[],
  skip: number,
  remaining: number,
): Shown {
  const lines = page.lines.map(textOf);
  const whole = lines.join("\n").length;
  const isWhole = !page.more && whole <= remaining;
  const summary = skip === 0 && !isWhole ? summaryOf(files, Math.floor(remaining / 4)) : "";
  const resumed = skip > 0 && page.lines[0] !== undefined && !isFileStart(page.lines[0]);
  const header = resumed ? page.landmark.map(textOf) : [];
  const count = isWhole
    ? lines.length
    : fittingLines(page.lines, lines, remaining - summary.length - header.join("\n").length);
  const text = [...(summary === "" ? [] : [summary]), ...header, ...lines.slice(0, count)].join("\n");
  const isEnd = !page.more && count === lines.length;
  if (isEnd) return { text, next: undefined, leftOut: [] };
  return { text, next: skip + count, leftOut: leftOutOf(page, count, skip, files) };
}

/** How many lines to show: up to the last file that fits, else the last hunk, else the last line. */
function fittingLines(bytes: readonly Buffer[], lines: readonly string[], remaining: number): number {
  let used = 0;
  let file = 0;
  let hunk = 0;
  for (const [index, line] of lines.entries()) {
    const start = bytes[index];
    if (start !== undefined && index > 0) {
      if (isFileStart(start)) file = index;
      else if (start[0] === 64 && start[1] === 64) hunk = index;
    }
    used += line.length + 1;
    if (used > remaining) {
      if (file > 0) return file;
      return hunk > 0 && hunk > index / 2 ? hunk : Math.max(1, index);
    }
  }
  // The whole page fits, and another one follows.
  return file > 0 ? file : lines.length;
}

/** The files after those shown. A later page does not know how many came before it, so it goes by names. */
function leftOutOf(
  page: LinePage,
  count: number,
  skip: number,
  files: readonly FileChange[],
): readonly string[] {
  const shown = page.lines.slice(0, count).filter(isFileStart).length;
  if (skip === 0) return files.slice(shown).map((file) => file.path);
  // Everything after the last file whose header was seen.
  const last = [...page.landmark, ...page.lines.slice(0, count)].findLast(isFileStart);
  const name = last === undefined ? "" : textOf(last);
  const at = files.findIndex((file) => name.endsWith(` b/${file.path}`));
  return at === -1 ? [] : files.slice(at + 1).map((file) => file.path);
}

function summaryOf(files: readonly FileChange[], remaining: number): string {
  const lines = files.map(fileLine);
  const shown = lines.slice(
    0,
    fitting(lines, remaining, (line) => line.length + 1),
  );
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`… and ${counted(rest, "more file")}`] : []), ""].join("\n");
}

/** A page of a list of files, and the index at which the next begins, if there is one. */
export function fileList(
  files: readonly FileChange[],
  format: "stat" | "name_status",
  skip: number,
  remaining: number,
): { text: string; next: number | undefined } {
  const lineOf = format === "name_status" ? statusLine : fileLine;
  const left = files.slice(skip).map((file) => clip(lineOf(file), 2_000));
  const count = fitting(left, remaining, ({ length }) => length + 1);
  const next = count < left.length ? skip + count : undefined;
  return { text: left.slice(0, count).join("\n"), next };
}

function statusLine({ path, from, letter }: FileChange): string {
  return `${letter} ${from === undefined ? "" : `${oneLine(from)} => `}${oneLine(path)}`;
}

/** The last line of a diff: its size, what is missing, and how to get that. */
export function diffFacts(
  files: readonly FileChange[],
  rest: {
    cursor: string | undefined;
    note?: string | undefined;
    locked?: readonly string[];
    leftOut?: readonly string[];
    cutLines?: number;
  },
): string {
  const { cursor, locked = [], leftOut = [], cutLines = 0 } = rest;
  const parts = [totalOf(files)];
  if (leftOut.length > 0) parts.push(`not shown yet: ${someOf(leftOut)}`);
  if (locked.length > 0) parts.push(`lock files omitted unless named in paths: ${someOf(locked)}`);
  if (cutLines > 0) parts.push(`${counted(cutLines, "very long line")} cut`);
  if (cursor !== undefined) parts.push(`continue with cursor "${cursor}" or narrow with paths`);
  if (rest.note !== undefined) parts.push(rest.note.replace(/\.$/, ""));
  return `(${parts.join("; ")})`;
}

function someOf(paths: readonly string[]): string {
  const names = paths.slice(0, 5).map((name) => oneLine(clip(name, 60)));
  const others = paths.length - names.length;
  return `${names.join(", ")}${others > 0 ? ` and ${counted(others, "more file")}` : ""}`;
}
