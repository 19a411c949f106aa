import { SMALL_BLOB } from "@refmcp/sql/cells";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";

/** Whether an answer has only the size of a value. */
export const isLarge = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length > SMALL_BLOB;

/**
 * Adds the URI of the resource to large blobs in an answer. SQLite reports which column a value comes from, but not which
 * row. If the INTEGER PRIMARY KEY is also selected, that row's blob is compared with the value, so that a self-join can't
 * return the URI of another row.
 */
export class BlobUris {
  readonly #database: Database.Database;
  readonly #columns: readonly Database.ColumnDefinition[];
  readonly #base: string | undefined;
  /** The result column that is the rowid, by table. */
  readonly #keys = new Map<string, number>();

  /** @param base `blob://` and the database; undefined to add none */
  constructor(
    database: Database.Database,
    columns: readonly Database.ColumnDefinition[],
    base: string | undefined,
  ) {
    this.#database = database;
    this.#columns = columns;
    this.#base = base;
  }

  /**
   * @param shown the encoded row, in which large blobs are objects
   * @returns the encoded row with URIs
   */
  add(row: readonly unknown[], shown: readonly unknown[]): readonly unknown[] {
    if (this.#base === undefined) return shown;
    return shown.map((cell, index) => {
      const value = row[index];
      const { table = null, column = null } = this.#columns[index] ?? {};
      if (!isLarge(value) || table === null || column === null) return cell;
      const rowId = row[this.#keyOf(table)];
      const sql = `SELECT 1 FROM ${quoteIdentifier(table)} WHERE rowid = ? AND ${quoteIdentifier(column)} IS ?`;
      if (typeof rowId !== "bigint" || this.#database.prepare(sql).get(rowId, value) === undefined)
        return cell;
      const path = [table, column, String(rowId)].map(encodeURIComponent).join("/");
      return Object.assign(Object(cell), { uri: `${this.#base}/${path}` });
    });
  }

  /** The result column that is the table's rowid; -1 for none. */
  #keyOf(table: string): number {
    const known = this.#keys.get(table);
    if (known !== undefined) return known;
    const [alias, ...more] = this.#database
      .prepare<unknown[], { name: string; type: string }>(
        "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0",
      )
      .all(table);
    const isRowId = more.length === 0 && alias?.type.toUpperCase() === "INTEGER";
    const isKey = (name: string | null) =>
      (isRowId && name === alias?.name) || name?.toLowerCase() === "rowid";
    const flags =
      "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type = 'table' AND wr = 0";
    const hasRowId = this.#database.prepare(flags).get(table) !== undefined;
    const at = hasRowId
      ? this.#columns.findIndex((column) => column.table === table && isKey(column.column))
      : -1;
    this.#keys.set(table, at);
    return at;
  }
}
