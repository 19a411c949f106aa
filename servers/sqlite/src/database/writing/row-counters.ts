import { randomBytes } from "node:crypto";
import type { RowCounts } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import type { WriteStatement } from "../connection/protocol.ts";

interface Counted {
  readonly name: string;
  /** Its rows before; undefined if they need not be counted. */
  readonly rows: number | undefined;
}

/**
 * Counts what happens to each table with temporary triggers, also through triggers and foreign keys, of which SQLite itself
 * reports only how many rows they changed in total. They are gone when the handle is closed.
 */
export class RowCounters {
  readonly #database: Database.Database;
  // A name that the statements can't know.
  readonly #counts = `refmcp_${randomBytes(8).toString("hex")}`;
  readonly #tables = new Map<string, Counted>();

  constructor(database: Database.Database, statements: readonly WriteStatement[]) {
    this.#database = database;
    const { names, counts } = reachable(database, statements);
    database.exec(`CREATE TEMP TABLE ${this.#counts} (id INTEGER PRIMARY KEY, i INT, u INT, d INT)`);
    for (const [id, name] of names.entries()) {
      const rows = counts ? rowsOf(database, quoted(name)) : undefined;
      this.#tables.set(name.toLowerCase(), { name, rows });
      database.exec(`INSERT INTO ${this.#counts} VALUES (${id}, 0, 0, 0)`);
      for (const what of ["insert", "update", "delete"]) {
        const column = what.slice(0, 1);
        database.exec(
          `CREATE TEMP TRIGGER ${this.#counts}_${id}_${what} AFTER ${what} ON main.${quoted(name)}
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
      const now = rows === undefined ? undefined : rowsOf(this.#database, quoted(name));
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

/** A name, quoted for SQL. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** How many rows a table has; undefined if there is no such table. @param limit up to which they are counted */
export function rowsOf(database: Database.Database, table: string, limit = -1): number | undefined {
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
export function mayLose(database: Database.Database, statements: readonly WriteStatement[]): boolean {
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
