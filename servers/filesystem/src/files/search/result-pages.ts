import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { orRefused } from "../open-path.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import type { FoundLine } from "./line-extract.ts";
import type { TextPattern } from "./text-pattern.ts";

export interface FoundFile {
  /** Absolute. */
  path: string;
  /** The number of matching lines; only in mode `counts`. */
  lines?: number;
  /** Only in mode `content`. */
  matches?: FoundLine[];
}

/** The parameters of a page. */
export interface PageRequest {
  /** Whether to return lines, files, or the number of lines per file. */
  readonly mode: "content" | "files" | "counts";
  /** How many lines to show before and after each. */
  readonly context: number;
  /** Lines in mode `content`, files in the other modes. */
  readonly limit: number;
  /** Maximum characters of the answer. */
  readonly budget: number;
  readonly cursor?: string | undefined;
}

/** The searched files. */
export interface PagePlace {
  readonly guard: PathGuard;
  readonly pool: ThreadPool;
  /** The searched directory or file. */
  readonly realPath: string;
  /** The same path as given by the caller. */
  readonly path: string;
}

export interface TextPage {
  files: FoundFile[];
  next_cursor?: string;
}

/** The last line that was shown; `DONE` if the whole file was. */
export type TextPosition = readonly [path: string, line: number];
export const DONE = Number.MAX_SAFE_INTEGER;
const position = z.tuple([z.string(), z.number()]);

/** Maximum characters of a line. */
const WIDTH = 300;
/** How many files are read ahead. */
const AHEAD = 8;
/** Characters of an answer reserved for text other than its files and cursor. */
const FRAME = 1_000;

/** The matches in a file: the number of lines, and those to show. */
interface Read {
  readonly lines: number;
  readonly matches: readonly FoundLine[];
  /** Whether more lines match after those. */
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
  { guard, pool, realPath, path: base }: PagePlace,
  request: PageRequest,
  pattern: TextPattern,
  query: unknown,
  signal: AbortSignal,
) {
  const { mode } = request;
  const cursors = cursorsOf("search_text", [realPath, mode, pattern, query], position);
  const after: TextPosition | undefined = cursors.decode(request.cursor);
  let total = 0;

  /** Undefined if the file is gone, was replaced with a link, or cannot be read. */
  async function read(path: string, limit: number): Promise<Read | undefined> {
    const expected = join(realPath, path);
    const extract = {
      from: after?.[0] === path ? after[1] + 1 : 1,
      limit: mode === "content" ? limit : mode === "files" ? 1 : 0,
      context: mode === "content" ? request.context : 0,
      width: WIDTH,
      total: mode === "counts" || (path === "" && after === undefined),
    };
    const file = await guard.openFile(expected).catch(orRefused);
    try {
      if (file?.realPath !== expected) return undefined;
      const work = { pattern, fd: file.handle.fd, path: expected, extract };
      const found = await pool.run("extract", work, signal);
      total += found.total;
      return { ...found, lines: mode === "counts" ? found.total : found.lines.length, matches: found.lines };
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
    let left = request.limit;
    // The cursor contains a path as well, in a longer form.
    let chars = request.budget - FRAME - 2 * paths.reduce((max, path) => Math.max(max, path.length), 0);
    let lastShown: string | undefined;
    const upTo = (next: TextPosition | undefined): TextPage =>
      next === undefined ? { files } : { files, next_cursor: cursors.encode([...next]) };

    /** When the page is full, returns where the next one begins, if there is one. `last`: no candidate follows. */
    function add(
      path: string,
      { lines, matches, more }: Read,
      last: boolean,
    ): { next: TextPosition | undefined } | undefined {
      const before: TextPosition | undefined = lastShown === undefined ? undefined : [lastShown, DONE];
      const file: FoundFile = { path: path === "" ? base : join(base, path) };
      if (mode === "counts") file.lines = lines;
      let cost = JSON.stringify(file).length + 16;
      const isFirst = files.length === 0;
      const shown: FoundLine[] = [];
      if (mode === "content") {
        for (const match of matches.slice(0, left)) {
          const matchCost = JSON.stringify(match).length + 1;
          if (cost + matchCost > chars && (!isFirst || shown.length > 0)) break;
          cost += matchCost;
          shown.push(match);
        }
        if (shown.length === 0) return { next: before };
        file.matches = shown;
      } else if (cost > chars && !isFirst) return { next: before };
      files.push(file);
      lastShown = path;
      chars -= cost;
      left -= mode === "content" ? shown.length : 1;
      const end: TextPosition = [path, shown.at(-1)?.line ?? DONE];
      if (mode === "content" && (shown.length < matches.length || more)) return { next: end };
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
