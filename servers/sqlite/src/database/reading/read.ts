import type { Ahead, Bound } from "@refmcp/sql";
import { encodeRow, type Format, ROW_COST, rowWriter, SMALL_BLOB } from "@refmcp/sql/formats";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { preparedReading } from "../connection/handle.ts";

export interface ReadJob extends Ahead, Bound {
  readonly cellBytes: number;
  readonly format: Format;
  /** The base of the URIs of large blobs: `blob://` and the database; undefined for none. */
  readonly blobs: string | undefined;
}

/** The clock is checked after this many rows. */
const CLOCK_EVERY = 16;
/** Rows are joined in blocks of this size: many small long-lived strings slow down the garbage collector. */
const ROWS_AT_ONCE = 256;

/** A reading statement whose rows are arrays. */
export interface Prepared {
  readonly database: Database.Database;
  readonly statement: Database.Statement<unknown[], unknown[]>;
  readonly declared: readonly Database.ColumnDefinition[];
}

/** @throws an error of SQLite, and one with the code `REFMCP_WRITES` if the statement is not read-only */
export function preparedToRead(database: Database.Database, sql: string): Prepared {
  const statement = preparedReading(database, sql);
  statement.raw(true);
  return { database, statement, declared: statement.columns() };
}

/** The rows of a reading statement after `skip`, encoded for an answer, up to `chars` characters. */
export function read({ database, statement, declared }: Prepared, job: Omit<ReadJob, "sql">) {
  const withUris = blobUris(database, declared, job.blobs);
  const writer = rowWriter(
    job.format,
    declared.map(({ name }) => name),
    job.cellBytes,
  );
  const types: string[] = declared.map(({ type }) => type ?? "");
  let untyped = types.includes("");
  const texts: string[] = [];
  let pieces: string[] = [];
  let rows = 0;
  const cuts: number[] = [];
  const cut = { count: 0 };
  let before: string | undefined;
  let skip = job.skip;
  let chars = job.chars;
  let more = false;
  let until = performance.now() + job.ms;
  for (const row of statement.iterate(...job.params)) {
    if (skip > 0) {
      skip -= 1;
      if (skip > 0) continue;
      before = writer.write(row, cut);
      until = performance.now() + job.ms;
      continue;
    }
    const isLate = rows >= job.rows && rows % CLOCK_EVERY === 0 && performance.now() > until;
    if (chars <= 0 || isLate) {
      more = true;
      break;
    }
    cut.count = 0;
    const piece = row.some(isLarge)
      ? writer.writeEncoded(withUris(row, encodeRow(row, job.cellBytes, cut)))
      : writer.write(row, cut);
    if (cut.count > 0) cuts.push(rows);
    chars -= piece.length + ROW_COST;
    rows += 1;
    pieces.push(piece);
    if (pieces.length === ROWS_AT_ONCE) {
      texts.push(pieces.join("\n"));
      pieces = [];
    }
    if (untyped) {
      for (const [at, type] of types.entries()) if (type === "") types[at] = typeOf(row[at]);
      untyped = types.includes("");
    }
  }
  const columns = declared.map(({ name }, at) => ({ name, type: types[at] ?? "" }));
  // One text is sent to the server much faster than an array; the rows contain no line breaks.
  return { columns, text: texts.concat(pieces).join("\n"), rows, cuts, before, more };
}

/** A value's storage class in SQLite; empty for NULL. */
function typeOf(value: unknown): string {
  if (typeof value === "bigint") return "INTEGER";
  if (typeof value === "number") return "REAL";
  if (typeof value === "string") return "TEXT";
  return value === null ? "" : "BLOB";
}

/** Whether an answer has only the size of a value. */
const isLarge = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length > SMALL_BLOB;

/**
 * Adds the URI of the resource to large blobs in encoded rows. SQLite reports which column a value comes from, but not which
 * row. If the INTEGER PRIMARY KEY is also selected, that row's blob is compared with the value, so that a self-join can't
 * return the URI of another row.
 */
function blobUris(
  database: Database.Database,
  columns: readonly Database.ColumnDefinition[],
  base: string | undefined,
) {
  const isThere = (sql: string, ...values: unknown[]) =>
    database.prepare(sql).get(...values) !== undefined;
  /** The result column that is the rowid, by table; -1 for none. */
  const keys = new Map<string, number>();
  const keyOf = (table: string): number => {
    const known = keys.get(table);
    if (known !== undefined) return known;
    const [alias, ...more] = database
      .prepare<unknown[], { name: string; type: string }>(
        "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0",
      )
      .all(table);
    const isRowId = more.length === 0 && alias?.type.toUpperCase() === "INTEGER";
    const isKey = (name: string | null) =>
      (isRowId && name === alias?.name) || name?.toLowerCase() === "rowid";
    const flags =
      "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type = 'table' AND wr = 0";
    const at = isThere(flags, table)
      ? columns.findIndex((column) => column.table === table && isKey(column.column))
      : -1;
    keys.set(table, at);
    return at;
  };
  return (row: readonly unknown[], shown: readonly unknown[]): readonly unknown[] => {
    if (base === undefined) return shown;
    return shown.map((cell, index) => {
      const value = row[index];
      const { table = null, column = null } = columns[index] ?? {};
      if (!isLarge(value) || table === null || column === null) return cell;
      const rowId = row[keyOf(table)];
      const sql = `SELECT 1 FROM ${quoteIdentifier(table)} WHERE rowid = ? AND ${quoteIdentifier(column)} IS ?`;
      if (typeof rowId !== "bigint" || !isThere(sql, rowId, value)) return cell;
      const path = [table, column, String(rowId)].map(encodeURIComponent).join("/");
      return Object.assign(Object(cell), { uri: `${base}/${path}` });
    });
  };
}
