import type { Bound } from "@refmcp/sql";
import { CsvReader, type CsvRecord, csvLine } from "@refmcp/sql/csv";
import { distinctNames, type ExportFormat, encodeCell } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { type Progress, preparedReading } from "../connection/handle.ts";
import { addedRows, nextRowid } from "../undo/added.ts";
import { shapeOf } from "../undo/shape.ts";
import { ChangeWatch, type Recording, whyNotRecorded, writeRecord } from "../writing/change.ts";

export interface RowsOutJob extends Bound {
  readonly format: ExportFormat;
  readonly bytes: number;
}

export interface RowsInJob {
  /** `INSERT INTO table (columns) VALUES`. */
  readonly insert: string;
  /** What to show of it in the record. */
  readonly shown: string;
  readonly recording: Recording;
  readonly table: string;
  /** Whether the rows must be watched one by one, as those of an earlier attempt are not the last ones of the table. */
  readonly isWatched: boolean;
  /** The number of columns. */
  readonly columns: number;
  /** The file to name in errors. */
  readonly path: string;
  readonly delimiter: string;
}

/** Values of one INSERT: the fewer statements, the faster. */
const VALUES_AT_ONCE = 256;

/** The rows of a statement as text for a file, in pieces of about `bytes` characters, from one snapshot of the database. */
export function* rowsOut(
  database: Database.Database,
  { sql, params, format, bytes }: RowsOutJob,
): Generator<{ text: string; rows: number; isLast: boolean }, undefined> {
  const statement = preparedReading(database, sql);
  statement.raw(true);
  const names = statement.columns().map(({ name }) => name);
  const keys = distinctNames(names).map((key) => JSON.stringify(key));
  const written =
    format === "csv"
      ? (row: unknown[]) => csvLine(row, csvValue)
      : (row: unknown[]) =>
          `{${row.map((value, at) => `${keys[at]}:${JSON.stringify(jsonValue(value))}`).join(",")}}\n`;
  let text = format === "csv" ? csvLine(names) : "";
  let rows = 0;
  for (const row of statement.iterate(...params)) {
    text += written(row);
    rows += 1;
    if (text.length < bytes) continue;
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

/**
 * Adds the records of a CSV file, after the first one, to a table in one transaction, which `close` ends. If the process ends
 * first, SQLite rolls it back.
 *
 * If the change can't be recorded, `add` or `measure` returns why: start again with a recording that says so.
 */
export function rowsIn(database: Database.Database, job: RowsInJob) {
  const { insert, columns, shown, recording } = job;
  database.exec("BEGIN IMMEDIATE");
  const values = `(${Array(columns).fill("?").join(", ")})`;
  const added = job.isWatched || "reason" in recording ? undefined : addedTo(database, job.table);
  const statement = { sql: `${insert} …`, params: [], verb: "INSERT", overwrites: false };
  const unrecorded = "reason" in recording ? recording.reason : undefined;
  const watch =
    added === undefined ? new ChangeWatch(database, [statement], unrecorded) : undefined;
  let record: ReturnType<ChangeWatch["record"]>;
  const notRecorded = (error: unknown) => {
    const unrecorded = "reason" in recording ? undefined : whyNotRecorded(error);
    if (unrecorded === undefined) throw error;
    return { unrecorded };
  };
  const atOnce = Math.max(1, Math.floor(VALUES_AT_ONCE / columns));
  const one = database.prepare<unknown[]>(`${insert} ${values}`);
  const many = database.prepare<unknown[]>(`${insert} ${Array(atOnce).fill(values).join(", ")}`);
  const savepoint = database.prepare("SAVEPOINT some");
  const release = database.prepare("RELEASE some");
  const addOne = ({ fields, line }: CsvRecord, progress: Progress) => {
    progress.line = line;
    one.run(fields);
    progress.line = undefined;
  };
  const addMany = (records: readonly CsvRecord[], progress: Progress) => {
    savepoint.run();
    try {
      many.run(records.flatMap(({ fields }) => fields));
      release.run();
    } catch (error) {
      // A trigger that raised ROLLBACK ended the transaction: nothing may be added then.
      if (!database.inTransaction) throw error;
      // A trigger that raised FAIL left the records before. One by one, the record that fails is known.
      database.exec("ROLLBACK TO some");
      for (const one of records) addOne(one, progress);
      throw error;
    }
  };
  const reader = new CsvReader(job.path, job.delimiter);
  let isHeader = true;
  let bytes = 1;
  return {
    /** @returns the number of records that ended in this piece of the file */
    add(piece: Uint8Array, isLast: boolean, progress: Progress): number | { unrecorded: string } {
      bytes += piece.length;
      let rows = 0;
      let waiting: CsvRecord[] = [];
      try {
        for (const one of reader.read(piece, isLast)) {
          if (isHeader) {
            isHeader = false;
            continue;
          }
          rows += 1;
          waiting.push(one);
          if (waiting.length < atOnce) continue;
          addMany(waiting, progress);
          waiting = [];
        }
        for (const one of waiting) addOne(one, progress);
      } catch (error) {
        return notRecorded(error);
      }
      return rows;
    },
    /** What was lost through triggers and can't be undone, before `close`; or that the rows must be watched after all. */
    measure(
      rows: number,
      target: string,
    ): { loss: string | undefined } | { unrecorded: string } | "watch" {
      watch?.add({ verb: "INSERT", target, overwrites: false }, { changed: rows, touched: rows });
      const loss = watch?.loss();
      const statements = [shown];
      try {
        if (added !== undefined) {
          const { shape, first } = added;
          const facts = { columns: { [shape.name]: shape.columns }, indexes: [] };
          record = writeRecord(
            recording,
            addedRows(database, shape, first, bytes / Math.max(1, rows)),
            {
              statements,
              facts,
            },
          );
          const found = record?.tables.reduce((sum, { inserted }) => sum + inserted, 0) ?? 0;
          if (found !== rows) {
            record?.discard();
            return "watch";
          }
        } else if (watch !== undefined && watch.unrecorded === undefined)
          record = watch.record(recording, { statements });
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

/**
 * Where the rows of an import will be, if nothing else changes any: after the last row of an ordinary table without triggers.
 * That is much faster than watching each one.
 */
function addedTo(database: Database.Database, table: string) {
  const triggers =
    "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE";
  const shape = shapeOf(database, table);
  if (shape === undefined || "reason" in shape || !shape.hasRowid) return undefined;
  if (database.prepare(triggers).get(table) !== undefined) return undefined;
  const first = nextRowid(database, shape);
  return first === undefined ? undefined : { shape, first };
}
