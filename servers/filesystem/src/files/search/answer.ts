import { join, sep } from "node:path";
import { digits, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import type { Files } from "../files.ts";
import { comparePaths } from "../tree/path-order.ts";
import type { MatchedLine } from "./match-lines.ts";

/** The names of documents that were not searched are shown up to this many. */
const MAX_NAMED = 5;
/** Characters of an answer reserved for text other than its files and cursor. */
const FRAME = 1_000;

/** A file with matching lines. */
export interface FoundFile {
  /** Below the searched directory; "" is the searched file itself. */
  readonly path: string;
  /** The first lines; fewer than `total` if they are not all needed. */
  readonly lines: readonly MatchedLine[];
  readonly total: number;
}

interface ShownFile {
  path: string;
  /** The number of matching lines; only in mode `counts`. */
  lines?: number;
  matches?: MatchedLine[];
}

interface SearchPage {
  files: ShownFile[];
  next_cursor?: string;
}

export interface TextMatches extends SearchPage {
  /** Over all pages; absent on later pages. */
  total_files?: number;
  total_lines?: number;
  notes?: string[];
}

/** The last line that was shown, if the whole file was. */
export const DONE = Number.MAX_SAFE_INTEGER;

/**
 * As many of the found files, and their lines, as fit into an answer.
 *
 * @param hits in order
 * @param more whether there are files after these
 */
export function pageOf(
  hits: readonly FoundFile[],
  request: {
    readonly mode: "content" | "files" | "counts";
    readonly context: number;
    readonly limit: number;
    readonly budget: number;
    readonly base: string;
    readonly files: Files;
  },
  cursorAt: (path: string, line: number) => string,
  more = false,
): SearchPage {
  const { mode, context, limit, budget, base } = request;
  const isContent = mode === "content";
  const shownFrom = request.files.guard.allowed.directories()[0]?.path ?? "";
  const files: ShownFile[] = [];
  let remaining = limit;
  // The cursor contains a path as well, in a longer form.
  let chars = budget - FRAME - 2 * hits.reduce((max, { path }) => Math.max(max, path.length), 0);
  let last: [path: string, line: number] = ["", 0];
  const upTo = (): SearchPage => ({ files, next_cursor: cursorAt(...last) });
  for (const { path, lines, total } of hits) {
    if (remaining <= 0) return upTo();
    const file: ShownFile = { path: path === "" ? base : join(base, path) };
    if (mode === "counts") file.lines = total;
    chars -= heading(file, shownFrom).length;
    if (chars < 0 && files.length > 0) return upTo();
    const visible: MatchedLine[] = [];
    for (const line of isContent ? lines.slice(0, remaining) : []) {
      // With context, a line of two hyphens may precede it.
      chars -= linesOf([line], context).length + (context > 0 ? 4 : 1);
      if (chars < 0 && (files.length > 0 || visible.length > 0)) break;
      visible.push(line);
    }
    if (isContent && visible.length === 0 && lines.length > 0) return upTo();
    if (isContent && lines.length === 0) continue;
    files.push(isContent ? { ...file, matches: visible } : file);
    remaining -= isContent ? visible.length : 1;
    last = [path, isContent && visible.length < lines.length ? (visible.at(-1)?.line ?? 0) : DONE];
    if (last[1] !== DONE) return upTo();
  }
  return more ? upTo() : { files };
}

/** What a search left out: numbers of entries, and paths of documents. */
interface Unsearched {
  links: number;
  archives: number;
  binary: number;
  ignored: number;
  /** Files and directories that the system refused to open. */
  unreadable: number;
  readonly unread: string[];
  readonly later: string[];
}

export const nothingLeftOut = (): Unsearched => {
  return { links: 0, archives: 0, binary: 0, ignored: 0, unreadable: 0, unread: [], later: [] };
};

/** What was not searched. If nothing was found, it may be there. */
export function notesOf(unsearched: Unsearched, isEmpty: boolean): { notes?: string[] } {
  const { links, archives, binary, ignored, unreadable, unread, later } = unsearched;
  const all = [
    isEmpty &&
      ignored > 0 &&
      `${counted(ignored, "ignored entry was", "ignored entries were")} not searched; include_ignored=true includes them.`,
    isEmpty &&
      binary > 0 &&
      `${counted(binary, "binary file was", "binary files were")} not searched.`,
    isEmpty &&
      archives > 0 &&
      `Of ${counted(archives, "archive")} only the names of the entries were searched.`,
    links > 0 &&
      `${counted(links, "symlink was", "symlinks were")} not followed; give one as path to search its target.`,
    unreadable > 0 &&
      `${counted(unreadable, "file or directory", "files or directories")} could not be opened.`,
    unread.length > 0 && listOf(unread, "could not be read; read_text_file says why"),
    later.length > 0 && listOf(later, "not searched yet; repeat the call to continue"),
  ];
  const notes = all.filter((note) => note !== false);
  return notes.length > 0 ? { notes } : {};
}

function listOf(paths: readonly string[], why: string): string {
  const names = [...paths].sort(comparePaths).slice(0, MAX_NAMED).map(oneLine).join(", ");
  const more = paths.length > MAX_NAMED ? ", …" : "";
  return `${counted(paths.length, "document")} ${why}: ${names}${more}.`;
}

/**
 * Search results in the form of `rg --heading -n`: a file's path, then its matching lines as `12:text`, context lines
 * as `11-text`, and `--` where lines are omitted. In mode `counts`, the number of lines precedes the path. The last
 * line, in square brackets, is the server's own; since each line of a file begins with its number, no file can imitate
 * it.
 *
 * @param base the directory that relative paths start from; paths below it are shortened
 */
export function searchAnswer(result: TextMatches, context: number, base = ""): string {
  const { files, total_files, total_lines, next_cursor, notes = [] } = result;
  const parts = files.map((file) => {
    const { matches } = file;
    return heading(file, base) + (matches === undefined ? "" : `${linesOf(matches, context)}\n`);
  });
  const facts: string[] = [];
  if (total_lines !== undefined && total_files !== undefined) {
    const count = files.reduce((sum, { matches = [] }) => sum + matches.length, 0);
    const isPart = next_cursor !== undefined;
    // In the other modes no lines are shown.
    const ofLines = isPart && count > 0 ? `${digits(count)} of ` : "";
    const ofFiles = isPart && files.length < total_files ? `${digits(files.length)} of ` : "";
    facts.push(
      count > 0 || !isPart
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
  const name = path.startsWith(start) ? path.slice(start.length) : path;
  // Some names could be mistaken for a numbered line, a line of the server or the home directory.
  const plain = oneLine(/^[\d[~-]/.test(name) ? `.${sep}${name}` : name);
  return lines === undefined ? `${plain}\n` : `${digits(lines)} ${plain}\n`;
}

function linesOf(matches: readonly MatchedLine[], context: number): string {
  const blocks: string[] = [];
  let last: number | undefined;
  for (const { line, text, column, part, before = [], after = [] } of matches) {
    const from = line - before.length;
    if (context > 0 && last !== undefined && from > last + 1) blocks.push("--");
    const place = [part ?? "", column === undefined ? "" : `column ${column}`]
      .filter((fact) => fact !== "")
      .join(", ");
    blocks.push(
      ...before.map((text, index) => `${from + index}-${text}`),
      `${line}${place === "" ? "" : ` (${place})`}:${text}`,
      ...after.map((text, index) => `${line + 1 + index}-${text}`),
    );
    last = line + after.length;
  }
  return blocks.join("\n");
}
