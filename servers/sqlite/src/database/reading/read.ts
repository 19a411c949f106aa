import { encodeRow } from "@refmcp/sql/cells";
import { ROW_COST, rowWriter } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { requireReadOnly } from "../connection/handle.ts";
import type { Job, ReadAnswer } from "../connection/protocol.ts";
import { BlobUris, isLarge } from "./blob-uris.ts";

/** The clock is checked after this many rows. */
const CLOCK_EVERY = 16;
/** Rows are joined in blocks of this size: many small long-lived strings slow down the garbage collector. */
const ROWS_AT_ONCE = 256;

/** The rows of a reading statement after `skip`, encoded for an answer, up to `chars` characters. */
export function read(database: Database.Database, job: Extract<Job, { op: "read" }>): ReadAnswer {
  const statement = database.prepare<unknown[], unknown[]>(job.sql);
  requireReadOnly(statement);
  statement.raw(true);
  const declared = statement.columns();
  const blobs = new BlobUris(database, declared, job.blobs);
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
      ? writer.writeEncoded(blobs.add(row, encodeRow(row, job.cellBytes, cut)))
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
