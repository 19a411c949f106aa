import { rowCount } from "@refmcp/sql/loss-text";
import { quoteIdentifier, unquoted } from "@refmcp/sql/names";
import { removalOf, statementOf } from "@refmcp/sql/statement";
import type Database from "better-sqlite3";
import { rowsFrom, valuesFrom } from "../connection/rows.ts";
import { rowsOf } from "./capture.ts";

interface Item {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** The schema changes of a transaction, as recorded. */
export interface SchemaFacts {
  /** Statements that make the change again, and that undo it, in this order. */
  readonly forward: readonly string[];
  readonly backward: readonly string[];
  /** The definition of each changed object afterwards: null if it is gone. */
  readonly after: Readonly<Record<string, string | null>>;
}

type Items = ReadonlyMap<string, Item>;

/** Follows the schema changes of a transaction: how to undo them, and what they remove with its contents. */
export class Definitions {
  readonly #database: Database.Database;
  readonly #first: Items;
  readonly #forward: string[] = [];
  readonly #backward: string[] = [];
  /** What can't be undone: `DROP TABLE users (3 rows)`. */
  readonly losses: string[] = [];

  constructor(database: Database.Database) {
    this.#database = database;
    this.#first = itemsOf(database);
  }

  /** Runs a schema statement. @param run runs it */
  follow<Value>(sql: string, run: () => Value): Value {
    const removal = removalOf(statementOf(sql));
    const rows = removal === undefined ? undefined : rowsOf(this.#database, removal.table);
    const before = itemsOf(this.#database);
    const columns = columnsOf(this.#database, sql);
    const value = run();
    const after = itemsOf(this.#database);
    const gone = [...before].filter(([id]) => !after.has(id)).map(([, item]) => item);
    const added = [...after].filter(([id]) => !before.has(id)).map(([, item]) => item);
    const isChanged = [...after].some(([id, { sql }]) => (before.get(id)?.sql ?? sql) !== sql);
    if (gone.length + added.length === 0 && !isChanged) return value;
    // A table that CREATE TABLE AS filled is made again without its rows, which are recorded.
    const [made] = added;
    const isPlain = made?.type === "table" && !isVirtual(made);
    this.#forward.push(isPlain && statementOf(sql).verb === "CREATE" ? made.sql : sql);
    const isTable =
      gone.some(({ type }) => type === "table") || removal?.what.startsWith("DROP COLUMN");
    if (
      removal !== undefined &&
      isTable &&
      (removal.what.startsWith("DROP COLUMN") || rows !== 0)
    ) {
      const isOwn = gone.some((item) => item.type === "table" && !this.#first.has(idOf(item)));
      if (!isOwn) this.losses.push(`${removal.what} (${rowCount(rows ?? 0)})`);
    }
    this.#backward.unshift(...this.#inverse(sql, { gone, added, columns }));
    return value;
  }

  #inverse(
    sql: string,
    { gone, added, columns }: { gone: Item[]; added: Item[]; columns: readonly string[] },
  ): string[] {
    const tokens = statementOf(sql).tokens.map(({ text }) => text);
    if (/^alter$/i.test(tokens[0] ?? "")) {
      const end = tokens[3] === "." ? 5 : 3;
      const name = tokens.slice(2, end).join("");
      const [what = "", ...words] = tokens.slice(end);
      if (/^rename$/i.test(what) && /^to$/i.test(words[0] ?? ""))
        return [`ALTER TABLE ${words[1]} RENAME TO ${tokens[end - 1]}`];
      if (/^rename$/i.test(what)) {
        const [from = "", , to = ""] = /^column$/i.test(words[0] ?? "") ? words.slice(1) : words;
        return [`ALTER TABLE ${name} RENAME COLUMN ${to} TO ${from}`];
      }
      const more = columnsOf(this.#database, sql).filter((column) => !columns.includes(column));
      return more.map((column) => `ALTER TABLE ${name} DROP COLUMN ${quoteIdentifier(column)}`);
    }
    // Tables first, since their indexes and triggers need them; a virtual table makes its own.
    const order = (items: Item[]) =>
      [...items].sort((a, b) => Number(b.type === "table") - Number(a.type === "table"));
    const own = (items: Item[]) =>
      items.filter((item) => !items.some(isVirtual) || isVirtual(item));
    return [
      ...own(added).map(({ type, name }) => `DROP ${type.toUpperCase()} ${quoteIdentifier(name)}`),
      ...own(order(gone)).map((item) => item.sql),
    ];
  }

  /** What to record; undefined if the schema is unchanged. */
  facts(): SchemaFacts | undefined {
    const now = itemsOf(this.#database);
    const changed = [...new Set([...this.#first.keys(), ...now.keys()])].filter(
      (id) => this.#first.get(id)?.sql !== now.get(id)?.sql,
    );
    if (changed.length === 0) return undefined;
    return {
      forward: this.#forward,
      backward: this.#backward,
      after: Object.fromEntries(changed.map((id) => [id, now.get(id)?.sql ?? null])),
    };
  }
}

const isVirtual = (item: Item) => /^CREATE\s+VIRTUAL\b/i.test(item.sql);

const idOf = ({ type, name }: Item) => `${type} ${name}`;

function itemsOf(database: Database.Database): Items {
  const items = rowsFrom<Item>(
    database,
    `SELECT type, name, sql FROM main.sqlite_schema
     WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
  );
  return new Map(items.map((item) => [idOf(item), item]));
}

/** The definition of each object now: undefined if it is missing. */
export function definitionsIn(database: Database.Database): (id: string) => string | null {
  const items = itemsOf(database);
  return (id) => items.get(id)?.sql ?? null;
}

/** The columns of the table that an ALTER TABLE names. */
function columnsOf(database: Database.Database, sql: string): string[] {
  const { verb, tokens } = statementOf(sql);
  if (verb !== "ALTER") return [];
  const at = tokens[3]?.text === "." ? 4 : 2;
  return valuesFrom(
    database,
    "SELECT name FROM pragma_table_info(?)",
    unquoted(tokens[at]?.text ?? ""),
  );
}
