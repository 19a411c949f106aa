import type { Bound } from "@refmcp/sql";
import { type Mask, maskedNotice, masksOf } from "@refmcp/sql/masks";
import { quoteIdentifier } from "@refmcp/sql/names";
import { statementOf, type Token } from "@refmcp/sql/statement";
import type Database from "better-sqlite3";

interface MaskedTable {
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
interface Facts {
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

interface Masking {
  readonly masks: readonly Mask[];
  facts: Facts | undefined;
}

const maskings = new WeakMap<Database.Database, Masking>();
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

/** Makes `withMasks` check the statements of a handle. @param texts values of `--mask`; none checks nothing */
export function guardColumns(database: Database.Database, texts: readonly string[] = []): Database.Database {
  if (texts.length > 0) maskings.set(database, { masks: masksOf(texts), facts: undefined });
  return database;
}

/**
 * Runs a reading statement's work if SQLite's own bytecode proves that it reads no masked column; all in one transaction, so that
 * the schema stays the same. Temporary views, which SQLite finds before the tables, show the columns as NULL.
 *
 * @param work gets the notices for the answer
 * @throws an error with the code `REFMCP_MASKED`
 */
export function withMasks<Answer>(
  database: Database.Database,
  sql: string,
  params: readonly unknown[],
  work: (notices: string[]) => Answer,
): Answer {
  const masking = maskings.get(database);
  if (masking === undefined) return work([]);
  try {
    return work(provenReading(database, masking, sql, params));
  } finally {
    if (database.inTransaction) database.exec("COMMIT");
  }
}

/** Like `withMasks`, but leaves the transaction open for rows that are read later. @returns notices for the answer */
export function beginWithMasks(
  database: Database.Database,
  sql: string,
  params: readonly unknown[],
): string[] {
  const masking = maskings.get(database);
  return masking === undefined ? [] : provenReading(database, masking, sql, params);
}

function provenReading(
  database: Database.Database,
  masking: Masking,
  sql: string,
  params: readonly unknown[],
) {
  database.exec("BEGIN");
  const facts = factsOf(database, masking, true);
  const { first, tokens } = statementOf(sql);
  if (first === "PRAGMA") {
    if (tokens.some(({ text }) => /^(integrity|quick|foreign_key)_check$/i.test(plain(text))))
      throw refused("This PRAGMA checks the values of masked columns.");
    return [];
  }
  const inner = first === "EXPLAIN" ? sql.replace(/^.*?\bexplain\b(\s+query\s+plan\b)?/is, "") : sql;
  const indexed = new Set<MaskedTable>();
  opening(database, facts, inner, params, indexed);
  if (indexed.size > 0) {
    // An index in the order of masked values would show their order.
    masking.facts = undefined;
    install(database, facts, indexed);
    const still = new Set<MaskedTable>();
    opening(database, facts, inner, params, still);
    requireNone(still, "");
  }
  const shown = new Set(tokens.flatMap(({ text }) => facts.shown.get(plain(text)) ?? []));
  return shown.size === 0 ? [] : [maskedNotice(shown)];
}

interface Operation {
  readonly addr: bigint;
  readonly opcode: string;
  readonly p1: bigint;
  readonly p2: bigint;
  readonly p3: bigint;
}

interface Cursor {
  readonly roots: Set<number>;
  isWriting: boolean;
}

/**
 * What a statement opens, according to its bytecode.
 *
 * @param indexed gets the tables of which it reads an index with masked columns
 * @returns the tables with masked columns, and whether it changes them
 * @throws an error if it reads a masked column, except to store a changed row again
 */
function opening(
  database: Database.Database,
  facts: Facts,
  sql: string,
  params: readonly unknown[],
  indexed: Set<MaskedTable>,
): Map<MaskedTable, boolean> {
  const program = database.prepare<unknown[], Operation>(`EXPLAIN ${sql}`).all(...params);
  const opened = new Map<MaskedTable, boolean>();
  // Each trigger is a program with its own cursors.
  for (const part of programs(program)) {
    // Cursors may be opened after the instructions that use them.
    const cursors = new Map<number, Cursor>();
    for (const { opcode, p1, p2, p3 } of part) {
      if (!/^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode) || p3 !== 0n) continue;
      const root = Number(p2);
      const cursor = cursors.get(Number(p1)) ?? { roots: new Set(), isWriting: false };
      cursors.set(Number(p1), cursor);
      cursor.roots.add(root);
      cursor.isWriting ||= opcode === "OpenWrite";
    }
    for (const { opcode, p1, p2 } of part) {
      if (opcode === "VOpen" || opcode === "VUpdate") requireVisible(facts, sql);
      const cleared = opcode === "Clear" ? facts.tables.get(Number(p1)) : undefined;
      if (cleared !== undefined) opened.set(cleared, true);
      if (!/^(Column|Offset|RowData|RowCell)$/.test(opcode)) continue;
      const cursor = cursors.get(Number(p1));
      for (const root of cursor?.roots ?? []) {
        const table = facts.tables.get(root);
        const isRead = table?.places.has(Number(p2)) === true || opcode.startsWith("Row");
        if (table !== undefined && isRead && cursor?.isWriting !== true)
          throw refused(`The statement reads masked columns of ${table.name}.`, table);
      }
    }
    for (const { roots, isWriting } of cursors.values())
      for (const root of roots) {
        const blocked = facts.blocked.get(root);
        if (blocked !== undefined) throw refused(`${blocked} can show values of masked columns.`);
        const index = facts.indexes.get(root);
        if (index !== undefined && !isWriting) indexed.add(index);
        const table = facts.tables.get(root);
        if (table === undefined) continue;
        if (table.isKeyed && !isWriting)
          throw refused(`A masked column is the key of ${table.name}, in whose order it is stored.`, table);
        opened.set(table, isWriting || opened.get(table) === true);
      }
  }
  return opened;
}

/** @throws an error if there is an index that would show the order of masked values */
function requireNone(indexed: ReadonlySet<MaskedTable>, hint: string): void {
  for (const table of indexed)
    throw refused(`The statement uses an index on masked columns of ${table.name}.${hint}`, table);
}

/** Checks a statement without temporary views. @throws an error with the code `REFMCP_MASKED` if it reads a masked column */
export function requireUnmasked(
  database: Database.Database,
  texts: readonly string[] = [],
  { sql, params }: Bound,
): void {
  if (texts.length === 0) return;
  const indexed = new Set<MaskedTable>();
  opening(
    database,
    factsOf(database, { masks: masksOf(texts), facts: undefined }, false),
    sql,
    params,
    indexed,
  );
  requireNone(indexed, "");
}

function programs(all: readonly Operation[]): Operation[][] {
  const parts: Operation[][] = [];
  for (const operation of all) {
    if (operation.addr === 0n) parts.push([]);
    parts.at(-1)?.push(operation);
  }
  return parts;
}

/** @throws an error unless the names in a statement with virtual tables, and in the views, are of none that reads masked columns */
function requireVisible({ hidden, views }: Facts, sql: string): void {
  const found = [sql, ...views]
    .flatMap((text) => statementOf(text).tokens)
    .find(({ text }) => hidden.has(plain(text)));
  if (found !== undefined) throw refused(`${plain(found.text)} can show values of masked columns.`);
}

/**
 * Checks a changing statement before it runs. It may set masked columns, but not read them: its bytecode may not, except to store
 * a changed row again, and in its text they may only be set.
 *
 * @throws an error with the code `REFMCP_MASKED`
 */
export function passMaskedChange(database: Database.Database, sql: string, params: readonly unknown[]): void {
  const masking = maskings.get(database);
  if (masking === undefined) return;
  const facts = factsOf(database, masking, false);
  const { verb, tokens } = statementOf(sql);
  const names = new Set([...facts.tables.values()].map(({ name }) => name.toLowerCase()));
  const kind = tokens.slice(1, 3).map(({ text }) => text.toUpperCase());
  const select = tokens.findIndex(({ text, depth }) => depth === 0 && text.toUpperCase() === "AS") + 1;
  const isCopy = kind[0] === "TABLE" && /^(SELECT|WITH|VALUES)$/i.test(tokens[select]?.text ?? "");
  if (verb === "DROP" || verb === "REINDEX" || verb === "ANALYZE") return;
  if (verb === "CREATE" && kind.includes("TRIGGER")) throw refused("A trigger could copy masked columns.");
  if ((verb === "CREATE" && !kind.includes("VIEW") && !isCopy) || verb === "ALTER") {
    const named = tokens.find(({ text }) => names.has(plain(text)) || facts.hidden.has(plain(text)));
    if (named !== undefined)
      throw refused(`${verb} can't name ${plain(named.text)}, which has masked columns.`);
  }
  const indexed = new Set<MaskedTable>();
  const opened = opening(database, facts, sql, params, indexed);
  for (const [table, isWriting] of opened) if (isWriting) requireBlind(table, tokens);
  requireNone(indexed, " Write NOT INDEXED after its name.");
}

const ENDS_SET = /^(WHERE|FROM|RETURNING|ORDER|LIMIT|ON)$/i;

/** @throws an error if a change names a masked column other than to set it, or returns whole rows */
function requireBlind(table: MaskedTable, tokens: readonly Token[]): void {
  const names = new Set([...table.masked].map((name) => name.toLowerCase()));
  if (table.isKeyed) for (const name of ["rowid", "oid", "_rowid_"]) names.add(name);
  let isSet = false;
  let isReturning = false;
  let list: number | undefined;
  for (const [at, { text, depth, kind }] of tokens.entries()) {
    const [before = "", after = ""] = [tokens[at - 1]?.text.toUpperCase(), tokens[at + 1]?.text];
    const isWord = kind === "word" && depth === 0;
    if (isWord && text.toUpperCase() === "SET") isSet = true;
    else if (isWord && ENDS_SET.test(text)) isSet = false;
    if (isWord && text.toUpperCase() === "RETURNING") isReturning = true;
    // The first parentheses of an INSERT are its columns.
    if (
      text === "(" &&
      depth === 0 &&
      list === undefined &&
      /^(INSERT|REPLACE|WITH)$/i.test(tokens[0]?.text ?? "")
    )
      list = isInto(tokens, at) ? at : -1;
    if (text === ")" && depth === 0 && list !== undefined && list >= 0) list = -1;
    if (isReturning && text === "*")
      throw refused(`RETURNING * shows masked columns of ${table.name}.`, table);
    if (!names.has(plain(text))) continue;
    const sets = isSet && depth === 0 && (before === "SET" || before === ",") && after === "=";
    const lists =
      list !== undefined && list >= 0 && depth === 1 && /^[(,]$/.test(before) && /^[),]$/.test(after);
    if (!sets && !lists)
      throw refused(`The change reads the masked column ${plain(text)} of ${table.name}.`, table);
  }
}

/** Whether a parenthesis follows `INTO name`, with a schema or an alias. */
function isInto(tokens: readonly Token[], at: number): boolean {
  const text = (back: number) => tokens[at - back]?.text.toUpperCase();
  const names = text(2) === "AS" ? 2 : 0;
  return text(names + 2) === "INTO" || (text(names + 2) === "." && text(names + 4) === "INTO");
}

/** A name without quotes, in lower case. */
const plain = (text: string) =>
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

/** The facts of the schema as it is now, with temporary views on a reading handle. */
function factsOf(database: Database.Database, masking: Masking, hasViews: boolean): Facts {
  const version = String(database.pragma("main.schema_version", { simple: true }));
  if (masking.facts?.version === version) return masking.facts;
  const facts = readFacts(database, masking.masks, version);
  if (hasViews) install(database, facts, new Set());
  masking.facts = facts;
  return facts;
}

function readFacts(database: Database.Database, masks: readonly Mask[], version: string): Facts {
  const rules = masks.map((mask) =>
    [mask.schema ?? "^main$", mask.table, mask.column].map((one) => new RegExp(one, "is")),
  );
  const isMasked = (table: string, column: string) =>
    rules.some(([schema, name, part]) => schema?.test("main") && name?.test(table) && part?.test(column));
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
  for (const module of database.prepare<[], string>("SELECT name FROM pragma_module_list").pluck().all())
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
    if (first !== undefined && first.root !== null && (isShadow || /^sqlite_stat/i.test(name)))
      blocked.set(Number(first.root), name);
  }
  const indexes = new Map<number, MaskedTable>();
  const names = new Map([...tables.values()].map((table) => [table.name.toLowerCase(), table]));
  for (const row of database
    .prepare<[], { root: bigint; table: string; partial: bigint; computed: bigint; columns: string }>(INDEXES)
    .all()) {
    const table = names.get(row.table.toLowerCase());
    const columns: (string | null)[] = JSON.parse(row.columns);
    if (
      table !== undefined &&
      (row.partial + row.computed > 0n || columns.some((one) => one !== null && table.masked.has(one)))
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
  isMasked: (table: string, column: string) => boolean,
): MaskedTable {
  const name = rows[0]?.table ?? "";
  // Generated columns may be made of masked ones.
  const masked = new Set(
    rows.filter((row) => row.hidden >= 2n || isMasked(name, row.column)).map(({ column }) => column),
  );
  const isWithoutRowId = rows[0]?.wr === 1n;
  const stored = rows.filter(({ hidden }) => hidden !== 2n);
  const keys = rows.filter(({ pk }) => pk > 0n);
  const isRowId = !isWithoutRowId && keys.length === 1 && /^integer$/i.test(keys[0]?.declared ?? "");
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

/** Temporary views for the tables with masked columns, and for all views, which then read these. */
function install(
  database: Database.Database,
  { tables, views }: Facts,
  unindexed: ReadonlySet<MaskedTable>,
): void {
  const old = database
    .prepare<[], string>("SELECT name FROM sqlite_temp_schema WHERE type = 'view'")
    .pluck()
    .all();
  database.pragma("query_only=OFF");
  try {
    for (const name of old) database.exec(`DROP VIEW temp.${quoteIdentifier(name)}`);
    if (tables.size === 0) return;
    for (const table of tables.values()) {
      const columns = table.columns.map(
        (name) => `${table.masked.has(name) ? "NULL AS " : ""}${quoteIdentifier(name)}`,
      );
      const name = quoteIdentifier(table.name);
      database.exec(
        `CREATE TEMP VIEW ${name} AS SELECT ${columns.join(", ")} FROM main.${name}${unindexed.has(table) ? " NOT INDEXED" : ""}`,
      );
    }
    for (const sql of views) database.exec(sql.replace(/^CREATE VIEW/i, "CREATE TEMP VIEW"));
  } finally {
    database.pragma("query_only=ON");
  }
}

const refused = (message: string, table?: MaskedTable) =>
  Object.assign(
    new Error(table === undefined ? message : `${message} Masked: ${[...table.masked].sort().join(", ")}.`),
    { code: "REFMCP_MASKED" },
  );
