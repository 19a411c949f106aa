import { randomBytes } from "node:crypto";
import type { Bound } from "@refmcp/sql";
import { type Column, encodeRow } from "@refmcp/sql/formats";
import { LossTally, type RowCounts, type SessionChanges } from "@refmcp/sql/loss";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import type { Progress } from "../connection/handle.ts";
import { passMaskedChange } from "../gate/masks.ts";

/** A changing statement, as classified by its text. */
export interface WriteStatement extends Bound {
  readonly verb: string;
  /** The schema object that it removes, and its table. */
  readonly structure?: string;
  readonly table?: string;
  /** The table that it inserts into, updates or deletes from, as written. */
  readonly target?: string;
  /** Whether it may replace rows: REPLACE, ON CONFLICT DO UPDATE. */
  readonly overwrites: boolean;
}

export interface WriteJob {
  readonly statements: readonly WriteStatement[];
  readonly dryRun: boolean;
  /** Maximum characters of all RETURNING rows. */
  readonly returnedBytes: number;
  readonly agreedLoss: string | undefined;
  readonly session: SessionChanges;
}

interface Returned {
  /** The number of the statement, from 1. */
  readonly statement: number;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  readonly more: number;
}

/**
 * Runs the statements in one transaction. Commits if the loss is the one that was agreed to, and rolls back otherwise.
 *
 * @param progress updated with the current statement, for errors
 */
export function change(database: Database.Database, job: WriteJob, progress: Progress) {
  // Most changes need no second run, which counts the rows of other tables that triggers and foreign keys change.
  const answer = attempt(database, job, progress, false) ?? attempt(database, job, progress, true);
  if (answer === undefined) throw new Error("not everything was counted");
  return answer;
}

/** @returns undefined if `isCounting` is needed; nothing is changed then */
function attempt(database: Database.Database, job: WriteJob, progress: Progress, isCounting: boolean) {
  const changes: number[] = [];
  const returned: Returned[] = [];
  let bytes = job.returnedBytes;
  let lastRowId = "0";
  database.exec("BEGIN IMMEDIATE");
  try {
    const watch = new LossWatch(database, job.statements, job.session, isCounting);
    for (const [index, statement] of job.statements.entries()) {
      progress.at = index;
      const done = run(database, statement, watch, { at: index + 1, bytes });
      changes.push(done.changed);
      if (done.returned !== undefined) {
        returned.push(done.returned);
        bytes -= JSON.stringify(done.returned).length;
      }
      if (done.changed > 0 && (statement.verb === "INSERT" || statement.verb === "REPLACE"))
        lastRowId = String(single(database, "SELECT last_insert_rowid()"));
    }
    if (watch.isHidden && !isCounting && mayLose(database, job.statements)) return undefined;
    const { loss, ...session } = watch.loss();
    const committed = !job.dryRun && loss === job.agreedLoss;
    database.exec(committed ? "COMMIT" : "ROLLBACK");
    return { committed, loss, session, undo: watch.undo, changes, lastRowId, returned };
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
  }
}

