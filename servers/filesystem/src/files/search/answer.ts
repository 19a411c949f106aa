import { join, sep } from "node:path";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import type { Files } from "../files.ts";
import { comparePaths } from "../tree/path-order.ts";
import type { MatchedLine } from "./match-lines.ts";
import {
  DONE,
  type FoundFile,
  type SearchPage,
  type ShownFile,
  type TextMatches,
  type TextSearch,
} from "./text-search.ts";

/** The names of documents that were not searched are shown up to this many. */
const MAX_NAMED = 5;
/** Characters of an answer reserved for text other than its files and cursor. */
const FRAME = 1_000;

/**
 * As many of the found files, and their lines, as fit into an answer.
 *
 * @param found in order
 * @param more whether there are files after these
 */
export function pageOf(
  found: readonly FoundFile[],
  request: Pick<TextSearch, "mode" | "context" | "limit" | "budget"> & {
    base: string;
    files: Files;
  },
  cursorAt: (path: string, line: number) => string,
  more = false,
): SearchPage {
  const { mode, context: asked, limit, budget, base } = request;
  const showsLines = mode === "content" || mode === "matches";
  const context = mode === "content" ? asked : 0;
  const shownFrom = request.files.guard.allowed.directories()[0]?.path ?? "";
  const files: ShownFile[] = [];
  let left = limit;
  // The cursor contains a path as well, in a longer form.
  let chars = budget - FRAME - 2 * found.reduce((max, { path }) => Math.max(max, path.length), 0);
  let last: [path: string, line: number] | undefined;
  const upTo = (): SearchPage =>
    last === undefined ? { files } : { files, next_cursor: cursorAt(...last) };
  for (const { path, lines, total } of found) {
    if (left === 0) return upTo();
    const file: ShownFile = { path: path === "" ? base : join(base, path) };
    if (mode === "counts") file.lines = total;
    let cost = heading(file, shownFrom).length;
    const shown: MatchedLine[] = [];
    for (const line of showsLines ? lines.slice(0, left) : []) {
      // With context, a line of two hyphens may precede it.
      const lineCost = linesOf([line], context).length + (context > 0 ? 4 : 1);
      if (cost + lineCost > chars && (files.length > 0 || shown.length > 0)) break;
      cost += lineCost;
      shown.push(line);
    }
    const isFull = showsLines ? lines.length > 0 && shown.length === 0 : cost > chars;
    if (isFull && files.length > 0) return upTo();
    if (showsLines && lines.length === 0) continue;
    if (showsLines) file.matches = shown;
    files.push(file);
    chars -= cost;
    left -= showsLines ? shown.length : 1;
    last = [path, shown.at(-1)?.line ?? DONE];
    if (showsLines && shown.length < lines.length) return upTo();
    if (showsLines) last = [path, DONE];
  }
  return more ? upTo() : { files };
}

/** A note about documents that were not searched. */
export function listOf(paths: readonly string[], why: string): string {
  const shown = [...paths].sort(comparePaths).slice(0, MAX_NAMED).map(oneLine).join(", ");
  const more = paths.length > MAX_NAMED ? ", …" : "";
  return `${counted(paths.length, "document")} ${why}: ${shown}${more}.`;
}

/**
 * Search results in the form of `rg --heading -n`: a file's path, then its matching lines as `12:text`, context lines
 * as `11-text`, and `--` where lines are omitted; in mode `matches` one line for each match. In mode `counts`, the
 * number of lines precedes the path. The last line, in square brackets, is the server's own; since each line of a file
 * begins with its number, no file can imitate it.
 *
 * @param base the directory that relative paths start from; paths below it are shortened
 */
export function searchAnswer(found: TextMatches, context: number, base = ""): string {
  const { files, total_files, total_lines, next_cursor, notes = [] } = found;
  const parts = files.map((file) => {
    const { matches } = file;
    return heading(file, base) + (matches === undefined ? "" : `${linesOf(matches, context)}\n`);
  });
  const facts: string[] = [];
  if (total_lines !== undefined && total_files !== undefined) {
    const shown = files.reduce((sum, { matches = [] }) => sum + matches.length, 0);
    const isPart = next_cursor !== undefined;
    // In the other modes no lines are shown.
    const ofLines = isPart && shown > 0 ? `${grouped(shown)} of ` : "";
    const ofFiles = isPart && files.length < total_files ? `${grouped(files.length)} of ` : "";
    facts.push(
      shown > 0 || !isPart
        ? `${ofLines}${counted(total_lines, "line")} in ${ofFiles}${counted(total_files, "file")}.`
        : `${ofFiles}${counted(total_files, "file")}; ${counted(total_lines, "line")} in all.`,
    );
  }
  if (next_cursor !== undefined) facts.push(`Continue with cursor="${next_cursor}".`);
  else if (facts.length === 0) facts.push("The end.");
  const isShort = base !== "" && files.some(({ path }) => path.startsWith(below(base)));
  facts.push(...notes, ...(isShort ? [`Paths are relative to ${oneLine(base)}.`] : []));
  return `${parts.join("")}[${facts.join(" ")}]`;
}

const below = (base: string) => (base.endsWith(sep) ? base : base + sep);

/** The line of a file, above its matching lines. */
function heading({ path, lines }: ShownFile, base: string): string {
  const start = below(base);
  const name = oneLine(path.startsWith(start) ? relativeName(path.slice(start.length)) : path);
  return lines === undefined ? `${name}\n` : `${grouped(lines)} ${name}\n`;
}

/** Adds `./` to a name that could be mistaken for a numbered line, a line of the server or the home directory. */
function relativeName(path: string): string {
  return /^[\d[~-]/.test(path) ? `.${sep}${path}` : path;
}

function linesOf(matches: readonly MatchedLine[], context: number): string {
  const shown: string[] = [];
  let last: number | undefined;
  for (const { line, text, found, column, part, before = [], after = [] } of matches) {
    const from = line - before.length;
    if (context > 0 && last !== undefined && from > last + 1) shown.push("--");
    const [first = "", ...others] = text.split("\n");
    const count =
      found === undefined ? "" : `first ${grouped(others.length + 1)} of ${grouped(found)} matches`;
    const place = [part ?? "", column === undefined ? "" : `column ${column}`, count].filter(
      (fact) => fact !== "",
    );
    const at = place.length === 0 ? "" : ` (${place.join(", ")})`;
    shown.push(
      ...before.map((one, index) => `${from + index}-${one}`),
      `${line}${at}:${first}`,
      ...others.map((one) => `${line}:${one}`),
      ...after.map((one, index) => `${line + 1 + index}-${one}`),
    );
    last = line + after.length;
  }
  return shown.join("\n");
}
