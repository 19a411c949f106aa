import type { Bound, Page } from "@refmcp/sql";
import { type Format, rowWriter } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { preparedReading } from "./handle.ts";

export interface ReadJob extends Page, Bound {
  readonly cellBytes: number;
  readonly format: Format;
}

/** Rows are joined in blocks of this size: many small long-lived strings slow down the garbage collector. */
const ROWS_AT_ONCE = 256;

/** A reading statement whose rows are arrays. */
export interface Prepared {
  readonly statement: Database.Statement<unknown[], unknown[]>;
  readonly declared: readonly Database.ColumnDefinition[];
}

/** @throws an error of SQLite, and one with the code `REFMCP_WRITES` if the statement is not read-only */
export function preparedToRead(database: Database.Database, sql: string): Prepared {
  const statement = preparedReading(database, sql);
  statement.raw(true);
  return { statement, declared: statement.columns() };
}

/** The rows of a reading statement after `skip`, encoded for an answer, up to `chars` characters. */
export function read({ statement, declared }: Prepared, job: Omit<ReadJob, "sql">) {
  const written = rowWriter(job.format, job.cellBytes);
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
  for (const row of statement.iterate(...job.params)) {
    if (skip > 0) {
      skip -= 1;
      if (skip === 0) before = written(row, cut);
      continue;
    }
    if (chars <= 0 || rows === job.rows) {
      more = true;
      break;
    }
    cut.count = 0;
    const piece = written(row, cut);
    if (cut.count > 0) cuts.push(rows);
    chars -= piece.length;
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