function run(
  database: Database.Database,
  given: WriteStatement,
  watch: LossWatch,
  space: { at: number; bytes: number },
): { changed: number; returned: Returned | undefined } {
  // First, so that invalid SQL fails before its names are used.
  const statement = database.prepare<unknown[], unknown[]>(given.sql);
  passMaskedChange(database, given.sql, given.params);
  const before = watch.before(given);
  const total = totalOf(database);
  const returned = statement.reader ? returnedRows(statement.raw(true), given.params, space) : undefined;
  if (returned === undefined) statement.run(...given.params);
  const touched = totalOf(database) - total;
  // changes() is about the last INSERT, UPDATE or DELETE; other statements leave it unchanged.
  const isCounted = ["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(given.verb);
  const changed = isCounted ? Number(single(database, "SELECT changes()")) : 0;
  watch.add(given, before, { touched, changed });
  return { changed, returned };
}

/** Runs the whole statement, and returns as many RETURNING rows as fit. */
function returnedRows(
  statement: Database.Statement<unknown[], unknown[]>,
  params: readonly unknown[],
  { at, bytes }: { at: number; bytes: number },
): Returned {
  const columns: Column[] = statement.columns().map(({ name, type }) => ({ name, type: type ?? "" }));
  const rows: unknown[][] = [];
  let space = bytes;
  let more = 0;
  for (const row of statement.iterate(...params)) {
    const shown = encodeRow(row, 1_024, { count: 0 });
    space -= JSON.stringify(shown).length + 1;
    if (space > 0) rows.push(shown);
    else more += 1;
  }
  return { statement: at, columns, rows, more };
}

function single(database: Database.Database, sql: string): unknown {
  return database.prepare(sql).pluck().get();
}

/** Rows changed so far on this handle, including those changed by triggers and foreign keys. */
function totalOf(database: Database.Database): number {
  return Number(single(database, "SELECT total_changes()"));
}

/** What a transaction lost, and what the session remembers if it is committed. */
export type Measured = ReturnType<LossWatch["loss"]>;

interface Effect {
  /** All changed rows, including those changed by triggers and foreign keys. */
  readonly touched: number;
  /** Rows that the statement itself inserted, updated or deleted. */
  readonly changed: number;
}

/** What has to be read before a statement runs. */
interface Before {
  readonly rows?: number | undefined;
  /** The definition of the view, index or trigger that it drops. */
  readonly ddl?: string | undefined;
}

interface Changed extends RowCounts {
  /** The name of the table in SQL. */
  readonly table: string;
  readonly verb?: string | undefined;
}

/** Measures what the statements of a transaction lose, by their effects and not by their text. */
export class LossWatch {
  readonly #database: Database.Database;
  readonly #tally: LossTally;
  readonly #changed = new Map<string, Changed>();
  readonly #counters: RowCounters | undefined;
  /** The tables before the transaction, if it may create some. */
  readonly #earlier: ReadonlySet<string> | undefined;
  /** Statements that restore dropped objects. */
  readonly undo: string[] = [];
  /** Whether triggers or foreign keys changed rows, of which SQLite does not say in which tables. */
  isHidden = false;

  /** @param isCounting whether to count the rows that triggers and foreign keys change, too */
  constructor(
    database: Database.Database,
    statements: readonly WriteStatement[],
    session: SessionChanges,
    isCounting: boolean,
  ) {
    this.#database = database;
    this.#tally = new LossTally(session);
    this.#counters = isCounting ? new RowCounters(database, statements) : undefined;
    if (statements.some(({ verb }) => verb === "CREATE")) {
      const names = database.prepare<[], string>("SELECT lower(name) FROM main.sqlite_schema").pluck().all();
      this.#earlier = new Set(names);
    }
  }

  before({ structure, table = "", target, overwrites }: WriteStatement): Before {
    if (structure !== undefined) {
      if (/^DROP (VIEW|INDEX|TRIGGER)/.test(structure)) return { ddl: this.#definition(table) };
      return { rows: rowsOf(this.#database, table) };
    }
    // Counting reads the whole table, so only statements that can replace rows are counted.
    return target !== undefined && (overwrites || this.#replaces(target))
      ? { rows: rowsOf(this.#database, target) }
      : {};
  }

  add(
    { verb, structure, table = "", target }: WriteStatement,
    { rows, ddl }: Before,
    { touched, changed }: Effect,
  ): void {
    if (structure !== undefined) {
      if (ddl !== undefined) this.undo.push(ddl);
      // If the object does not exist or the transaction created it, nothing is lost.
      else if (rows !== undefined && !this.#isNew(idOf(table))) {
        const others = this.#counters === undefined ? Math.max(0, touched - rows) : 0;
        this.#tally.structure(structure, rows, others);
      }
      return;
    }
    this.isHidden ||= touched > changed;
    if (target === undefined || changed === 0 || this.#counters?.has(idOf(target)) === true) return;
    const growth = rows === undefined ? 0 : (rowsOf(this.#database, target) ?? rows) - rows;
    const replaced = rows === undefined ? 0 : Math.max(0, changed - growth);
    if (verb === "DELETE") this.#add(target, { inserted: 0, updated: 0, deleted: changed });
    // UPDATE OR REPLACE deletes the rows that are in the way.
    else if (verb === "UPDATE")
      this.#add(target, { inserted: 0, updated: changed, deleted: Math.max(0, -growth) });
    else this.#add(target, { inserted: changed - replaced, updated: replaced, deleted: 0 }, "replacement");
  }

  #add(table: string, { inserted, updated, deleted }: RowCounts, verb?: string): void {
    const id = idOf(table);
    const before = this.#changed.get(id) ?? { table, inserted: 0, updated: 0, deleted: 0, verb };
    this.#changed.set(id, {
      table: before.table,
      verb: before.verb === verb ? verb : undefined,
      inserted: before.inserted + inserted,
      updated: before.updated + updated,
      deleted: before.deleted + deleted,
    });
  }

  /** The whole loss: in a sentence for the user, undefined if there is none, and for the session. Call it once, at the end. */
  loss() {
    for (const { id, name, ...counts } of this.#counters?.read() ?? [])
      this.#changed.set(id, { table: this.#written(name), ...counts });
    const largestFirst = [...this.#changed].sort(
      ([, a], [, b]) => b.deleted + b.updated - a.deleted - a.updated,
    );
    for (const [id, change] of largestFirst) {
      if (this.#isNew(id)) continue;
      const shown = { id, ...change };
      const needed = this.#tally.rowsNeeded(shown);
      const left = needed === 0 ? 0 : rowsOf(this.#database, change.table, needed);
      // A table that is gone has none of its rows left.
      this.#tally.rows(shown, left ?? change.updated);
    }
    return { loss: this.#tally.loss(), ...this.#tally.outcome };
  }

  /** Whether this transaction created the table. */
  #isNew(id: string): boolean {
    return this.#earlier?.has(id) === false;
  }

  #written(name: string): string {
    return /^[a-z_][a-z0-9_]*$/i.test(name) ? name : quoteIdentifier(name);
  }

  #definition(name: string): string | undefined {
    const sql = "SELECT sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type <> 'table'";
    const ddl = this.#database.prepare(sql).pluck().get(bare(name));
    return typeof ddl === "string" ? ddl : undefined;
  }

  /** Whether the table has a constraint that replaces rows: `UNIQUE ON CONFLICT REPLACE`. */
  #replaces(target: string): boolean {
    const sql = "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND sql LIKE '%CONFLICT%REPLACE%'";
    return this.#database.prepare(sql).get(bare(target)) !== undefined;
  }
}

/** A name without its schema and quotes. */
const bare = (name: string) =>
  name
    .replace(/^.*\./s, "")
    .replace(/^["`[]|["`\]]$/g, "")
    .replaceAll('""', '"');

/** What a table is known by, however it is written. */
const idOf = (name: string) => bare(name).toLowerCase();

/**
 * Counts what happens to each table with temporary triggers, also through triggers and foreign keys, of which SQLite itself
 * reports only how many rows they changed in total. They are gone when the handle is closed.
 */
class RowCounters {
  readonly #database: Database.Database;
  // A name that the statements can't know.
  readonly #counts = `refmcp_${randomBytes(8).toString("hex")}`;
  /** By name in lower case; the rows before are undefined if they need not be counted. */
  readonly #tables = new Map<string, { name: string; rows: number | undefined }>();

  constructor(database: Database.Database, statements: readonly WriteStatement[]) {
    this.#database = database;
    const { names, counts } = reachable(database, statements);
    database.exec(`CREATE TEMP TABLE ${this.#counts} (id INTEGER PRIMARY KEY, i INT, u INT, d INT)`);
    for (const [id, name] of names.entries()) {
      const rows = counts ? rowsOf(database, quoteIdentifier(name)) : undefined;
      this.#tables.set(name.toLowerCase(), { name, rows });
      database.exec(`INSERT INTO ${this.#counts} VALUES (${id}, 0, 0, 0)`);
      for (const what of ["insert", "update", "delete"]) {
        const column = what.slice(0, 1);
        database.exec(
          `CREATE TEMP TRIGGER ${this.#counts}_${id}_${what} AFTER ${what} ON main.${quoteIdentifier(name)}
           BEGIN UPDATE ${this.#counts} SET ${column} = ${column} + 1 WHERE id = ${id}; END`,
        );
      }
    }
  }

  /** Whether a table is counted here. @param id its name in lower case */
  has(id: string): boolean {
    return this.#tables.has(id);
  }

  /** The changed tables, by their name in lower case. */
  read(): (RowCounts & { readonly id: string; readonly name: string })[] {
    const all = this.#database.prepare(`SELECT i, u, d FROM ${this.#counts} ORDER BY id`).raw().all();
    return [...this.#tables].flatMap(([id, { name, rows }], at) => {
      const [inserted = 0, updated = 0, deleted = 0] = [all[at] ?? []].flat().map(Number);
      // REPLACE and DROP TABLE delete rows without a trigger.
      const now = rows === undefined ? undefined : rowsOf(this.#database, quoteIdentifier(name));
      const gone = Math.max(0, (rows ?? 0) + inserted - deleted - (now ?? (rows ?? 0) + inserted - deleted));
      const replaced = Math.min(gone, inserted);
      const counts = {
        inserted: inserted - replaced,
        updated: updated + replaced,
        deleted: deleted + gone - replaced,
      };
      return counts.inserted + counts.updated + counts.deleted === 0 ? [] : [{ id, name, ...counts }];
    });
  }
}

/** How many rows a table has; undefined if there is no such table. @param limit up to which they are counted */
function rowsOf(database: Database.Database, table: string, limit = -1): number | undefined {
  try {
    // SQLite counts a whole table faster than a limited part of it.
    const sql =
      limit < 0
        ? `SELECT count(*) FROM ${table}`
        : `SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ${limit})`;
    return Number(database.prepare(sql).pluck().get());
  } catch {
    return undefined;
  }
}

/**
 * Whether triggers or foreign keys may have updated or deleted rows. Most triggers only insert, such as those that keep a log,
 * and need not be counted.
 */
function mayLose(database: Database.Database, statements: readonly WriteStatement[]): boolean {
  // Such as a trigger, which may be dropped again by now.
  if (statements.some(({ verb }) => verb === "CREATE" || verb === "DROP" || verb === "ALTER")) return true;
  const texts = database.prepare<[], { type: string; sql: string }>(
    "SELECT type, sql FROM main.sqlite_schema WHERE type = 'trigger' OR (type = 'table' AND (sql LIKE '%REFERENCES%' OR sql LIKE '%REPLACE%'))",
  );
  return texts.all().some(({ type, sql }) => {
    if (type === "table") return /\bON\b|\bREPLACE\b/i.test(sql);
    return /\b(UPDATE|DELETE|REPLACE)\b/i.test(sql.replace(/^.*?\bBEGIN\b/is, ""));
  });
}

/** The tables that the statements may change, and whether some of their rows may be replaced. */
function reachable(database: Database.Database, statements: readonly WriteStatement[]) {
  const all = (sql: string) => database.prepare<[], string>(sql).pluck().all();
  const triggers = all("SELECT sql FROM main.sqlite_schema WHERE type = 'trigger'");
  const tables = all(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  );
  const children = new Set(
    all("SELECT m.name FROM main.sqlite_schema m, pragma_foreign_key_list(m.name) WHERE m.type = 'table'"),
  );
  // Whatever they do is in these texts, so a table that is named nowhere is not changed.
  const text = [...triggers, ...statements.map(({ sql }) => sql)].join("\n").toLowerCase();
  const names = tables.filter(
    (name) => children.has(name) || text.replaceAll('""', '"').includes(name.toLowerCase()),
  );
  const conflicts =
    "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND sql LIKE '%CONFLICT%REPLACE%'";
  const counts = /replace|drop/.test(text) || all(conflicts).length > 0;
  return { names, counts };
}
