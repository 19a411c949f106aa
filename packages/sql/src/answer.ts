import * as z from "zod";
import type { Column } from "./cells.ts";
import { type Format, rowsText } from "./formats.ts";
import { counted } from "./loss.ts";

/** The answer of a query, the same in every SQL server. */
export const queryOutput = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.unknown())).optional(),
  objects: z.array(z.record(z.string(), z.unknown())).optional(),
  text: z.string().optional(),
  row_count: z.number(),
  truncated: z.boolean(),
  truncated_by: z.enum(["rows", "bytes", "cell"]).optional(),
  next_cursor: z.string().optional(),
  elapsed_ms: z.number(),
  notices: z.array(z.string()).optional(),
});

/** The parts of an answer. */
export interface AnswerParts {
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

/** Characters of counts and notices, in addition to columns and rows. */
const AROUND = 600;

/** Characters of an answer that are left for rows; at least one. */
export function spaceForRows(columns: readonly Column[], budget: number): number {
  return Math.max(budget - AROUND - JSON.stringify(columns).length, 1);
}

/** The JSON text of `queryOutput`, which contains the pieces unchanged. */
export function answerText(parts: AnswerParts): string {
  const { columns, pieces, format, stopped, cut = false, nextCursor, elapsedMs, notices = [] } = parts;
  const by = stopped ?? (cut ? "cell" : undefined);
  const next =
    nextCursor === undefined
      ? "Narrow the query with WHERE or LIMIT."
      : "Continue with next_cursor, or narrow the query with WHERE.";
  const remarks = [
    ...notices,
    ...(stopped === undefined ? [] : [`${counted(pieces.length)}, and there are more. ${next}`]),
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
