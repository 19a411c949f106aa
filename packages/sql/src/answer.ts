import { fitting, grouped } from "@refmcp/core/answer";
import * as z from "zod";
import type { Column } from "./cells.ts";
import { type Format, roomForRows, rowCost, shownAs } from "./formats.ts";

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

/** What an answer is made of. */
export interface AnswerParts {
  readonly columns: readonly Column[];
  /** Encoded by `encodeRow`. */
  readonly rows: readonly (readonly unknown[])[];
  readonly format: Format;
  /** Which limit ended the reading before the last row. */
  readonly stopped?: "rows" | "bytes" | undefined;
  /** Whether a cell was cut. */
  readonly cut?: boolean;
  readonly nextCursor?: string | undefined;
  readonly elapsedMs: number;
  readonly notices?: readonly string[];
}

/** The value of `queryOutput`. */
export function answerOf(parts: AnswerParts): z.output<typeof queryOutput> {
  const { columns, rows, format, stopped, cut = false, nextCursor, elapsedMs, notices = [] } = parts;
  const by = stopped ?? (cut ? ("cell" as const) : undefined);
  const said = [
    ...notices,
    ...(stopped === undefined
      ? []
      : [
          `${grouped(rows.length)} rows, and there are more. ${nextCursor === undefined ? "Narrow the query with WHERE or LIMIT." : "Continue with next_cursor, or narrow the query with WHERE."}`,
        ]),
    ...(cut ? ["Long values were cut; substr(column, n, m) reads on."] : []),
  ];
  return {
    columns: columns.map(({ name, type }) => ({ name, type })),
    ...shownAs(format, columns, rows),
    row_count: rows.length,
    truncated: by !== undefined,
    ...(by === undefined ? {} : { truncated_by: by }),
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    elapsed_ms: Math.round(elapsedMs * 10) / 10,
    ...(said.length === 0 ? {} : { notices: said }),
  };
}

/** How many of the encoded rows fit into an answer of `budget` characters; at least one of any. */
export function rowsThatFit(
  rows: readonly (readonly unknown[])[],
  columns: readonly Column[],
  format: Format,
  budget: number,
): number {
  return fitting(rows, roomForRows(columns, budget), (row) => rowCost(row, columns, format));
}
