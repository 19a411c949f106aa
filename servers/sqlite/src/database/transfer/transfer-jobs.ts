import { type CsvRecord, csvLines } from "@refmcp/sql/csv";
import { distinctNames, type ExportFormat, encodeCell } from "@refmcp/sql/formats";
import type { SessionChanges } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import { type Bound, type Progress, requireReadOnly } from "../connection/handle.ts";
import { LossWatch, type Measured } from "../writing/loss.ts";

export interface RowsOutJob extends Bound {
  readonly format: ExportFormat;
}

export interface RowsInJob {
  readonly insert: string;
  readonly table: string;
  readonly session: SessionChanges;
}

/** Rows encoded at once. */
const ROWS_AT_ONCE = 200;

/** The rows of a statement as text for a file, piece by piece, from one snapshot of the database. */
export class RowsOut {
  readonly #rows: IterableIterator<unknown[]>;
  readonly #format: ExportFormat;
  readonly #keys: readonly string[];
  /** The header line, until it was returned with the first rows. */
  #header: string;

  constructor(database: Database.Database, { sql, params, format }: RowsOutJob) {
    const statement = database.prepare<unknown[], unknown[]>(sql);
    requireReadOnly(statement);
    statement.raw(true);
    this.#format = format;
    const names = statement.columns().map(({ name }) => name);
    this.#keys = distinctNames(names).map((key) => JSON.stringify(key));
    this.#header = format === "csv" ? csvLines([names]) : "";
    this.#rows = statement.iterate(...params);
  }

  /** The next complete rows, about `bytes` characters. */
  next(bytes: number): { text: string; rows: number; done: boolean } {
    let text = this.#header;
    this.#header = "";
    let rows = 0;
    let done = false;
    while (!done && text.length < bytes) {
      const batch: unknown[][] = [];
      let length = 0;
      while (batch.length < ROWS_AT_ONCE && length < bytes) {
        const next = this.#rows.next();
        if (next.done === true) {
          done = true;
          break;
        }
        batch.push(next.value);
        for (const value of next.value)
          length += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
      }
      rows += batch.length;
      text +=
        this.#format === "csv" ? csvLines(batch.map((row) => row.map(csvValue))) : this.#jsonLines(batch);
    }
    return { text, rows, done };
  }

  #jsonLines(batch: readonly (readonly unknown[])[]): string {
    return batch
      .map(
        (row) =>
          `{${row.map((value, index) => `${this.#keys[index]}:${JSON.stringify(jsonValue(value))}`).join(",")}}\n`,
      )
      .join("");
  }
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
export class RowsIn {
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<unknown[]>;
  /** Counts what triggers of the table do; undefined if it has none. */
  readonly #watch: LossWatch | undefined;

  constructor(database: Database.Database, { insert, table, session }: RowsInJob) {
    this.#database = database;
    database.exec("BEGIN IMMEDIATE");
    const sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE";
    if (database.prepare(sql).get(table) !== undefined) {
      const statement = { sql: insert, params: [], verb: "INSERT", overwrites: false };
      this.#watch = new LossWatch(database, [statement], session, true);
    }
    this.#insert = database.prepare<unknown[]>(insert);
  }

  add(records: readonly CsvRecord[], progress: Progress): void {
    for (const { fields, line } of records) {
      progress.line = line;
      this.#insert.run(...fields);
    }
    progress.line = undefined;
  }

  /** What was lost through triggers, before `close`. */
  measure(): Measured {
    return this.#watch?.loss() ?? { loss: undefined, changes: [], agreed: [] };
  }

  close(commit: boolean): void {
    this.#database.exec(commit ? "COMMIT" : "ROLLBACK");
    this.#database.close();
  }
}
