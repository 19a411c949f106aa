import { createHash } from "node:crypto";
import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { rowCount } from "../change/loss.ts";
import type { Bound, Work } from "../database.ts";
import type { Databases } from "../databases.ts";
import { type Format, rowsText } from "./formats.ts";

/** Rows of a call that sets no limit. */
export const STANDARD_ROWS = 200;
/** Longer values are truncated to this many bytes. */
const CELL_BYTES = 8_192;
/** Characters of counts and notices in an answer, in addition to columns and rows. */
const AROUND = 600;

export interface PageAsked extends Bound, Work {
  readonly database?: string | undefined;
  readonly maxRows?: number | undefined;
  readonly cursor?: string | undefined;
  readonly format?: Format;
  /** Characters of the answer. */
  readonly budget: number;
}

/** The position of the next row, and a digest of the row before it. */
const place = z.tuple([z.int().min(1), z.string()]);

/**
 * Runs a reading statement and returns a page of its rows, as the JSON text of `queryOutput`. No lock, snapshot or connection
 * outlives an answer: a further page runs the statement again. The row before the cursor must then be the same, otherwise the
 * call is a `conflict`, so that no row is repeated or left out unnoticed.
 *
 * @throws ToolError what the database and the limits refuse, and `invalid` for the cursor of another call
 */
export async function readPage(databases: Databases, asked: PageAsked): Promise<string> {
  const started = performance.now();
  const {
    sql,
    params,
    signal,
    timeoutMs,
    budget,
    format = "rows",
    maxRows: rows = STANDARD_ROWS,
  } = asked;
  const at = await databases.at(asked.database);
  const cursors = () =>
    cursorsOf(databases.kind.names.query, [sql, params, at.name, format], place);
  const [skip, mark] = (asked.cursor === undefined
    ? undefined
    : cursors().decode(asked.cursor)) ?? [0, ""];
  const chars = Math.max(budget - AROUND, 1);
  const question = { sql, params, format, cellBytes: CELL_BYTES, timeoutMs, signal };
  const { columns, pieces, cuts, ...window } = await at.read(question, { skip, rows, chars });
  if (skip > 0 && (window.before === undefined || markOf(window.before) !== mark))
    throw new ToolError(
      "conflict",
      "The rows before this cursor have changed, so the next page can't be determined.",
      { hint: "Omit cursor to start again. ORDER BY a unique key makes the order stable." },
    );
  let space = budget - AROUND - JSON.stringify(columns).length;
  let end = 0;
  for (const piece of pieces) {
    space -= piece.length + 1;
    // At least one row, however large, so that paging advances.
    if (space < 0 && end > 0) break;
    end += 1;
  }
  const page = pieces.slice(0, end);
  const last = page.at(-1);
  const isMore = end < pieces.length || window.more;
  const isCut = page.some((_, row) => cuts.has(row));
  const by = isMore ? (end >= rows ? "rows" : "bytes") : isCut ? "cell" : undefined;
  const notices = [
    ...(skip === 0 ? (window.notices ?? []) : []),
    ...(isMore ? [`${rowCount(end)}, and there are more. ${MORE}`] : []),
    ...(isCut ? ["Long values were truncated; read the rest with substr(column, n, m)."] : []),
  ];
  const rest = JSON.stringify({
    row_count: end,
    truncated: by !== undefined,
    truncated_by: by,
    next_cursor:
      isMore && last !== undefined ? cursors().encode([skip + end, markOf(last)]) : undefined,
    elapsed_ms: Math.round((performance.now() - started) * 10) / 10,
    ...(notices.length === 0 ? {} : { notices }),
  });
  const head = JSON.stringify(columns.map(({ name, type }) => ({ name, type })));
  return `{"columns":${head},${rowsText(format, columns, page)},${rest.slice(1)}`;
}

const MORE = "Continue with next_cursor, or narrow the query with WHERE.";

const markOf = (piece: string) =>
  createHash("sha256").update(piece).digest("base64url").slice(0, 16);
