import { createHash, randomBytes } from "node:crypto";
import { cursorsOf, ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { answerText, roomForRows } from "./answer.ts";
import type { Column } from "./cells.ts";
import { type Format, ROW_COST } from "./formats.ts";

/** Characters that are read ahead for a first page: a dozen pages, and no load on a database that nobody pages through. */
const FIRST_AHEAD = 262_144;
/** How long is read ahead beyond the rows of the page, in milliseconds: a slow statement is not run to its end for nothing. */
const FIRST_AHEAD_MS = 250;
const NEXT_AHEAD_MS = 2_000;
/** A result that nobody asks for is forgotten after this time; it holds memory only. */
const KEPT_MS = 300_000;

/** Consecutive rows of a result, written as they will be in an answer. */
export interface ResultWindow {
  readonly columns: readonly Column[];
  /** One text for each row, by `rowWriter`. */
  readonly pieces: readonly string[];
  /** Positions of rows in which a value was cut. */
  readonly cuts: ReadonlySet<number>;
  /** The row before the first one; undefined at the beginning of a result or where there is none. */
  readonly before?: string | undefined;
  /** Whether the result has rows after these. */
  readonly more: boolean;
  readonly notices?: readonly string[];
}

/** What is to be read of a result. */
export interface Ahead {
  /** Rows before the window; the last of them comes back as `before`. */
  readonly skip: number;
  /** Stop after this many characters, each row counted with `ROW_COST` more. */
  readonly chars: number;
  /** Rows that are wanted in any case, and one to know whether there are more. */
  readonly rows: number;
  /** With that many rows, stop after this many milliseconds. */
  readonly ms: number;
}

export interface PageRequest {
  /** The tool's name, which its cursors belong to. */
  readonly list: string;
  /** Everything that decides what the result is and how it is written. */
  readonly query: unknown;
  readonly cursor: string | undefined;
  readonly format: Format;
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Characters of the answer. */
  readonly budget: number;
  /** Reads a window and lets go of the database before it resolves. */
  read(ahead: Ahead): Promise<ResultWindow>;
}

interface Kept {
  readonly window: ResultWindow;
  /** Of the window's first row in the result. */
  readonly start: number;
  readonly chars: number;
  readonly timer: NodeJS.Timeout;
}

/** Position of the next row, a mark of the row before it, and the kept result. */
const state = z.tuple([z.int().min(1), z.string(), z.string()]);

/**
 * Serves results in pages. A window of rows is read ahead and kept in memory as text, so that no lock, snapshot or
 * connection outlives an answer and a page costs neither a statement nor encoding. Where the window ends or was dropped (time,
 * memory, a restart), the statement runs again from that place, and the row before it must be the same: otherwise it is a
 * `conflict`, so that no row is repeated or left out.
 */
export class ResultStore {
  readonly #maxChars: number;
  readonly #kept = new Map<string, Kept>();
  #chars = 0;

  /** @param maxChars of all kept results together. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /**
   * The page of a cursor, or the first one, as the JSON text of `queryOutput`.
   *
   * @throws ToolError `invalid` for a cursor of another call, `conflict` where the result changed, and what `read` throws.
   */
  async page(request: PageRequest): Promise<string> {
    const started = performance.now();
    const { list, query, cursor, format, maxRows, maxBytes, budget } = request;
    const cursors = () => cursorsOf(list, query, state);
    const [offset, mark, id] = (cursor === undefined ? undefined : cursors().decode(cursor)) ?? [0, "", ""];
    const kept = this.#kept.get(id);
    const at = kept === undefined ? -1 : offset - kept.start;
    const { window, start } =
      kept !== undefined && at >= 0 && at < kept.window.pieces.length
        ? kept
        : await this.#read(request, offset, mark);
    const { columns, pieces, cuts } = window;
    const first = offset - start;
    let room = Math.min(roomForRows(columns, budget), maxBytes);
    let end = first;
    let isCut = false;
    // One row of any size is given, so that paging moves on.
    for (; end < pieces.length && end - first < maxRows; end++) {
      room -= (pieces[end]?.length ?? 0) + 1;
      if (room < 0 && end > first) break;
      isCut ||= cuts.has(end);
    }
    const isMore = end < pieces.length || window.more;
    const last = pieces[end - 1];
    let nextCursor: string | undefined;
    if (isMore && last !== undefined) {
      const name = kept?.window === window ? id : this.#keep(window, start);
      this.#refresh(name);
      nextCursor = cursors().encode([start + end, markOf(last), name]);
    }
    return answerText({
      columns,
      pieces: pieces.slice(first, end),
      format,
      stopped: isMore ? (end - first >= maxRows ? "rows" : "bytes") : undefined,
      cut: isCut,
      nextCursor,
      elapsedMs: performance.now() - started,
      notices: offset === 0 ? (window.notices ?? []) : [],
    });
  }

  async #read(
    { read, budget, maxBytes, maxRows }: PageRequest,
    offset: number,
    mark: string,
  ): Promise<Pick<Kept, "window" | "start">> {
    const ahead = Math.max(FIRST_AHEAD, Math.min(budget, maxBytes) + maxRows * ROW_COST);
    const isFirst = offset === 0;
    const window = await read({
      skip: offset,
      chars: isFirst ? ahead : Math.max(ahead, this.#maxChars),
      rows: maxRows + 1,
      ms: isFirst ? FIRST_AHEAD_MS : NEXT_AHEAD_MS,
    });
    if (offset > 0 && (window.before === undefined || markOf(window.before) !== mark))
      throw new ToolError(
        "conflict",
        "The rows before this cursor have changed, so the next page can't be determined.",
        { hint: "Leave cursor out to start again; ORDER BY a unique key keeps the order of a result." },
      );
    return { window, start: offset };
  }

  #keep(window: ResultWindow, start: number): string {
    const id = randomBytes(9).toString("base64url");
    const chars = window.pieces.reduce((sum, piece) => sum + piece.length + ROW_COST, 0);
    const timer = setTimeout(() => this.#forget(id), KEPT_MS).unref();
    this.#kept.set(id, { window, start, chars, timer });
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= this.#maxChars || oldest === id) break;
      this.#forget(oldest);
    }
    return id;
  }

  /** Makes it the one that was used last. */
  #refresh(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    kept.timer.refresh();
    this.#kept.delete(id);
    this.#kept.set(id, kept);
  }

  #forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    clearTimeout(kept.timer);
    this.#kept.delete(id);
    this.#chars -= kept.chars;
  }

  /** Forgets everything. */
  clear(): void {
    for (const id of [...this.#kept.keys()]) this.#forget(id);
  }
}

function markOf(piece: string): string {
  return createHash("sha256").update(piece).digest("base64url").slice(0, 16);
}
