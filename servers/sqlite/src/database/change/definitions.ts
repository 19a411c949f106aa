import { rowCount, shownSql } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import { rowsFrom } from "../driver/rows.ts";
import { removedFrom, statementOf } from "../gate/tokens.ts";
import { rowsOf } from "./capture.ts";

/** Definitions by the type and name of their object. */
type Items = ReadonlyMap<string, string>;

/** Follows the schema changes of a transaction, and finds those that are not CREATE or ADD: nothing undoes them. */
export class Definitions {
  readonly #database: Database.Database;
  readonly #first: Items;
  /** The statements: `DROP TABLE users (3 rows)`. */
  readonly losses: string[] = [];

  constructor(database: Database.Database) {
    this.#database = database;
    this.#first = itemsOf(database);
  }

  /** Runs a schema statement. @param run runs it */
  follow<Value>(sql: string, run: () => Value): Value {
    const statement = statementOf(sql);
    const words = statement.tokens.map(({ text }) => text.toUpperCase());
    const isAdding = statement.verb === "ALTER" && words[words[3] === "." ? 5 : 3] === "ADD";
    if (statement.verb === "CREATE" || isAdding) return run();
    const table = removedFrom(statement);
    const rows = table === undefined ? undefined : rowsOf(this.#database, table);
    const before = itemsOf(this.#database);
    const value = run();
    const after = itemsOf(this.#database);
    const changed = [...before].filter(([id, text]) => after.get(id) !== text);
    // What the same transaction created is not lost.
    if (changed.some(([id]) => this.#first.has(id)))
      this.losses.push(rows === undefined ? shownSql(sql) : `${shownSql(sql)} (${rowCount(rows)})`);
    return value;
  }
}

function itemsOf(database: Database.Database): Items {
  const items = rowsFrom<{ id: string; sql: string }>(
    database,
    "SELECT type || ' ' || name AS id, sql FROM main.sqlite_schema WHERE sql IS NOT NULL",
  );
  return new Map(items.map(({ id, sql }) => [id, sql]));
}
