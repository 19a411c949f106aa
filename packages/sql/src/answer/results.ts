import { createHash, randomBytes } from "node:crypto";
import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { rowCount } from "../change/loss.ts";
import type { Limits } from "../options.ts";
import { type Column, type Format, ROW_COST, rowsText } from "./formats.ts";

/** Characters read ahead with a first page: a dozen pages, so that a result that nobody pages through costs little. */
const FIRST_AHEAD = 262_144;
/** Time for reading ahead, in milliseconds: a slow statement is not run to its end for one page. */
const FIRST_AHEAD_MS = 250;
const NEXT_AHEAD_MS = 2_000;
/** Characters of counts and notices in an answer, in addition to columns and rows. */
const AROUND = 600;
/** An unused result is dropped after this time, in milliseconds; it takes only memory. */
const KEPT_MS = 300_000;

/** Consecutive rows of a result in their final form. */
export interface ResultWindow {
  readonly columns: readonly Column[];
  /** The text of each row, from `rowWriter`. */
  readonly pieces: readonly string[];
  /** Positions of rows with truncated values. */
  readonly cuts: ReadonlySet<number>;
  /** The row before the first one; undefined if there is none. */
  readonly before?: string | undefined;
  readonly more: boolean;
  readonly notices?: readonly string[];
}

/** Which part of a result to read. */
export interface Ahead {
  /** Rows to skip; the last one is returned as `before`. */
  readonly skip: number;
  /** Stop after this many characters, with `ROW_COST` for each row. */
  readonly chars: number;
  /** Rows of the page, and one to know whether more follow. */
  readonly rows: number;
  /** Once there are `rows` rows, stop after this many milliseconds. */
  readonly ms: number;
}

/** A statement with the values of its parameters. */
export interface Bound {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What a page of a result belongs to. */
export interface Question extends Bound {
  /** The name of the database. */
  readonly database: string;
  readonly cursor?: string | undefined;
  readonly format: Format;
  /** Characters of the answer. */
  readonly budget: number;
}

type PageLimits = Pick<Limits, "rows" | "bytes">;
type Read = (ahead: Ahead) => Promise<ResultWindow>;

interface Kept {
  readonly window: ResultWindow;
  /** The position of the window's first row in the result. */
  readonly start: number;
  readonly chars: number;
  readonly timer: NodeJS.Timeout;
}

/** The position of the next row, a digest of the row before it, and the id of the kept result. */
const state = z.tuple([z.int().min(1), z.string(), z.string()]);

/**
 * Serves results in pages. Rows are read ahead and kept in memory as text, so that no lock, snapshot or connection outlives
 * an answer, and a page costs neither a statement nor encoding. At the end of the window, or if it was dropped (by age, for
 * memory, at a restart), the statement runs again. The row before the cursor must then be the same, otherwise the call is a
 * `conflict`: no row is repeated or left out.
 */
export class ResultStore {
  readonly #maxChars: number;
  readonly #kept = new Map<string, Kept>();
  #chars = 0;

  /** @param maxChars limit for all kept results together */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /**
   * The page of a cursor, or the first one, as the JSON text of `queryOutput`.
   *
   * @param tool for its cursors
   * @param read reads a window, and releases the database before it resolves
   * @throws ToolError `invalid` for the cursor of another call, `conflict` if the result changed, and what `read` throws
   */
  async page(tool: string, question: Question, limits: PageLimits, read: Read): Promise<string> {
    const started = performance.now();
    const { sql, params, database, cursor, format, budget } = question;
    const cursors = () => cursorsOf(tool, [sql, params, database, format], state);
    const [offset, mark, id] = (cursor === undefined ? undefined : cursors().decode(cursor)) ?? [
      0,
      "",
      "",
    ];
    const kept = this.#kept.get(id);
    const at = kept === undefined ? -1 : offset - kept.start;
    const { window, start } =
      kept !== undefined && at >= 0 && at < kept.window.pieces.length
        ? kept
        : await this.#read(read, Math.min(budget, limits.bytes), limits.rows, offset, mark);
    const { columns, pieces, cuts } = window;
    const first = offset - start;
    let space = Math.min(
      Math.max(budget - AROUND - JSON.stringify(columns).length, 1),
      limits.bytes,
    );
    let end = first;
    let isCut = false;
    // At least one row, however large, so that paging advances.
    for (; end < pieces.length && end - first < limits.rows; end++) {
      space -= (pieces[end]?.length ?? 0) + 1;
      if (space < 0 && end > first) break;
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
      stopped: isMore ? (end - first >= limits.rows ? "rows" : "bytes") : undefined,
      cut: isCut,
      nextCursor,
      elapsedMs: performance.now() - started,
      notices: offset === 0 ? (window.notices ?? []) : [],
    });
  }

  async #read(read: Read, chars: number, rows: number, offset: number, mark: string) {
    const ahead = Math.max(FIRST_AHEAD, chars + rows * ROW_COST);
    const isFirst = offset === 0;
    const window = await read({
      skip: offset,
      chars: isFirst ? ahead : Math.max(ahead, this.#maxChars),
      rows: rows + 1,
      ms: isFirst ? FIRST_AHEAD_MS : NEXT_AHEAD_MS,
    });
    if (offset > 0 && (window.before === undefined || markOf(window.before) !== mark))
      throw new ToolError(
        "conflict",
        "The rows before this cursor have changed, so the next page can't be determined.",
        { hint: "Omit cursor to start again. ORDER BY a unique key makes the order stable." },
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

  /** Marks it as the most recently used. */
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

  clear(): void {
    for (const id of [...this.#kept.keys()]) this.#forget(id);
  }
}

function markOf(piece: string): string {
  return createHash("sha256").update(piece).digest("base64url").slice(0, 16);
}

interface AnswerParts {
  readonly columns: readonly Column[];
  /** Rows written by `rowWriter`. */
  readonly pieces: readonly string[];
  readonly format: Format;
  /** Which limit ended the page before the last row of the result. */
  readonly stopped?: "rows" | "bytes" | undefined;
  /** Whether a value was cut. */
  readonly cut?: boolean;
  readonly nextCursor?: string | undefined;
  readonly elapsedMs: number;
  readonly notices?: readonly string[];
}

/** The JSON text of `queryOutput`, which contains the pieces unchanged. */
export function answerText(parts: AnswerParts): string {
  const {
    columns,
    pieces,
    format,
    stopped,
    cut = false,
    nextCursor,
    elapsedMs,
    notices = [],
  } = parts;
  const by = stopped ?? (cut ? "cell" : undefined);
  const next =
    nextCursor === undefined
      ? "Narrow the query with WHERE or LIMIT."
      : "Continue with next_cursor, or narrow the query with WHERE.";
  const remarks = [
    ...notices,
    ...(stopped === undefined ? [] : [`${rowCount(pieces.length)}, and there are more. ${next}`]),
    ...(cut ? ["Long values were truncated; read the rest with substr(column, n, m)."] : []),
  ];
  const rest = JSON.stringify({
    row_count: pieces.length,
    truncated: by !== undefined,
    truncated_by: by,
    next_cursor: nextCursor,
    elapsed_ms: Math.round(elapsedMs * 10) / 10,
    ...(remarks.length === 0 ? {} : { notices: remarks }),
  });
  const shown = JSON.stringify(columns.map(({ name, type }) => ({ name, type })));
  return `{"columns":${shown},${rowsText(format, columns, pieces)},${rest.slice(1)}`;
}
