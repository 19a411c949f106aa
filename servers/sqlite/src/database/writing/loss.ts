import { LossTally, type RowCounts, type SessionChanges } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import type { WriteStatement } from "../connection/protocol.ts";
import { quoted, RowCounters, rowsOf } from "./row-counters.ts";

export interface Counted {
  /** All changed rows, including those changed by triggers and foreign keys. */
  readonly touched: number;
  /** Rows that the statement itself inserted, updated or deleted. */
  readonly changed: number;
}

/** What has to be read before a statement runs. */
export interface Before {
  /** How many rows its table has. */
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
    { touched, changed }: Counted,
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
    return /^[a-z_][a-z0-9_]*$/i.test(name) ? name : quoted(name);
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
