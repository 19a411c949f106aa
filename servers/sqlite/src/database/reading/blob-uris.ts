import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";

/** Blobs up to this size, in bytes, are in the answer itself. */
const SMALL = 1_024;
/** Bytes of blobs that are held for the comparison. */
const MAX_HELD = 33_554_432;

/** Whether a value is a blob that an answer does not hold whole. */
export const isLarge = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length > SMALL;

interface Large {
  readonly table: string;
  readonly column: string;
  readonly rowId: bigint;
  readonly bytes: Uint8Array;
  readonly shown: object;
}

/**
 * Adds to large blobs of an answer the URI under which they can be read. A result says which column a value comes from, but
 * not which row: where the row's INTEGER PRIMARY KEY is also selected, its blob is compared, so that a join of a table with
 * itself can't return the URI of another row.
 */
export class BlobUris {
  readonly #database: Database.Database;
  readonly #columns: readonly Database.ColumnDefinition[];
  readonly #base: string | undefined;
  readonly #large: Large[] = [];
  readonly #keys = new Map<string, number | undefined>();
  #held = 0;

  /** @param base `blob://` and the database; undefined where none is wanted */
  constructor(
    database: Database.Database,
    columns: readonly Database.ColumnDefinition[],
    base: string | undefined,
  ) {
    this.#database = database;
    this.#columns = columns;
    this.#base = base;
    if (base === undefined) return;
    // Before the rows are read: while they are, the handle takes no other statement.
    for (const { table } of columns)
      if (table !== null && !this.#keys.has(table)) this.#keys.set(table, this.#keyOf(table));
  }

  /**
   * @param shown the row as it is answered, whose large blobs are objects
   * @returns characters that URIs may add to it
   */
  note(row: readonly unknown[], shown: readonly unknown[]): number {
    if (this.#base === undefined) return 0;
    let added = 0;
    for (const [index, value] of row.entries()) {
      if (!isLarge(value)) continue;
      const { table = null, column = null } = this.#columns[index] ?? {};
      const key = table === null ? undefined : this.#keys.get(table);
      const rowId = key === undefined ? undefined : row[key];
      const cell = shown[index];
      if (table === null || column === null || typeof rowId !== "bigint" || typeof cell !== "object")
        continue;
      if (cell === null || this.#held + value.length > MAX_HELD) continue;
      this.#held += value.length;
      this.#large.push({ table, column, rowId, bytes: value, shown: cell });
      added += this.#base.length + pathOf(table, column, rowId).length + 10;
    }
    return added;
  }

  /** Adds `uri` to the cells, once all rows are read. */
  find(): void {
    for (const { table, column, rowId, bytes, shown } of this.#large) {
      const sql = `SELECT 1 FROM ${quoteIdentifier(table)} WHERE rowid = ? AND ${quoteIdentifier(column)} IS ?`;
      if (this.#database.prepare(sql).get(rowId, bytes) === undefined) continue;
      Object.assign(shown, { uri: `${this.#base}/${pathOf(table, column, rowId)}` });
    }
  }

  /** Which column of the result is the table's rowid. */
  #keyOf(table: string): number | undefined {
    const [alias, ...more] = this.#database
      .prepare<unknown[], { name: string; type: string }>(
        "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0",
      )
      .all(table);
    const isRowId = more.length === 0 && alias?.type.toUpperCase() === "INTEGER";
    const isKey = (name: string | null) =>
      (isRowId && name === alias?.name) || name?.toLowerCase() === "rowid";
    const at = this.#columns.findIndex((column) => column.table === table && isKey(column.column));
    if (at < 0) return undefined;
    const flags =
      "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type = 'table' AND wr = 0";
    return this.#database.prepare(flags).get(table) === undefined ? undefined : at;
  }
}

const pathOf = (table: string, column: string, rowId: bigint) =>
  [table, column, String(rowId)].map(encodeURIComponent).join("/");
