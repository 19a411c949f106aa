import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Statement } from "better-sqlite3";
import { spaced } from "../text.ts";
import {
  type Connection,
  type Indexed,
  type IndexRow,
  isList,
  type Parameter,
  parts,
  type Term,
  type Value,
} from "./connection.ts";
import type { Table } from "./tables.ts";

/** Rows of one INSERT statement. */
const INSERTED_AT_ONCE = 50;
/** After this time of work, in milliseconds, the event loop runs before the next statement. */
const TURN_MS = 15;
/** Words of the search index that are read at once: a few milliseconds. */
const WORDS_AT_ONCE = 1_000;

const IN_LIST = "IN (SELECT value FROM json_each(?))";
const IN_PAIRS =
  "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))";

/**
 * A connection to a SQLite file, inside a transaction. A statement is synchronous, so each has to be of bounded size;
 * between them the event loop runs often enough that other requests are not kept waiting.
 */
export class SqliteConnection implements Connection {
  /** Ends the work before its next statement. */
  signal: AbortSignal | undefined;
  readonly db: Database;
  readonly #prepared = new Map<string, Statement<unknown[]>>();
  #turn = performance.now();

  constructor(db: Database) {
    this.db = db;
  }

  async all<Row extends object>(
    statement: string,
    ...params: readonly Parameter[]
  ): Promise<Row[]> {
    if (params.some((value) => isList(value) && value.length === 0)) return [];
    await this.#breathe();
    // Texts in lists are keys only: SQLite's JSON would end a string at NUL.
    const values = params.map((value) => (isList(value) ? JSON.stringify(value) : value));
    const lists = statement.replace("{in}", IN_LIST).replace("{pairs}", IN_PAIRS);
    // SQLite plans a statement anew whenever its LIMIT is bound, except in an expression.
    const prepared = this.#prepare(lists.replace("LIMIT ?", "LIMIT ? + 0"));
    // The statement determines the type of its rows, which TypeScript cannot know.
    if (prepared.reader) return prepared.all(...values) as Row[];
    prepared.run(...values);
    return [];
  }

  async insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]> {
    const marks = `(${columns.map(() => "?").join(", ")})`;
    const ids: number[] = [];
    for (const part of parts(rows, INSERTED_AT_ONCE)) {
      await this.#breathe();
      const values = part.map(() => marks).join(", ");
      const insert = this.#prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${values}`);
      const last = Number(insert.run(...part.flat()).lastInsertRowid);
      // AUTOINCREMENT increases by one, and there is no other writer during the transaction.
      ids.push(...part.map((_, index) => last - part.length + 1 + index));
    }
    return ids;
  }

  async index(rows: readonly IndexRow[]): Promise<void> {
    const insert = this.#prepare("INSERT OR REPLACE INTO search (rowid, text) VALUES (?, ?)");
    for (const { id, text } of rows) {
      await this.#breathe();
      insert.run(id, text);
    }
  }

  async unindex(ids: readonly number[]): Promise<void> {
    const remove = this.#prepare("DELETE FROM search WHERE rowid = ?");
    for (const id of ids) {
      await this.#breathe();
      remove.run(id);
    }
  }

  async matching(
    kind: Indexed,
    terms: readonly (readonly Term[])[],
    limit: number,
  ): Promise<number[]> {
    const query = terms.map((any) => `(${any.map(quoted).join(" OR ")})`).join(" AND ");
    const [side, order] = kind === "entities" ? ["<", "ASC"] : [">", "DESC"];
    const rows = await this.all<{ id: number }>(
      `SELECT abs(rowid) AS id FROM search WHERE search MATCH ? AND rowid ${side} 0
       ORDER BY rowid ${order} LIMIT ?`,
      query,
      limit,
    );
    return rows.map(({ id }) => id);
  }

  async *vocabulary(): AsyncGenerator<readonly string[]> {
    for (let last = ""; ; ) {
      const words = await this.all<{ term: string }>(
        `SELECT term FROM terms WHERE term > ? ORDER BY term LIMIT ${WORDS_AT_ONCE}`,
        last,
      );
      yield words.map(({ term }) => term);
      if (words.length < WORDS_AT_ONCE) return;
      last = words.at(-1)?.term ?? last;
    }
  }

  /** Lets the event loop run if this has worked for a while. @throws the reason if the call ended. */
  async #breathe(): Promise<void> {
    this.signal?.throwIfAborted();
    if (performance.now() - this.#turn < TURN_MS) return;
    await nextTurn();
    this.#turn = performance.now();
    this.signal?.throwIfAborted();
  }

  #prepare(statement: string): Statement<unknown[]> {
    const prepared = this.#prepared.get(statement) ?? this.db.prepare<unknown[]>(statement);
    this.#prepared.set(statement, prepared);
    return prepared;
  }
}

/** A term as one FTS5 string: nothing in quotes is an operator (SQLite, "FTS5 Strings"). */
function quoted({ text, isPrefix = false }: Term): string {
  return `"${spaced(text).replaceAll('"', '""')}"${isPrefix ? " *" : ""}`;
}
