// Query results, in the form that both SQL servers return, and what of them are numbers, dates and times.
import { manyLines } from "../../boundary/src/answer/untrusted.ts";
import type { ToolResult } from "../../core/views/host.ts";
import { csvLine } from "../src/answer/csv-line.ts";

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
  readonly next_cursor?: string;
  readonly notices?: readonly string[];
}

/** The rows of a result; undefined if it has none, for example CSV. */
export function tableOf({ structuredContent }: ToolResult): Table | undefined {
  const answer = structuredContent as unknown as Answer | undefined;
  const rows = answer?.rows;
  if (answer === undefined || rows === undefined) return undefined;
  // The note on how to continue is for the model; people have a button.
  const notices = (answer.notices ?? []).filter((notice) => !notice.includes("next_cursor"));
  return { columns: answer.columns, rows, next: answer.next_cursor, notices };
}

/** A value as text; characters that hide text or turn its direction are escaped. */
export function visibleText(value: unknown): string {
  return manyLines(plainText(value));
}

/** A value for copying. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "object" && "$blob" in value) return `(${String(value.$blob)} bytes)`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Compares two values: numbers by size, texts by the user's language, NULL last. */
export function compare(left: unknown, right: unknown): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined && a !== b) return a - b;
  return collator.compare(visibleText(left), visibleText(right));
}

/** Rows with a header line as CSV, as the server exports them. */
export function csvOf({ columns }: Pick<Table, "columns">, rows: Table["rows"]): string {
  return [columns.map(({ name }) => name), ...rows].map((row) => csvLine(row)).join("");
}

/** Rows with a header line for a spreadsheet, which takes a tab as the end of a cell. */
export function tabbed({ columns }: Pick<Table, "columns">, rows: Table["rows"]): string {
  const cell = (value: unknown) =>
    value === null ? "" : plainText(value).replace(/[\t\r\n]+/g, " ");
  return [columns.map(({ name }) => name), ...rows]
    .map((row) => row.map(cell).join("\t"))
    .join("\n");
}

const ISO =
  /^(\d{4}-\d\d)(?:(-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** A value as a number; in an answer, integers beyond 2^53 and decimals are text. */
export function numberOf(value: unknown): number | undefined {
  const isNumeric = typeof value === "string" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value);
  const number = isNumeric ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A written month, date or time in milliseconds since 1970; its time zone is ignored, so that it is drawn as written. */
export function timeOf(value: unknown): number | undefined {
  const match = typeof value === "string" ? ISO.exec(value) : null;
  const [, month, day = "-01", time = "00:00", seconds = ""] = match ?? [];
  const at = month === undefined ? Number.NaN : Date.parse(`${month}${day}T${time}${seconds}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a column has only numbers and NULL. */
export const hasNumbers = (rows: Table["rows"], index: number): boolean =>
  hasOnly(rows, index, numberOf);

/** Whether a column has only dates and NULL. */
export const hasTimes = (rows: Table["rows"], index: number): boolean =>
  hasOnly(rows, index, timeOf);

function hasOnly(rows: Table["rows"], index: number, read: (value: unknown) => number | undefined) {
  const values = rows.map((row) => row[index] ?? null).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => read(value) !== undefined);
}
