import type Database from "better-sqlite3";
import type { WriteStatement } from "../connection/protocol.ts";

/** A change of more rows than this asks the user, whatever its WHERE says. */
const MANY_ROWS = 1_000;
/** A condition that takes every row of a table is asked about from so many rows on. */
const EVERY_ROW = 2;

export interface Counted {
  /** Rows that were changed in all, by triggers and foreign keys too. */
  readonly touched: number;
  /** Rows that the statement itself inserted, updated or deleted. */
  readonly changed: number;
}

/** Adds up what the statements of a transaction lose, by what they did and not by their text alone. */
export interface Tally {
  /** What must be counted before the statement runs: the rows of its table, or undefined. */
  before(statement: WriteStatement): number | undefined;
  add(statement: WriteStatement, before: number | undefined, counted: Counted): void;
  /** The whole loss in a sentence for the user; undefined where nothing is lost. */
  loss(): string | undefined;
}

export function tallyOf(database: Database.Database): Tally {
  const losses: string[] = [];
  const deleted = new Map<string, number>();
  let rest = 0;

  const rowsOf = (table: string): number | undefined => {
    try {
      return Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    } catch {
      return undefined;
    }
  };
  const hasRow = (table: string, after: number): boolean => {
    try {
      return database.prepare(`SELECT 1 FROM ${table} LIMIT 1 OFFSET ?`).get(after) !== undefined;
    } catch {
      return true;
    }
  };

  /** Whether a DELETE or UPDATE that names a condition took every row all the same: `WHERE id = id`. */
  const tookAll = ({ verb, target }: WriteStatement, changed: number): boolean => {
    if (target === undefined || changed === 0) return false;
    if (verb === "UPDATE") return changed >= EVERY_ROW && !hasRow(target, changed);
    const sum = (deleted.get(target) ?? 0) + changed;
    deleted.set(target, sum);
    return sum >= EVERY_ROW && !hasRow(target, 0);
  };

  return {
    before({ destroys, table, target, overwrites }) {
      if (destroys !== undefined)
        return /^DROP (TABLE|COLUMN)/.test(destroys) ? rowsOf(table ?? "") : undefined;
      // Counting reads the whole table; only what can replace rows pays for it.
      return target !== undefined && (overwrites || replaces(database, target)) ? rowsOf(target) : undefined;
    },
    add(statement, before, { touched, changed }) {
      const { verb, target, destroys } = statement;
      if (destroys !== undefined) {
        if (destroys.startsWith("DROP TABLE") && before === undefined) return;
        const own = before ?? changed;
        const others = Math.max(0, touched - own);
        const isOfRows = before !== undefined || verb === "DELETE" || verb === "UPDATE";
        if (!isOfRows || own > 0 || destroys.startsWith("DROP"))
          losses.push(
            `${destroys}${isOfRows ? ` (${counted(own)}${others > 0 ? `; ${counted(others)} by cascades and triggers` : ""})` : ""}`,
          );
      } else if (verb === "DELETE" || verb === "UPDATE") {
        if (tookAll(statement, changed))
          losses.push(`${verb} of every row of ${target} (${counted(touched)})`);
        else if (touched > MANY_ROWS) losses.push(`${verb} of ${counted(touched)} through ${target}`);
        else rest += touched;
      } else if (verb === "INSERT" || verb === "REPLACE") {
        const growth =
          before === undefined || target === undefined ? changed : (rowsOf(target) ?? before) - before;
        const replaced = Math.max(0, changed - growth);
        const isAll = replaced >= EVERY_ROW && replaced >= (before ?? 0);
        if (isAll || replaced > MANY_ROWS)
          losses.push(`${verb} over ${counted(replaced)} of ${before} in ${target}`);
        else rest += replaced;
        const others = touched - changed;
        if (others > MANY_ROWS) losses.push(`changes of ${counted(others)} by triggers on ${target}`);
      }
    },
    loss() {
      if (rest > MANY_ROWS) losses.push(`changes of ${counted(rest)} together`);
      return losses.length === 0 ? undefined : `This cannot be undone: ${losses.join("; ")}.`;
    },
  };
}

const counted = (rows: number) => `${rows.toLocaleString("en-US")} ${rows === 1 ? "row" : "rows"}`;

/** Whether the table's own constraints replace rows: `UNIQUE ON CONFLICT REPLACE`. */
function replaces(database: Database.Database, target: string): boolean {
  const name = target.replace(/^.*\./s, "").replace(/^["`[]|["`\]]$/g, "");
  const sql = "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND sql LIKE '%CONFLICT%REPLACE%'";
  return database.prepare(sql).get(name) !== undefined;
}
