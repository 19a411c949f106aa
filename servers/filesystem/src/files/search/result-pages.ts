import { join, sep } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { cursorsOf, grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import { partAt } from "@refmcp/documents/kinds";
import * as z from "zod";
import { counted } from "../messages.ts";
import { orRefused } from "../open-path.ts";
import type { Documents } from "../read/documents.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { extractInParts } from "./extract-in-parts.ts";
import type { FoundLine } from "./line-extract.ts";
import type { TextPattern } from "./text-pattern.ts";

interface FoundFile {
  path: string;
  /** The number of matching lines; only in mode `counts`. */
  lines?: number;
  matches?: FoundLine[];
}

export interface PageRequest {
  /** Whether to return lines, only their matched texts, files, or the number of lines per file. */
  readonly mode: "content" | "matches" | "files" | "counts";
  /** How many lines to show before and after each. */
  readonly context: number;
  /** Lines in the modes `content` and `matches`, files in the others. */
  readonly limit: number;
  readonly budget: number;
  readonly cursor?: string | undefined;
}

/** The searched directory or file: its real path, and the one given by the caller. */
interface PagePlace {
  readonly guard: PathGuard;
  readonly pool: ThreadPool;
  readonly documents: Documents;
  readonly realPath: string;
  readonly path: string;
}

export interface TextPage {
  files: FoundFile[];
  next_cursor?: string;
}

/** The last line that was shown; `DONE` if the whole file was. */
type TextPosition = readonly [path: string, line: number];
export const DONE = Number.MAX_SAFE_INTEGER;
const position = z.tuple([z.string(), z.number()]);

const WIDTH = 300;
const AHEAD = 8;
/** Characters of an answer reserved for text other than its files and cursor. */
const FRAME = 1_000;

/** The matches in a file: the number of lines, those to show, and whether more lines match after those. */
interface Read {
  readonly lines: number;
  readonly matches: readonly FoundLine[];
  readonly more: boolean;
}

/**
 * Reads the content of a page. Each file is opened through the guard and searched again, and only lines that match then
 * are shown.
 *
 * @param query everything that determines the results, for the cursor.
 * @returns `after`: the position after which the page begins.
 * @throws ToolError `invalid` for a cursor of another search.
 */
export function textPages(
  { guard, pool, documents, realPath, path: base }: PagePlace,
  { mode, context: asked, limit, budget, cursor }: PageRequest,
  pattern: TextPattern,
  query: unknown,
  signal: AbortSignal,
) {
  const cursors = cursorsOf("search_text", [realPath, mode, pattern, query], position);
  const after: TextPosition | undefined = cursors.decode(cursor);
  const shownFrom = guard.allowed.directories()[0]?.path ?? "";
  const showsLines = mode === "content" || mode === "matches";
  const context = mode === "content" ? asked : 0;
  let total = 0;

  /** Undefined if the file is gone, was replaced with a link, or cannot be read. */
  async function read(path: string, left: number): Promise<Read | undefined> {
    const expected = join(realPath, path);
    const extract = {
      from: after?.[0] === path ? after[1] + 1 : 1,
      limit: showsLines ? left : mode === "files" ? 1 : 0,
      context,
      // The matches of one line always fit into an answer.
      width: mode === "matches" ? Math.max(WIDTH, Math.floor(budget / 4)) : WIDTH,
      matchesOnly: mode === "matches",
      total: mode === "counts" || (path === "" && after === undefined),
    };
    const file = await guard.openFile(expected).catch(orRefused);
    try {
      if (file?.realPath !== expected) return undefined;
      const document = await documents.textOf(file, { signal }).catch((error: unknown) => {
        // Of several files, the search reports those that cannot be read.
        if (path === "" || !(error instanceof ToolError) || signal.aborted) throw error;
        return null;
      });
      if (document === null) return undefined;
      const { bytes, marks, parts = [] } = document ?? {};
      const from = bytes === undefined || marks === undefined ? file.handle.fd : { bytes, marks };
      const work = { pattern, from, path: expected, extract };
      const size = document === undefined ? file.stat.size : 0;
      const { lines, more, total: all } = await extractInParts(pool, work, size, signal);
      const matches = lines.map((line) => {
        const part = partAt(parts, line.line);
        return part === undefined ? line : { ...line, part };
      });
      total += all;
      return { lines: mode === "counts" ? all : matches.length, matches, more };
    } finally {
      await file?.handle.close();
    }
  }

  /**
   * @param paths of candidates in order, below the directory; "" is the file itself.
   * @param more whether there are more candidates after them.
   */
  async function show(paths: readonly string[], more: boolean): Promise<TextPage> {
    const files: FoundFile[] = [];
    /** The number of lines or files that the limit still allows. */
    let left = limit;
    // The cursor contains a path as well, in a longer form.
    let chars = budget - FRAME - 2 * paths.reduce((max, path) => Math.max(max, path.length), 0);
    let lastShown: string | undefined;
    const upTo = (next: TextPosition | undefined): TextPage =>
      next === undefined ? { files } : { files, next_cursor: cursors.encode([...next]) };

    /** When the page is full, returns where the next one begins, if there is one. `last`: no candidate follows. */
    function add(path: string, { lines, matches, more }: Read, last: boolean) {
      const full = {
        next: lastShown === undefined ? undefined : ([lastShown, DONE] as TextPosition),
      };
      const file: FoundFile = { path: path === "" ? base : join(base, path) };
      if (mode === "counts") file.lines = lines;
      let cost = heading(file, shownFrom).length;
      const isFirst = files.length === 0;
      const shown: FoundLine[] = [];
      if (showsLines) {
        for (const match of matches.slice(0, left)) {
          // With context, a line of two hyphens may precede it.
          const matchCost = linesOf([match], context).length + (context > 0 ? 4 : 1);
          if (cost + matchCost > chars && (!isFirst || shown.length > 0)) break;
          cost += matchCost;
          shown.push(match);
        }
        if (shown.length === 0) return full;
        file.matches = shown;
      } else if (cost > chars && !isFirst) return full;
      files.push(file);
      lastShown = path;
      chars -= cost;
      left -= showsLines ? shown.length : 1;
      const end: TextPosition = [path, shown.at(-1)?.line ?? DONE];
      if (showsLines && (shown.length < matches.length || more)) return { next: end };
      return left === 0 ? { next: last ? undefined : end } : undefined;
    }

    for (let at = 0; at < paths.length; at += AHEAD) {
      const ahead = paths.slice(at, at + AHEAD);
      const found = await Promise.all(ahead.map((path) => read(path, left)));
      for (const [index, path] of ahead.entries()) {
        const one = found[index];
        if (one === undefined || one.lines === 0) continue;
        const stop = add(path, one, at + index === paths.length - 1 && !more);
        if (stop !== undefined) return upTo(stop.next);
      }
    }
    const last = paths.at(-1);
    return upTo(more && last !== undefined ? [last, DONE] : undefined);
  }

  return {
    after,
    show,
    /** The number of matching lines in a single file that was read completely. */
    get total() {
      return total;
    },
  };
}

export interface TextFound extends TextPage {
  /** Over all pages; absent on later pages. */
  total_files?: number;
  total_lines?: number;
  notes?: string[];
}

/**
 * Search results in the form of `rg --heading -n`: a file's path, then its matching lines as `12:text`, context lines
 * as `11-text`, and `--` where lines are omitted; in mode `matches` one line for each match. In mode `counts`, the number of lines precedes the path.
 * The last line, in square brackets, is the server's own; since each line of a file begins with its number, no file can
 * imitate it.
 *
 * @param base the directory that relative paths start from; paths below it are shortened.
 */
export function searchAnswer(found: TextFound, context: number, base = ""): string {
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
function heading({ path, lines }: FoundFile, base: string): string {
  const start = below(base);
  const name = oneLine(path.startsWith(start) ? relativeName(path.slice(start.length)) : path);
  return lines === undefined ? `${name}\n` : `${grouped(lines)} ${name}\n`;
}

/** Adds `./` to a name that could be mistaken for a numbered line, a line of the server or the home directory. */
function relativeName(path: string): string {
  return /^[\d[~-]/.test(path) ? `.${sep}${path}` : path;
}

function linesOf(matches: readonly FoundLine[], context: number): string {
  const shown: string[] = [];
  let last: number | undefined;
  for (const { line, text, found, column, part, before = [], after = [] } of matches) {
    const from = line - before.length;
    if (context > 0 && last !== undefined && from > last + 1) shown.push("--");
    const [first = "", ...others] = text.split("\n");
    const count =
      found === undefined ? "" : `first ${grouped(others.length + 1)} of ${grouped(found)} matches`;
    const place = [part ?? "", column === undefined ? "" : `column ${column}`, count].filter(
      (one) => one !== "",
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
