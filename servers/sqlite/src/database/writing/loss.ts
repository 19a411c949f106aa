import { EVERY_ROW, LossTally } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import type { WriteStatement } from "../connection/protocol.ts";

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

/** Measures what the statements of a transaction lose, by their effects and not by their text. */
export class LossWatch {
  readonly #database: Database.Database;
  readonly #tally = new LossTally();
  readonly #deleted = new Map<string, number>();
  /** Statements that restore dropped objects. */
  readonly undo: string[] = [];

  constructor(database: Database.Database) {
    this.#database = database;
  }

  before({ structure, table = "", target, overwrites }: WriteStatement): Before {
    if (structure !== undefined) {
      if (/^DROP (VIEW|INDEX|TRIGGER)/.test(structure)) return { ddl: this.#definition(table) };
      return { rows: this.#rowsOf(table) };
    }
    // Counting reads the whole table, so only statements that can replace rows are counted.
    return target !== undefined && (overwrites || this.#replaces(target))
      ? { rows: this.#rowsOf(target) }
      : {};
  }

  add(
    { verb, structure, target }: WriteStatement,
    { rows, ddl }: Before,
    { touched, changed }: Counted,
  ): void {
    if (structure !== undefined) {
      if (ddl !== undefined) this.undo.push(ddl);
      // If the object does not exist, nothing is lost.
      else if (rows !== undefined) this.#tally.structure(structure, rows, Math.max(0, touched - rows));
      return;
    }
    if (target === undefined) return;
    const others = touched - changed;
    if (verb === "UPDATE") {
      const isEveryRow = changed >= EVERY_ROW && !this.#hasRow(target, changed);
      this.#tally.rows({ verb, target, changed, others, isEveryRow });
    } else if (verb === "DELETE") {
      // Several deletes of a transaction count together.
      const sum = (this.#deleted.get(target) ?? 0) + changed;
      this.#deleted.set(target, sum);
      const isEveryRow = changed > 0 && sum >= EVERY_ROW && !this.#hasRow(target, 0);
      this.#tally.rows({ verb, target, changed: isEveryRow ? sum : changed, others, isEveryRow });
    }
    if (verb === "INSERT" || verb === "REPLACE") {
      const growth = rows === undefined ? changed : (this.#rowsOf(target) ?? rows) - rows;
      const replaced = Math.max(0, changed - growth);
      this.#tally.rows({
        verb: "replacement",
        target,
        changed: replaced,
        others,
        isEveryRow: replaced >= (rows ?? 0),
      });
    }
  }

  /** The loss in a sentence for the user; undefined if nothing is lost. */
  loss(): string | undefined {
    return this.#tally.loss();
  }

  #rowsOf(table: string): number | undefined {
    try {
      return Number(this.#database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    } catch {
      return undefined;
    }
  }

  #hasRow(table: string, after: number): boolean {
    try {
      return this.#database.prepare(`SELECT 1 FROM ${table} LIMIT 1 OFFSET ?`).get(after) !== undefined;
    } catch {
      return true;
    }
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
const bare = (name: string) => name.replace(/^.*\./s, "").replace(/^["`[]|["`\]]$/g, "");
