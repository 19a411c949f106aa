import { JsonText, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type Column, FORMATS, type Format, rowsText } from "./formats.ts";
import { counted } from "./loss.ts";

const column = z.object({ name: z.string(), type: z.string() });

/** The answer of a query, the same in every SQL server. */
export const queryOutput = z.object({
  columns: z.array(column),
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

/** An answer whose rows can be drawn. */
const drawable = queryOutput.pick({ columns: true }).extend({ rows: z.array(z.array(z.unknown())) });

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

/** The formats of an answer: rows as text, or with a chart in addition. */
export const formatInput = z
  .enum([...FORMATS, "chart"])
  .default("rows")
  .describe("csv and markdown: one text; chart: rows and a PNG.");

export const chartInput = z
  .strictObject({
    type: z.enum(["bar", "line", "scatter"]).default("bar"),
    x: z.string().optional(),
    y: z.array(z.string()).max(100).optional(),
    title: z.string().optional(),
  })
  .optional()
  .describe("For chart; x and y are columns.");

export type Chart = NonNullable<z.output<typeof chartInput>>;
export type Asked = z.output<typeof formatInput>;

/**
 * A query's answer, with a picture of its rows if the format is `chart`.
 *
 * @param text the JSON text of `queryOutput`
 * @throws ToolError if the rows can't be drawn
 */
export async function charted(text: string, format: Asked, chart: Chart | undefined): Promise<JsonText> {
  if (format !== "chart") {
    if (chart === undefined) return new JsonText(text);
    throw new ToolError("invalid", `chart can't be combined with format ${JSON.stringify(format)}.`, {
      hint: 'Pass format: "chart".',
    });
  }
  const { columns, rows } = drawable.parse(JSON.parse(text));
  // ECharts and resvg are large: load them with the first chart.
  const { drawChart } = await import("./chart.ts");
  return new JsonText(text, await drawChart(chart ?? { type: "bar" }, columns, rows));
}

/** The input of a tool that runs a transaction. @param params the schema of a statement's values */
export const statementsInput = <Params extends z.ZodType>(params: Params) =>
  z
    .array(
      z.union([z.string(), z.strictObject({ sql: z.string(), params })], {
        error: "expected an SQL text or { sql, params }",
      }),
    )
    .min(1)
    .max(500)
    .describe(
      'In order, each as text or with values: ["DELETE FROM a WHERE id = 1", { "sql": …, "params": […] }].',
    );

/** All statements of `statementsInput` in one form. */
export const withValues = (
  statements: readonly (string | { readonly sql: string; readonly params: readonly unknown[] })[],
) => statements.map((one) => (typeof one === "string" ? { sql: one, params: [] } : one));

/** The answer of a tool that changes data, the same in every SQL server. */
export const changeOutput = z.object({
  committed: z.boolean(),
  /** One for each statement. */
  results: z.array(
    z.object({
      command: z.string(),
      row_count: z.number().optional(),
      columns: z.array(column).optional(),
      rows: z.array(z.array(z.unknown())).optional(),
    }),
  ),
  tables: z
    .array(z.object({ table: z.string(), inserted: z.number(), updated: z.number(), deleted: z.number() }))
    .optional(),
  last_insert_rowid: z.string().optional(),
  loss: z.string().optional(),
  undo: z.array(z.string()).optional(),
  truncated: z.boolean(),
  truncated_by: z.enum(["bytes", "cell"]).optional(),
  notices: z.array(z.string()).optional(),
});
