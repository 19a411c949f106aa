import type { Bound } from "@refmcp/sql";
import { csvLine } from "@refmcp/sql/csv";
import type Database from "better-sqlite3";
import { preparedReading } from "../driver/handle.ts";

/** Characters of one part. */
const PIECE = 262_144;

/** The rows of a statement as text for a file, in pieces, from one snapshot of the database. */
export function* rowsOut(
  database: Database.Database,
  { sql, params }: Bound,
): Generator<{ text: string; rows: number; isLast: boolean }, undefined> {
  const statement = preparedReading(database, sql);
  statement.raw(true);
  const names = statement.columns().map(({ name }) => name);
  let text = csvLine(names);
  let rows = 0;
  for (const row of statement.iterate(...params)) {
    text += csvLine(row, csvValue);
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
