import { createHash, type Hash } from "node:crypto";
import { encodeRow } from "@refmcp/sql/cells";
import { roomForRows, rowCost } from "@refmcp/sql/formats";
import type Database from "better-sqlite3";
import { demandReading } from "../connection/handle.ts";
import type { Job, ReadAnswer } from "../connection/protocol.ts";
import { BlobUris } from "./blob-uris.ts";

/** Texts are hashed by so many characters: one by one costs more than the hash. */
const HASHED_AT_ONCE = 65_536;

/**
 * A page of the rows of a reading statement: those after `skip`, as many as the limits and the answer take. The rows
 * before are read and hashed again, so that a page is only given where they are the same as when its cursor was made.
 */
export function read(database: Database.Database, job: Extract<Job, { op: "read" }>): ReadAnswer {
  const statement = database.prepare<unknown[], unknown[]>(job.sql);
  demandReading(statement);
  statement.raw(true);
  const declared = statement.columns();
  const names = declared.map(({ name, type }) => ({ name, type: type ?? "INTEGER" }));
  const blobs = new BlobUris(database, declared, job.blobs);
  const types: string[] = [];
  const marks = new Marks();
  const rows: unknown[][] = [];
  const cut = { count: 0 };
  let bytes = job.bytes;
  let room = roomForRows(names, job.budget);
  let cells = 0;
  let seen = 0;
  let stopped: ReadAnswer["stopped"];
  let moved = job.skip > 0;
  for (const row of statement.iterate(...job.params)) {
    if (seen >= job.skip && rows.length >= job.rows) {
      stopped = "rows";
      break;
    }
    const shown = encodeRow(row, job.cellBytes, cut);
    const text = JSON.stringify(shown);
    seen += 1;
    if (seen <= job.skip) {
      marks.add(text);
      cut.count = 0;
      if (seen < job.skip) continue;
      moved = marks.mark() !== job.mark;
      if (moved) break;
      continue;
    }
    bytes -= text.length;
    room -= job.format === "rows" ? text.length + 1 : rowCost(shown, names, job.format);
    // One row of any size is given, so that paging moves on.
    if (rows.length > 0 && (bytes < 0 || room < 0)) {
      stopped = "bytes";
      break;
    }
    marks.add(text);
    cells = cut.count;
    for (const [index, value] of row.entries()) types[index] ??= typeOf(value);
    room -= blobs.note(row, shown);
    rows.push(shown);
  }
  blobs.find();
  const columns = declared.map(({ name, type }, index) => ({ name, type: type ?? types[index] ?? "" }));
  return { columns, rows, mark: marks.mark(), stopped, cut: cells > 0, moved };
}

/** The hash of all rows so far. */
class Marks {
  readonly #hash: Hash = createHash("sha256");
  #pending = "";

  add(text: string): void {
    this.#pending += text;
    if (this.#pending.length < HASHED_AT_ONCE) return;
    this.#hash.update(this.#pending);
    this.#pending = "";
  }

  mark(): string {
    this.#hash.update(this.#pending);
    this.#pending = "";
    return this.#hash.copy().digest("base64url").slice(0, 16);
  }
}

/** SQLite's storage class of a value; empty for NULL. */
function typeOf(value: unknown): string {
  if (typeof value === "bigint") return "INTEGER";
  if (typeof value === "number") return "REAL";
  if (typeof value === "string") return "TEXT";
  return value === null ? "" : "BLOB";
}
