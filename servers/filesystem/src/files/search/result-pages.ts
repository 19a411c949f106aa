import { join } from "node:path";
import { type CursorCodec, cursorsOf } from "@refmcp/core/answer";
import type { GuardedFile, PathGuard } from "@refmcp/core/boundary";
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

/**
 * Reads what a page shows. Each file is opened through the guard and searched again, whatever found it; only what
 * matches then is shown.
 */
export class TextPages {
  /** Where the page begins. */
  readonly after: TextPosition | undefined;
  /** How many lines match in a single file that was read whole. */
  total = 0;
  readonly #place: PagePlace;
  readonly #request: PageRequest;
  readonly #pattern: TextPattern;
  readonly #signal: AbortSignal;
  readonly #cursors: CursorCodec<[string, number]>;

  /**
   * @param query everything that determines the results, for the cursor.
   * @throws ToolError `invalid` for a cursor of another search.
   */
  constructor(
    place: PagePlace,
    request: PageRequest,
    pattern: TextPattern,
    query: unknown,
    signal: AbortSignal,
  ) {
    this.#place = place;
    this.#request = request;
    this.#pattern = pattern;
    this.#signal = signal;
    this.#cursors = cursorsOf("search_text", [place.realPath, request.mode, pattern, query], position);
    this.after = this.#cursors.decode(request.cursor);
  }

  /**
   * @param paths of candidates in order, below the directory; "" is the file itself.
   * @param more whether there are more candidates after them.
   */
  async show(paths: readonly string[], more: boolean): Promise<TextPage> {
    const page = new Page(this.#request, this.#place.path, paths);
    for (let at = 0; at < paths.length; at += AHEAD) {
      const ahead = paths.slice(at, at + AHEAD);
      const read = await Promise.all(ahead.map((path) => this.#read(path, page.left)));
      for (const [index, path] of ahead.entries()) {
        const last = at + index === paths.length - 1 && !more;
        const stop = page.add(path, read[index], last);
        if (stop !== undefined) return { files: page.files, ...this.#next(stop.next) };
      }
    }
    const last = paths.at(-1);
    return { files: page.files, ...this.#next(more && last !== undefined ? [last, DONE] : undefined) };
  }

  async #read(path: string, most: number): Promise<Read> {
    const { mode, context } = this.#request;
    const extract = await this.#withFile(path, ({ handle: { fd } }) =>
      this.#place.pool.run(
        "extract",
        {
          pattern: this.#pattern,
          fd,
          path: join(this.#place.realPath, path),
          extract: {
            from: this.after?.[0] === path ? this.after[1] + 1 : 1,
            most: mode === "content" ? most : mode === "files" ? 1 : 0,
            context: mode === "content" ? context : 0,
            width: WIDTH,
            total: mode === "counts" || (path === "" && this.after === undefined),
          },
        },
        this.#signal,
      ),
    );
    const { lines: matches, more, total } = extract ?? { lines: [], more: false, total: 0 };
    this.total += total;
    return { lines: mode === "counts" ? total : matches.length, matches, more };
  }

  /** Undefined if the file is gone, was replaced with a link, or cannot be read. */
  async #withFile<Value>(
    path: string,
    work: (file: GuardedFile) => Promise<Value>,
  ): Promise<Value | undefined> {
    const { guard, realPath } = this.#place;
    const expected = join(realPath, path);
    const file = await guard.openFile(expected).catch(orRefused);
    if (file === undefined) return undefined;
    try {
      return file.realPath === expected ? await work(file) : undefined;
    } finally {
      await file.handle.close();
    }
  }

  #next(next: TextPosition | undefined): { next_cursor?: string } {
    return next === undefined ? {} : { next_cursor: this.#cursors.encode([...next]) };
  }
}

/** What was found in a file: the number of lines, and those to show. */
interface Read {
  readonly lines: number;
  readonly matches: readonly FoundLine[];
  /** Whether more lines match after those. */
  readonly more: boolean;
}

/** A page that is being filled. */
class Page {
  readonly files: FoundFile[] = [];
  /** How many more lines or files the limit allows. */
  left: number;
  readonly #mode: PageRequest["mode"];
  readonly #base: string;
  #chars: number;
  /** The file that was shown last. */
  #last: string | undefined;

  constructor({ mode, limit, budget }: PageRequest, base: string, paths: readonly string[]) {
    this.#mode = mode;
    this.#base = base;
    this.left = limit;
    // The cursor contains a path as well, in a longer form.
    const longest = paths.reduce((most, path) => Math.max(most, path.length), 0);
    this.#chars = budget - FRAME - 2 * longest;
  }

  /**
   * @param last whether no candidate follows.
   * @returns where the next page begins, if at all, when this one is full.
   */
  add(path: string, read: Read | undefined, last: boolean): { next: TextPosition | undefined } | undefined {
    if (read === undefined || read.lines === 0) return undefined;
    const before: TextPosition | undefined = this.#last === undefined ? undefined : [this.#last, DONE];
    const file: FoundFile = { path: path === "" ? this.#base : join(this.#base, path) };
    if (this.#mode === "counts") file.lines = read.lines;
    const frame = JSON.stringify(file).length + 16;
    if (this.#mode !== "content") return this.#addFile(file, frame, path, before, last);

    const shown: FoundLine[] = [];
    let chars = frame;
    for (const match of read.matches.slice(0, this.left)) {
      const cost = JSON.stringify(match).length + 1;
      const first = this.files.length === 0 && shown.length === 0;
      if (chars + cost > this.#chars && !first) break;
      chars += cost;
      shown.push(match);
    }
    if (shown.length === 0) return { next: before };
    this.files.push({ ...file, matches: shown });
    this.#last = path;
    this.#chars -= chars;
    this.left -= shown.length;
    const line = shown.at(-1)?.line ?? 0;
    if (shown.length < read.matches.length || read.more) return { next: [path, line] };
    return this.left === 0 ? { next: last ? undefined : [path, line] } : undefined;
  }

  #addFile(
    file: FoundFile,
    chars: number,
    path: string,
    before: TextPosition | undefined,
    last: boolean,
  ): { next: TextPosition | undefined } | undefined {
    if (chars > this.#chars && this.files.length > 0) return { next: before };
    this.files.push(file);
    this.#last = path;
    this.#chars -= chars;
    this.left -= 1;
    return this.left === 0 ? { next: last ? undefined : [path, DONE] } : undefined;
  }
}
