import type { Bound } from "@refmcp/sql";
import { csvLine } from "@refmcp/sql/csv";
import { distinctNames, type ExportFormat, encodeCell } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { preparedReading } from "../driver/handle.ts";

export interface RowsOutJob extends Bound {
  readonly format: ExportFormat;
}

/** Characters of one part. */
const PIECE = 262_144;

/** The rows of a statement as text for a file, in pieces, from one snapshot of the database. */
export function* rowsOut(
  database: Database.Database,
  { sql, params, format }: RowsOutJob,
): Generator<{ text: string; rows: number; isLast: boolean }, undefined> {
  const statement = preparedReading(database, sql);
  statement.raw(true);
  const names = statement.columns().map(({ name }) => name);
  const keys = distinctNames(names).map((key) => JSON.stringify(key));
  const json = (row: unknown[]) =>
    `{${row.map((value, at) => `${keys[at]}:${JSON.stringify(jsonValue(value))}`).join(",")}}\n`;
  const line = format === "csv" ? (row: unknown[]) => csvLine(row, csvValue) : json;
  let text = format === "csv" ? csvLine(names) : "";
  let rows = 0;
  for (const row of statement.iterate(...params)) {
    text += line(row);
    rows += 1;
    if (text.length < PIECE) continue;
    yield { text, rows, isLast: false };
    text = "";
    rows = 0;
  }
  yield { text, rows, isLast: true };
}

/** Bytes as base64, infinities as numbers that SQLite reads as infinite. */
function csvValue(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** As in an answer, but never truncated. */
function jsonValue(value: unknown): unknown {
  if (!(value instanceof Uint8Array))
    return encodeCell(value, Number.POSITIVE_INFINITY, { count: 0 });
  return { $blob: value.byteLength, base64: Buffer.from(value).toString("base64") };
}
