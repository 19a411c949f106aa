import type { Bound } from "@refmcp/sql";
import { type CsvRecord, csvLines, distinctNames, type ExportFormat, encodeCell } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { type Progress, requireReadOnly } from "../connection/handle.ts";
import { ChangeWatch, type Recording, whyNotRecorded } from "../writing/change.ts";

export interface RowsOutJob extends Bound {
  readonly format: ExportFormat;
  readonly bytes: number;
}

export interface RowsInJob {
  readonly insert: string;
  /** What to show of it in the record. */
  readonly shown: string;
  readonly recording: Recording;
}

const ROWS_AT_ONCE = 200;

/** The rows of a statement as text for a file, in pieces of about `bytes` characters, from one snapshot of the database. */
export function* rowsOut(
  database: Database.Database,
  { sql, params, format, bytes }: RowsOutJob,
): Generator<{ text: string; rows: number; isLast: boolean }, undefined> {
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

/**
 * Adds records to a table in one transaction, which `close` ends. If the process ends first, SQLite rolls it back.
 *
 * If the change can't be recorded, `add` or `measure` returns why: start again with a recording that says so.
 */
export function rowsIn(database: Database.Database, { insert, shown, recording }: RowsInJob) {
  const statement = { sql: insert, verb: "INSERT", overwrites: false };
  database.exec("BEGIN IMMEDIATE");
  const watch = new ChangeWatch(database, [statement], "reason" in recording ? recording.reason : undefined);
  const inserting = database.prepare<unknown[]>(insert);
  let record: ReturnType<ChangeWatch["record"]>;
  const notRecorded = (error: unknown) => {
    const unrecorded = "reason" in recording ? undefined : whyNotRecorded(error);
    if (unrecorded === undefined) throw error;
    return { unrecorded };
  };
  return {
    add(records: readonly CsvRecord[], progress: Progress): { unrecorded: string } | undefined {
      try {
        for (const { fields, line } of records) {
          progress.line = line;
          inserting.run(...fields);
        }
      } catch (error) {
        return notRecorded(error);
      }
      progress.line = undefined;
      return undefined;
    },
    /** What was lost through triggers and can't be undone, before `close`. */
    measure(rows: number, target: string): { loss: string | undefined } | { unrecorded: string } {
      watch.add({ verb: "INSERT", target, overwrites: false }, { changed: rows, touched: rows });
      const loss = watch.loss();
      try {
        if (watch.unrecorded === undefined) record = watch.record(recording, { statements: [shown] });
      } catch (error) {
        return notRecorded(error);
      }
      return { loss };
    },
    /** @returns the id of the recorded change */
    close(commit: boolean): string | undefined {
      try {
        database.exec(commit ? "COMMIT" : "ROLLBACK");
        return commit ? record?.committed() : undefined;
      } finally {
        record?.discard();
        database.close();
      }
    },
  };
}
