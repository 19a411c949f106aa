import { masksOf } from "@refmcp/sql/masks";
import { statementOf } from "@refmcp/sql/statement";
import type Database from "better-sqlite3";

export interface MaskedTable {
  readonly name: string;
  /** All columns that a view of it shows, in order. */
  readonly columns: readonly string[];
  readonly masked: ReadonlySet<string>;
  /** The positions of the masked columns in a record of its b-tree. */
  readonly places: ReadonlySet<number>;
  /** A masked column is the key, in whose order the table is stored. */
  readonly isKeyed: boolean;
}

/** What a schema makes of the masks, by the root pages of b-trees. */
export interface Facts {
  readonly version: string;
  readonly tables: ReadonlyMap<number, MaskedTable>;
  /** Indexes that have a masked column, an expression or a condition, and their tables. */
  readonly indexes: ReadonlyMap<number, MaskedTable>;
  /** Tables with samples of other tables. */
  readonly blocked: ReadonlyMap<number, string>;
  /** Virtual tables and modules, in lower case, that read tables without SQLite's bytecode. */
  readonly hidden: ReadonlySet<string>;
  /** The definitions of views. */
  readonly views: readonly string[];
  /** What tables and views with masked columns hide, by their names in lower case. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
}

/** Virtual tables of SQLite that read their arguments, or the schema. */
const HARMLESS_MODULE =
  /^(json_each|json_tree|generate_series|pragma_(?!integrity_check|quick_check|foreign_key_check))/;
const CHECKING = [
  "pragma_integrity_check",
  "pragma_quick_check",
  "pragma_foreign_key_check",
  "dbstat",
  "sqlite_dbpage",
];

/** A name without quotes, in lower case. */
export const plain = (text: string) =>
  (/^(["'`[])(.*)["'`\]]$/s.exec(text)?.[2] ?? text).replace(/(["'`])\1/g, "$1").toLowerCase();

interface ColumnRow {
  readonly table: string;
  readonly type: string;
  readonly wr: bigint;
  readonly root: bigint | null;
  readonly sql: string | null;
  readonly column: string;
  readonly cid: bigint;
  readonly declared: string;
  readonly pk: bigint;
  readonly hidden: bigint;
}

const COLUMNS = `SELECT l.name AS "table", l.type, l.wr, s.rootpage AS root, s.sql, c.name AS "column", c.cid, c.type AS declared, c.pk, c.hidden
  FROM pragma_table_list l JOIN pragma_table_xinfo(l.name, 'main') c LEFT JOIN main.sqlite_schema s ON s.name = l.name AND s.type = 'table'
  WHERE l.schema = 'main' AND l.type IN ('table', 'virtual', 'shadow') ORDER BY l.name, c.cid`;
const INDEXES = `SELECT s.rootpage AS root, s.tbl_name AS "table", max(i.partial) AS partial, max(c.cid = -2) AS computed, json_group_array(c.name) AS columns
  FROM main.sqlite_schema s JOIN pragma_index_list(s.tbl_name, 'main') i ON i.name = s.name JOIN pragma_index_xinfo(s.name, 'main') c
  WHERE s.type = 'index' AND c.key = 1 GROUP BY s.name`;

/** Whether the masks name a column. */
export type IsMasked = (table: string, column: string) => boolean;

/** @param texts values of `--mask` */
export function maskTest(texts: readonly string[] = []): IsMasked {
  const rules = masksOf(texts).map((mask) =>
    [mask.schema ?? "^main$", mask.table, mask.column].map((one) => new RegExp(one, "is")),
  );
  return (table, column) =>
    rules.some(
      ([schema, name, part]) => schema?.test("main") && name?.test(table) && part?.test(column),
    );
}

/** Reads from the schema where masked columns are stored, and what else shows them. @param version of the schema */
export function readFacts(database: Database.Database, isMasked: IsMasked, version: string): Facts {
  const byTable = new Map<string, ColumnRow[]>();
  for (const row of database.prepare<[], ColumnRow>(COLUMNS).all()) {
    const rows = byTable.get(row.table);
    if (rows === undefined) byTable.set(row.table, [row]);
    else rows.push(row);
  }
  const tables = new Map<number, MaskedTable>();
  const reading = new Set<string>();
  for (const [name, rows] of byTable) {
    if (!rows.some(({ column }) => isMasked(name, column))) continue;
    reading.add(name.toLowerCase());
    const [first] = rows;
    if (first?.root === null || first?.type !== "table") continue;
    tables.set(Number(first.root), maskedTable(database, rows, isMasked));
  }
  const hidden = new Set<string>(CHECKING);
  for (const module of database
    .prepare<[], string>("SELECT name FROM pragma_module_list")
    .pluck()
    .all())
    if (!HARMLESS_MODULE.test(module)) hidden.add(module);
  const virtual = [...byTable].filter(([, [first]]) => first?.type === "virtual");
  for (let size = -1; size < hidden.size; ) {
    size = hidden.size;
    for (const [name, [first]] of virtual) {
      // A content table, or the index that a vocabulary is about; its own name and module don't count.
      const words = statementOf(first?.sql ?? "")
        .tokens.slice(4)
        .map(({ text }) => plain(text));
      if (reading.has(name.toLowerCase()) || words.some((word) => reading.has(word))) {
        hidden.add(name.toLowerCase());
        reading.add(name.toLowerCase());
      }
    }
  }
  const blocked = new Map<number, string>();
  for (const [name, [first]] of byTable) {
    const isShadow =
      first?.type === "shadow" &&
      virtual.some(([owner]) => reading.has(owner.toLowerCase()) && name.startsWith(`${owner}_`));
    // The highest key of each table is in sqlite_sequence.
    const isSample = /^sqlite_(stat|sequence)/i.test(name);
    if (first !== undefined && first.root !== null && (isShadow || isSample))
      blocked.set(Number(first.root), name);
  }
  const indexes = new Map<number, MaskedTable>();
  const names = new Map([...tables.values()].map((table) => [table.name.toLowerCase(), table]));
  for (const row of database
    .prepare<
      [],
      { root: bigint; table: string; partial: bigint; computed: bigint; columns: string }
    >(INDEXES)
    .all()) {
    const table = names.get(row.table.toLowerCase());
    const columns: (string | null)[] = JSON.parse(row.columns);
    if (
      table !== undefined &&
      (table.isKeyed ||
        row.partial + row.computed > 0n ||
        columns.some((one) => one !== null && table.masked.has(one)))
    )
      indexes.set(Number(row.root), table);
  }
  const views = database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'",
    )
    .all();
  const shown = new Map<string, readonly string[]>();
  for (const { name, masked } of tables.values())
    shown.set(
      name.toLowerCase(),
      [...masked].map((column) => `${name}.${column}`),
    );
  for (let size = -1; size < shown.size; ) {
    size = shown.size;
    for (const { name, sql } of views) {
      const read = statementOf(sql)
        .tokens.slice(3)
        .flatMap(({ text }) => shown.get(plain(text)) ?? []);
      if (read.length > 0 && !shown.has(name.toLowerCase())) shown.set(name.toLowerCase(), read);
    }
  }
  return { version, tables, indexes, blocked, hidden, views: views.map(({ sql }) => sql), shown };
}

function maskedTable(
  database: Database.Database,
  rows: readonly ColumnRow[],
  isMasked: IsMasked,
): MaskedTable {
  const name = rows[0]?.table ?? "";
  // Generated columns may be made of masked ones.
  const masked = new Set(
    rows
      .filter((row) => row.hidden >= 2n || isMasked(name, row.column))
      .map(({ column }) => column),
  );
  const isWithoutRowId = rows[0]?.wr === 1n;
  const stored = rows.filter(({ hidden }) => hidden !== 2n);
  const keys = rows.filter(({ pk }) => pk > 0n);
  const isRowId =
    !isWithoutRowId && keys.length === 1 && /^integer$/i.test(keys[0]?.declared ?? "");
  const order = isWithoutRowId
    ? database
        .prepare<[string], string>(
          "SELECT x.name FROM pragma_index_list(?, 'main') i JOIN pragma_index_xinfo(i.name, 'main') x WHERE i.origin = 'pk' ORDER BY x.seqno",
        )
        .pluck()
        .all(name)
    : stored.map(({ column }) => column);
  return {
    name,
    columns: rows.filter(({ hidden }) => hidden !== 1n).map(({ column }) => column),
    masked,
    places: new Set(order.flatMap((column, at) => (masked.has(column) ? [at] : []))),
    isKeyed: (isWithoutRowId || isRowId) && keys.some(({ column }) => masked.has(column)),
  };
}
