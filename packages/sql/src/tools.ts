import { pathToFileURL } from "node:url";
import { cursorsOf, fitting, ToolError } from "@refmcp/boundary/answer";
import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import type { RecordedChange } from "./changes.ts";
import { EXPORT_FORMATS, type ExportFormat, FORMATS } from "./formats.ts";
import { STANDARD_ROWS } from "./limits.ts";
import type { NewFile } from "./new-file.ts";
import { type ColumnValues, valuesText } from "./values.ts";

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
  max_rows: z
    .int()
    .min(1)
    .max(10_000)
    .default(STANDARD_ROWS)
    .describe(`Maximum rows; default ${STANDARD_ROWS}.`),
  cursor: fields.cursor,
  format: z.enum(FORMATS).default("rows").describe("rows or objects: JSON; csv or markdown: text."),
};

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
export const describeTablesTool = {
  ...reading,
  title: "Describe tables",
  output: tablesOutput,
} as const;

/** What `describe_tables` shows of a table. */
export interface TableFacts {
  readonly table: string;
  readonly type: string;
  /** Estimated. */
  readonly rows?: number | undefined;
  readonly comment?: string | undefined;
  readonly columns: readonly (ColumnValues & {
    readonly name: string;
    readonly type: string;
    readonly notNull?: boolean;
    readonly primaryKey?: boolean;
    /** What a foreign key with this column references: `users.id`. */
    readonly references?: string | undefined;
    readonly default?: string | undefined;
    readonly comment?: string | undefined;
  })[];
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
  const wanted = columns.filter(({ name }) =>
    name.toLowerCase().includes(column?.toLowerCase() ?? ""),
  );
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

function columnText(column: TableFacts["columns"][number], isFull: boolean): string {
  const { name, type, notNull, primaryKey, references, default: value, comment } = column;
  const values = valuesText(column);
  const parts = [name, type, values.type];
  if (primaryKey === true) parts.push("primary key");
  else if (notNull === true) parts.push("not null");
  if (references !== undefined) parts.push(`→ ${references}`);
  parts.push(values.rest);
  if (isFull && value !== undefined) parts.push(`default ${value.slice(0, MAX_TEXT)}`);
  if (isFull && comment !== undefined)
    parts.push(`-- ${comment.replace(/\s+/g, " ").slice(0, MAX_TEXT)}`);
  return parts.filter((part) => part !== "").join(" ");
}

export const explainTool = {
  ...reading,
  title: "Explain query",
  argumentAliases: { query: "sql" },
} as const;

export const suggestIndexesTool = { ...reading, title: "Suggest indexes" } as const;

const tableCounts = z.object({
  table: z.string(),
  inserted: z.number(),
  updated: z.number(),
  deleted: z.number(),
});

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
  tables: z.array(tableCounts).optional(),
  last_insert_rowid: z.string().optional(),
  loss: z.string().optional(),
  /** To undo it; absent if nothing was recorded. */
  change_id: z.string().optional(),
  /** That the record has a copy of the rows. */
  note: z.string().optional(),
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
      z.preprocess(
        asItem,
        z.union([z.string(), z.strictObject({ sql: z.string(), params })], {
          error: "expected an SQL text or { sql, params }",
        }),
      ),
    )
    .min(1)
    .max(500)
    .describe(
      'In order, each as text or with values: ["DELETE FROM a WHERE id = 1", { "sql": …, "params": […] }].',
    );

/** An item with `query`, as the argument of other tools is named, as one with `sql`. */
function asItem(given: unknown): unknown {
  if (typeof given !== "object" || given === null || !("query" in given) || "sql" in given)
    return given;
  const { query, ...rest } = given;
  return { ...rest, sql: query };
}

/** All statements of `statementsInput` in one form. */
export const withValues = (
  statements: readonly (string | { readonly sql: string; readonly params: readonly unknown[] })[],
) => statements.map((one) => (typeof one === "string" ? { sql: one, params: [] } : one));

export const listChangesTool = {
  ...reading,
  title: "List changes",
  needs: "allowWrite",
  output: z.object({
    changes: z.array(
      z.object({
        change_id: z.string(),
        time: z.string(),
        statements: z.array(z.string()),
        tables: z.array(tableCounts),
        /** Whether it can be undone, provided that its rows are unchanged since. */
        can_undo: z.boolean(),
        undone_by: z.string().optional(),
        undoes: z.string().optional(),
        note: z.string().optional(),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
} as const;
export const listChangesArguments = { limit: fields.limit(20, 200), cursor: fields.cursor };

const afterChange = z.object({ id: z.string() });
const PENDING = "The server ended during this change, so it may not have been committed.";

/**
 * A page of recorded changes.
 *
 * @param tool the name of the tool, for its cursors
 * @param changes all of a database, newest first
 */
export function listedChanges(
  tool: string,
  changes: readonly RecordedChange[],
  { limit, cursor, budget }: { limit: number; cursor?: string | undefined; budget: number },
): z.output<(typeof listChangesTool)["output"]> {
  const cursors = cursorsOf(tool, changes[0]?.database, afterChange);
  const last = cursors.decode(cursor)?.id;
  const shown = changes
    .filter(({ id }) => last === undefined || id < last)
    .map(({ id, time, statements, tables, undoneBy, undoes, isPending }) => ({
      change_id: id,
      time,
      statements: statements.slice(0, 5).map((sql) => sql.slice(0, 200)),
      tables: tables.slice(0, 50).map((one) => ({ ...one })),
      can_undo: undoneBy === undefined,
      ...(undoneBy === undefined ? {} : { undone_by: undoneBy }),
      ...(undoes === undefined ? {} : { undoes }),
      ...(isPending ? { note: PENDING } : {}),
    }));
  const { page, ...more } = pageOf(shown, { limit, budget: budget - 200 }, (at) =>
    cursors.encode({ id: shown[at]?.change_id ?? "" }),
  );
  return { changes: page, ...more };
}

export const undoChangeTool = {
  ...changing,
  title: "Undo change",
  effect: "change",
  argumentAliases: { id: "change_id" },
  output: z.object({
    undone: z.string(),
    committed: z.boolean(),
    tables: z.array(tableCounts),
    /** Undoing this one makes the change again. */
    change_id: z.string().optional(),
    /** What could not be undone. */
    note: z.string().optional(),
  }),
} as const;
export const undoChangeArguments = {
  change_id: z
    .string()
    .max(60)
    .describe("Id of the change, from its answer or the list of changes."),
  dry_run: z.boolean().default(false).describe("Check the rows, report, and roll back."),
};

const MAX_KEYS = 5;

/**
 * The error of an undo that finds rows changed since.
 *
 * @param rows what is different: the first few keys by table, as text
 * @param count how many there are
 */
export function changedSince(id: string, rows: readonly string[], count: number): ToolError {
  const more = count > MAX_KEYS ? ` and ${count - MAX_KEYS} more` : "";
  return new ToolError(
    "conflict",
    `Change ${id} was not undone: ${count} of its rows ${count === 1 ? "is" : "are"} not as it left them: ${rows.slice(0, MAX_KEYS).join(", ")}${more}.`,
    {
      hint: "Nothing was changed. Undo the later changes of these rows first (newest first), or restore rows with your own statements.",
    },
  );
}

export const exportTool = {
  title: "Save rows to a file",
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
export function exported(
  { path, rows, bytes }: NewFile & { readonly rows: number },
  format: ExportFormat,
) {
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
