// Query results, in the form that both SQL servers return.
import type { ToolResult } from "./host.ts";

/** Rows of a query with their columns. */
export interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly next: string | undefined;
  readonly notices: readonly string[];
}

interface Answer {
  readonly columns: Table["columns"];
  readonly rows?: Table["rows"];
  readonly objects?: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor?: string;
  readonly notices?: readonly string[];
}

/** The rows of a result; undefined if it has none, for example CSV. */
export function tableOf({ structuredContent }: ToolResult): Table | undefined {
  const answer = structuredContent as unknown as Answer | undefined;
  const rows = answer?.rows ?? answer?.objects?.map((row) => keysOf(answer.columns).map((key) => row[key]));
  if (answer === undefined || rows === undefined) return undefined;
  // The note on how to continue is for the model; people have a button.
  const notices = (answer.notices ?? []).filter((notice) => !notice.includes("next_cursor"));
  return { columns: answer.columns, rows, next: answer.next_cursor, notices };
}

/** The keys of a row's object: columns of the same name are numbered. */
function keysOf(columns: Table["columns"]): string[] {
  const taken = new Set<string>();
  return columns.map(({ name }) => {
    let key = name;
    for (let count = 2; taken.has(key); count++) key = `${name}_${count}`;
    taken.add(key);
    return key;
  });
}

/** A value as a number; integers beyond 2^53 and decimals arrive as strings. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined;
}

/** Whether a column has only numbers and NULL. */
export function hasNumbers(rows: Table["rows"], index: number): boolean {
  const values = rows.map((row) => row[index]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => numberOf(value) !== undefined);
}

/** A value as text. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "object" && "$blob" in value) return `(${String(value.$blob)} bytes)`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Compares two values: numbers by size, texts by the user's language, NULL last. */
export function compare(left: unknown, right: unknown): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  const [one, other] = [numberOf(left), numberOf(right)];
  if (one !== undefined && other !== undefined && one !== other) return one - other;
  return collator.compare(shown(left), shown(right));
}
