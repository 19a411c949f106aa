import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { rowsFrom, valuesFrom } from "../driver/rows.ts";

/** How the rows of a table are read, found and restored, in SQL. */
export interface Shape {
  readonly name: string;
  /** Columns with their own values; generated ones are left out. */
  readonly columns: readonly string[];
  /** What identifies a row: the rowid, or the primary key of a table without one. In SQL. */
  readonly key: readonly string[];
  /** The collations of `key`. */
  readonly collations: readonly string[];
  readonly hasRowid: boolean;
}

/** A query can return two states of a row with this many columns. */
const MAX_COLUMNS = 900;

const PRIMARY_COLLATIONS = `SELECT x.coll FROM pragma_index_list(?) i, pragma_index_xinfo(i.name) x
  WHERE i.origin = 'pk' AND x.key = 1 ORDER BY x.seqno`;

/** The shape of a table; or why changes of its rows can't be recorded; undefined if there is no such table. */
export function shapeOf(
  database: Database.Database,
  name: string,
): Shape | { reason: string } | undefined {
  const [table] = rowsFrom<{ name: string; type: string; wr: bigint }>(
    database,
    "SELECT name, type, wr FROM pragma_table_list(?) WHERE schema = 'main'",
    name,
  );
  if (table === undefined || table.type === "view") return undefined;
  if (table.type !== "table")
    return { reason: `changes of the virtual table ${table.name} are not recorded` };
  const tooUnusual = { reason: `changes of ${table.name} are not recorded` };
  if (table.name.startsWith("sqlite_")) return tooUnusual;
  const definitions = rowsFrom<{ name: string; pk: bigint; hidden: bigint }>(
    database,
    "SELECT name, pk, hidden FROM pragma_table_xinfo(?)",
    name,
  );
  const columns = definitions.filter(({ hidden }) => hidden === 0n).map((column) => column.name);
  const names = new Set(definitions.map((column) => column.name.toLowerCase()));
  const rowid = ["rowid", "_rowid_", "oid"].find((alias) => !names.has(alias));
  const hasRowid = table.wr === 0n;
  if (columns.length > MAX_COLUMNS || (hasRowid && rowid === undefined)) return tooUnusual;
  const primary = definitions.filter(({ pk }) => pk > 0n).sort((a, b) => Number(a.pk - b.pk));
  const key = hasRowid ? [rowid ?? ""] : primary.map((column) => quoteIdentifier(column.name));
  const collations = hasRowid ? ["BINARY"] : valuesFrom<string>(database, PRIMARY_COLLATIONS, name);
  return { name: table.name, columns, key, collations, hasRowid };
}

/** A value of SQLite in JSON: what JSON does not have as an object, and a number with a fraction is REAL. */
export type Value =
  | null
  | string
  | number
  | { readonly i: string }
  | { readonly r: string }
  | { readonly b: string }
  /** Text that is not valid Unicode: its bytes. */
  | { readonly t: string };

/** A value as the driver returns it. @param bytes of a text that may not be valid Unicode */
export function encodeValue(value: unknown, bytes?: unknown): Value {
  if (value === null) return null;
  if (typeof value === "bigint") {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : { i: value.toString() };
  }
  if (typeof value === "number") {
    const hasFraction = Number.isFinite(value) && !Number.isInteger(value);
    return hasFraction ? value : { r: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value instanceof Uint8Array) return { b: Buffer.from(value).toString("base64") };
  if (typeof value === "string" && bytes === undefined) return value;
  if (!(bytes instanceof Uint8Array) || Buffer.from(bytes).equals(Buffer.from(String(value))))
    return String(value);
  return { t: Buffer.from(bytes).toString("base64") };
}

/** What the driver binds for a value; text that is not valid Unicode as bytes, for `CAST(? AS TEXT)`. */
export function decodeValue(value: Value): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value === "string") return value;
  if ("i" in value) return BigInt(value.i);
  if ("r" in value) return Number(value.r);
  return Buffer.from("b" in value ? value.b : value.t, "base64");
}

/** The parameter for a value. */
export const placeFor = (value: Value) =>
  typeof value === "object" && value !== null && "t" in value ? "CAST(? AS TEXT)" : "?";

/** Tells whether the driver may have changed text of a row that is not valid Unicode. SQLite converts UTF-16 itself. */
export function doubtOf(database: Database.Database): (row: readonly unknown[]) => boolean {
  const isUtf8 = database.pragma("encoding", { simple: true }) === "UTF-8";
  return (row) =>
    row.some((value) => typeof value === "string" && (!isUtf8 || value.includes("\ufffd")));
}

/** A column as bytes if it is text, in SQL. */
export const asBytes = (column: string) =>
  `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) END`;
