import * as z from "zod";

/** What an outline shows of a column. */
export interface OutlineColumn {
  readonly name: string;
  readonly type: string;
  readonly notNull?: boolean;
  readonly primaryKey?: boolean;
  /** What a foreign key with this column references: `users.id`. */
  readonly references?: string | undefined;
  readonly default?: string | undefined;
  readonly comment?: string | undefined;
}

export interface OutlineTable {
  readonly table: string;
  readonly type: string;
  /** Estimated. */
  readonly rows?: number | undefined;
  readonly comment?: string | undefined;
  readonly columns: readonly OutlineColumn[];
  /** A description of each index. */
  readonly indexes?: readonly string[];
}

/** The answer of `describe_tables`, the same in every SQL server. */
export const outlineOutput = z.object({
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

export interface OutlineOptions {
  /** Part of a column's name; other columns are left out. */
  readonly column?: string | undefined;
  readonly detail: "concise" | "full";
}

/** Maximum columns of one table. */
const MAX_COLUMNS = 200;
const MAX_TEXT = 300;

/** A table in an outline, with a line for each column. */
export function outlined(
  { table, type, rows, comment, columns, indexes = [] }: OutlineTable,
  { column, detail }: OutlineOptions,
): z.output<typeof outlineOutput>["tables"][number] {
  const isFull = detail === "full";
  const wanted = columns.filter(({ name }) => column === undefined || isPart(column, name));
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
  { name, type, notNull, primaryKey, references, default: value, comment }: OutlineColumn,
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

/** Whether a name contains a text, ignoring case. */
export const isPart = (text: string, name: string) => name.toLowerCase().includes(text.toLowerCase());
