import { pathToFileURL } from "node:url";
import { fitting, JsonText, ToolError } from "@refmcp/boundary/answer";
import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { EXPORT_FORMATS, type ExportFormat, FORMATS, type Format } from "./formats.ts";
import { STANDARD_ROWS } from "./limits.ts";
import type { NewFile } from "./new-file.ts";

// What a tool has in common in all SQL servers. A server adds its name and description, and what its dialect needs.

const reading = { effect: "read", openWorld: false } as const;
const changing = { openWorld: false, needs: "allowWrite" } as const;

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

export const queryTool = { ...reading, view: "rows", output: queryOutput } as const;
export const queryArguments = {
  max_rows: z.int().min(1).max(10_000).default(STANDARD_ROWS).describe("Maximum rows, 1 to 10000."),
  cursor: fields.cursor,
  /** Rows as text, or with a chart in addition. */
  format: z
    .enum([...FORMATS, "chart"])
    .default("rows")
    .describe("csv and markdown: one text; chart: rows and a PNG."),
  chart: z
    .strictObject({
      type: z.enum(["bar", "line", "scatter"]).default("bar"),
      x: z.string().optional(),
      y: z.array(z.string()).max(100).optional(),
      title: z.string().optional(),
    })
    .optional()
    .describe("For chart; x and y are columns."),
};

export type Chart = NonNullable<z.output<typeof queryArguments.chart>>;

/** An answer whose rows can be drawn. */
const drawable = queryOutput.pick({ columns: true }).extend({ rows: z.array(z.array(z.unknown())) });

/**
 * Answers a query, with a picture of its rows if the format is `chart`.
 *
 * @param ask runs it, and returns the JSON text of `queryOutput` with rows in a format
 * @throws ToolError if the rows can't be drawn
 */
export async function answered(
  ask: (format: Format) => Promise<string>,
  format: z.output<typeof queryArguments.format>,
  chart: z.output<typeof queryArguments.chart>,
): Promise<JsonText> {
  if (format === "chart") {
    const text = await ask("rows");
    const { columns, rows } = drawable.parse(JSON.parse(text));
    // ECharts and resvg are large: load them with the first chart.
    const { drawChart } = await import("./chart.ts");
    return new JsonText(text, await drawChart(chart ?? { type: "bar" }, columns, rows));
  }
  const text = await ask(format);
  if (chart === undefined) return new JsonText(text);
  throw new ToolError("invalid", `chart can't be combined with format ${JSON.stringify(format)}.`, {
    hint: 'Pass format: "chart".',
  });
}

/** The answer of `describe_tables`, the same in every SQL server. */
export const tablesOutput = z.object({
  tables: z.array(
    z.object({
      table: z.string(),
      type: z.string(),
      rows: z.number().optional(),
      comment: z.string().optional(),
      columns: z.array(z.string()),
      more_columns: z.number().optional(),
      indexes: z.array(z.string()).optional(),
    }),
  ),
  next_cursor: z.string().optional(),
});

export const describeTableTool = { ...reading, title: "Describe table" } as const;
export const describeTablesTool = { ...reading, title: "Describe tables", output: tablesOutput } as const;

/** What `describe_tables` shows of a table. */
export interface TableFacts {
  readonly table: string;
  readonly type: string;
  /** Estimated. */
  readonly rows?: number | undefined;
  readonly comment?: string | undefined;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly notNull?: boolean;
    readonly primaryKey?: boolean;
    /** What a foreign key with this column references: `users.id`. */
    readonly references?: string | undefined;
    readonly default?: string | undefined;
    readonly comment?: string | undefined;
  }[];
  readonly indexes?: readonly string[];
}

const MAX_COLUMNS = 200;
const MAX_TEXT = 300;

/** What a call of `describe_tables` asks for. */
export interface TablesAsked {
  /** Part of a table's name. */
  readonly query?: string | undefined;
  /** Part of a column's name; other columns are left out. */
  readonly column?: string | undefined;
  readonly detail: "concise" | "full";
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Characters of the answer. */
  readonly budget: number;
}

