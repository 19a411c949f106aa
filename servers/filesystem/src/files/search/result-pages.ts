import { join } from "node:path";
import { cursorsOf } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";
import * as z from "zod";
import { orRefused } from "../open-path.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import type { FoundLine } from "./line-extract.ts";
import type { TextPattern } from "./text-pattern.ts";

export interface FoundFile {
  /** Absolute. */
  path: string;
  /** How many lines match; only in mode `counts`. */
  lines?: number;
  /** Only in mode `content`. */
  matches?: FoundLine[];
}

/** The parameters of a page. */
export interface PageRequest {
  /** Lines, the files that hold any, or how many each holds. */
  readonly mode: "content" | "files" | "counts";
  /** How many lines to show before and after each. */
  readonly context: number;
  /** Lines in mode `content`, files in the other modes. */
  readonly limit: number;
  /** How many characters the answer may have. */
  readonly budget: number;
  readonly cursor?: string | undefined;
}

/** Where the files are. */
export interface PagePlace {
  readonly guard: PathGuard;
  readonly pool: ThreadPool;
  /** The directory that is searched, or the file. */
  readonly realPath: string;
  /** The same as named by the caller. */
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

/** The longest text of a line, in characters. */
const WIDTH = 300;
/** Files that are read ahead. */
const AHEAD = 8;
/** Characters of an answer besides its files and cursor. */
const FRAME = 1_000;

/** What was found in a file: the number of lines, and those to show. */
interface Read {
  readonly lines: number;
  readonly matches: readonly FoundLine[];
  /** Whether more lines match after those. */
  readonly more: boolean;
}

/**
 * Reads what a page shows. Each file is opened through the guard and searched again, whatever found it; only what
 * matches then is shown.
 *
 * @param query everything that determines the results, for the cursor.
 * @returns `after`: where the page begins.
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
    /** How many more lines or files the limit allows. */
    let left = request.limit;
    // The cursor contains a path as well, in a longer form.
    let chars = request.budget - FRAME - 2 * paths.reduce((max, path) => Math.max(max, path.length), 0);
    let lastShown: string | undefined;
    const upTo = (next: TextPosition | undefined): TextPage =>
      next === undefined ? { files } : { files, next_cursor: cursors.encode([...next]) };

    /** Returns where the next page begins, if at all, when this one is full. `last`: no candidate follows. */
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
    /** How many lines match in a single file that was read whole. */
    get total() {
      return total;
    },
  };
}
