import type { Bound } from "@refmcp/sql";
import { maskedNotice } from "@refmcp/sql/masks";
import { quoteIdentifier } from "@refmcp/sql/names";
import { statementOf, type Token } from "@refmcp/sql/statement";
import type Database from "better-sqlite3";
import {
  type Facts,
  type IsMasked,
  type MaskedTable,
  maskTest,
  plain,
  readFacts,
} from "./mask-facts.ts";

interface Masking {
  readonly isMasked: IsMasked;
  facts: Facts | undefined;
}

const maskings = new WeakMap<Database.Database, Masking>();
/** Makes `withMasks` check the statements of a handle. @param texts values of `--mask`; none checks nothing */
export function guardColumns(
  database: Database.Database,
  texts: readonly string[] = [],
): Database.Database {
  if (texts.length > 0) maskings.set(database, { isMasked: maskTest(texts), facts: undefined });
  return database;
}

/** How a guarded handle masks columns; undefined if it does not. */
export const maskingOf = (
  database: Database.Database,
): { readonly isMasked: IsMasked } | undefined => maskings.get(database);

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

const SPACE = "(?:\\s|--[^\\n]*(?:\\n|$)|/\\*[^]*?\\*/)*";
const EXPLAIN = new RegExp(`^${SPACE}explain\\b(?:${SPACE}query${SPACE}plan\\b)?`, "i");

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
  const inner = first === "EXPLAIN" ? sql.replace(EXPLAIN, "") : sql;
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
          throw refused(
            `A masked column is the key of ${table.name}, in whose order it is stored.`,
            table,
          );
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
    factsOf(database, { isMasked: maskTest(texts), facts: undefined }, false),
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
export function passMaskedChange(database: Database.Database, { sql, params }: Bound): void {
  const masking = maskings.get(database);
  if (masking === undefined) return;
  const facts = factsOf(database, masking, false);
  const { verb, tokens } = statementOf(sql);
  const names = new Set([...facts.tables.values()].map(({ name }) => name.toLowerCase()));
  const kind = tokens.slice(1, 3).map(({ text }) => text.toUpperCase());
  const select =
    tokens.findIndex(({ text, depth }) => depth === 0 && text.toUpperCase() === "AS") + 1;
  const isCopy = kind[0] === "TABLE" && /^(SELECT|WITH|VALUES)$/i.test(tokens[select]?.text ?? "");
  if (verb === "DROP" || verb === "REINDEX" || verb === "ANALYZE") return;
  // Also through a view that is created later.
  if (verb === "CREATE" && kind.includes("TRIGGER"))
    throw refused("A trigger could copy masked columns.");
  if ((verb === "CREATE" && !kind.includes("VIEW") && !isCopy) || verb === "ALTER") {
    const named = tokens.find(
      ({ text }) => names.has(plain(text)) || facts.hidden.has(plain(text)),
    );
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
      list !== undefined &&
      list >= 0 &&
      depth === 1 &&
      /^[(,]$/.test(before) &&
      /^[),]$/.test(after);
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

/** The facts of the current schema, with temporary views on a reading handle. */
function factsOf(database: Database.Database, masking: Masking, hasViews: boolean): Facts {
  const version = String(database.pragma("main.schema_version", { simple: true }));
  if (masking.facts?.version === version) return masking.facts;
  const facts = readFacts(database, masking.isMasked, version);
  if (hasViews) install(database, facts, new Set());
  masking.facts = facts;
  return facts;
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
    for (const sql of views)
      try {
        database.exec(sql.replace(/^CREATE VIEW/i, "CREATE TEMP VIEW"));
      } catch {
        // Then a statement reads the view itself, and is refused if that reads masked columns.
      }
  } finally {
    database.pragma("query_only=ON");
  }
}

const refused = (message: string, table?: MaskedTable) =>
  Object.assign(
    new Error(
      table === undefined ? message : `${message} Masked: ${[...table.masked].sort().join(", ")}.`,
    ),
    { code: "REFMCP_MASKED" },
  );
