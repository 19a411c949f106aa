import type { Bound } from "@refmcp/sql";
import { type CsvRecord, csvLines, distinctNames, type ExportFormat, encodeCell } from "@refmcp/sql/formats";
import type { SessionChanges } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import { type Progress, requireReadOnly } from "../connection/handle.ts";
import { beginWithMasks } from "../gate/masks.ts";
import { LossWatch, type Measured } from "../writing/change.ts";

export interface RowsOutJob extends Bound {
  readonly format: ExportFormat;
  readonly bytes: number;
}

export interface RowsInJob {
  readonly insert: string;
  readonly table: string;
  readonly session: SessionChanges;
}

const ROWS_AT_ONCE = 200;

/** The rows of a statement as text for a file, in pieces of about `bytes` characters, from one snapshot of the database. */
export function* rowsOut(
  database: Database.Database,
  { sql, params, format, bytes }: RowsOutJob,
): Generator<{ text: string; rows: number; isLast: boolean }, undefined> {
  beginWithMasks(database, sql, params);
  const statement = database.prepare<unknown[], unknown[]>(sql);
  requireReadOnly(statement);
  statement.raw(true);
  const names = statement.columns().map(({ name }) => name);
  const keys = distinctNames(names).map((key) => JSON.stringify(key));
  const object = (row: readonly unknown[]) =>
    `{${row.map((value, at) => `${keys[at]}:${JSON.stringify(jsonValue(value))}`).join(",")}}\n`;
  const written = (batch: readonly unknown[][]) =>
    format === "csv" ? csvLines(batch.map((row) => row.map(csvValue))) : batch.map(object).join("");
  let text = format === "csv" ? csvLines([names]) : "";
  let rows = 0;
  let batch: unknown[][] = [];
  let length = 0;
  for (const row of statement.iterate(...params)) {
    batch.push(row);
    for (const value of row)
      length += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
    if (batch.length < ROWS_AT_ONCE && length < bytes) continue;
    text += written(batch);
    rows += batch.length;
    batch = [];
    length = 0;
    if (text.length < bytes) continue;
    yield { text, rows, isLast: false };
    text = "";
    rows = 0;
  }
  yield { text: text + written(batch), rows: rows + batch.length, isLast: true };
}

/** Bytes as base64, infinities as numbers that SQLite reads as infinite. */
function csvValue(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** As in an answer, but never truncated. */
function jsonValue(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return encodeCell(value, Number.POSITIVE_INFINITY, { count: 0 });
  return { $blob: value.byteLength, base64: Buffer.from(value).toString("base64") };
}

/** Adds records to a table in one transaction, which `close` ends. If the process ends first, SQLite rolls it back. */
export function rowsIn(database: Database.Database, { insert, table, session }: RowsInJob) {
  database.exec("BEGIN IMMEDIATE");
  const triggers = "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE";
  const statement = { sql: insert, params: [], verb: "INSERT", overwrites: false };
  /** Counts what triggers of the table do; undefined if it has none. */
  const watch =
    database.prepare(triggers).get(table) === undefined
      ? undefined
      : new LossWatch(database, [statement], session, true);
  const inserting = database.prepare<unknown[]>(insert);
  return {
    add(records: readonly CsvRecord[], progress: Progress): void {
      for (const { fields, line } of records) {
        progress.line = line;
        inserting.run(...fields);
      }
      progress.line = undefined;
    },
    /** What was lost through triggers, before `close`. */
    measure: (): Measured => watch?.loss() ?? { loss: undefined, changes: [], agreed: [] },
    close(commit: boolean): void {
      database.exec(commit ? "COMMIT" : "ROLLBACK");
      database.close();
    },
  };
}