/** A table for `tablesOutput`, with a line for each column. */
export function summarized(
  { table, type, rows, comment, columns, indexes = [] }: TableFacts,
  { column, detail }: Pick<TablesAsked, "column" | "detail">,
): z.output<typeof tablesOutput>["tables"][number] {
  const isFull = detail === "full";
  const wanted = columns.filter(({ name }) => name.toLowerCase().includes(column?.toLowerCase() ?? ""));
  return {
    table,
    type,
    ...(rows === undefined ? {} : { rows }),
    ...(isFull && comment !== undefined ? { comment: comment.slice(0, MAX_TEXT) } : {}),
    columns: wanted.slice(0, MAX_COLUMNS).map((one) => columnText(one, isFull)),
    ...(wanted.length > MAX_COLUMNS ? { more_columns: wanted.length - MAX_COLUMNS } : {}),
    ...(isFull && indexes.length > 0 ? { indexes: [...indexes] } : {}),
  };
}

function columnText(
  { name, type, notNull, primaryKey, references, default: value, comment }: TableFacts["columns"][number],
  isFull: boolean,
): string {
  const parts = [name, type];
  if (primaryKey === true) parts.push("primary key");
  else if (notNull === true) parts.push("not null");
  if (references !== undefined) parts.push(`→ ${references}`);
  if (isFull && value !== undefined) parts.push(`default ${value.slice(0, MAX_TEXT)}`);
  if (isFull && comment !== undefined) parts.push(`-- ${comment.replace(/\s+/g, " ").slice(0, MAX_TEXT)}`);
  return parts.filter((part) => part !== "").join(" ");
}

export const explainTool = {
  ...reading,
  title: "Explain query",
  argumentAliases: { query: "sql" },
} as const;

export const suggestIndexesTool = { ...reading, title: "Suggest indexes" } as const;

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

export const executeTool = {
  ...changing,
  title: "Execute changes",
  effect: "destroy",
  output: changeOutput,
} as const;

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

export const exportTool = {
  title: "Export rows",
  effect: "add",
  openWorld: false,
  argumentAliases: { query: "sql" },
  output: z.object({ path: z.string(), format: z.string(), rows: z.number(), bytes: z.number() }),
} as const;
export const exportFormat = z
  .enum(EXPORT_FORMATS)
  .default("csv")
  .describe("csv with a header line, or jsonl.");

/** The answer of an export, with a link to the file. */
export function exported({ path, rows, bytes }: NewFile & { readonly rows: number }, format: ExportFormat) {
  const mimeType = format === "csv" ? "text/csv" : "application/jsonl";
  return withLinks({ path, format, rows, bytes }, [
    { uri: pathToFileURL(path).href, name: path, mimeType, size: bytes },
  ]);
}

export const importCsvTool = {
  ...changing,
  title: "Import CSV",
  effect: "add",
  argumentAliases: { table_name: "table" },
} as const;
export const importArguments = {
  delimiter: z.string().length(1).default(",").describe("Field separator: , or ; or a tab."),
  dry_run: z.boolean().default(false).describe("Load, report, and roll back."),
};

interface PageLimits<Item> {
  readonly limit: number;
  /** Characters of the answer. */
  readonly budget: number;
  /** Whether there are more items after these. */
  readonly isMore?: boolean;
  /** The characters of an item; default: its JSON. */
  readonly size?: (item: Item) => number;
}

/**
 * The part of a list that fits in an answer.
 *
 * @param cursorOf the cursor that continues after an item, given by its position
 */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, budget, isMore = false, size }: PageLimits<Item>,
  cursorOf: (last: number) => string | undefined,
): { readonly page: Item[]; readonly next_cursor?: string | undefined } {
  const page = items.slice(0, Math.min(limit, fitting(items, budget, size)));
  const goesOn = page.length > 0 && (isMore || page.length < items.length);
  return goesOn ? { page, next_cursor: cursorOf(page.length - 1) } : { page };
}
