import type { Database, Statement } from "better-sqlite3";
import type { Indexed, Session, Table, Value } from "../sql/session.ts";
import { fold, hasWord, wordsOf } from "../text.ts";
import type { Kind, Match, MatchMode } from "../types.ts";

/** How much more a term counts in a name or a type than in an observation (columns name, type, content). */
const WEIGHTS = "10.0, 4.0, 1.0";

/** Entities and observations share the search index: an entity has an even row id there, an observation an odd one. */
const indexId = (kind: Kind, id: number) => id * 2 + (kind === "entity" ? 0 : 1);

/** A connection to a SQLite file, inside a transaction. It answers at once; promises only fit the interface. */
export class SqliteSession implements Session {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement<unknown[]>>();

  constructor(db: Database) {
    this.#db = db;
  }

  async all<Row extends object>(statement: string, ...params: readonly Value[]): Promise<Row[]> {
    return this.#all<Row>(statement, params);
  }

  async run(statement: string, ...params: readonly Value[]): Promise<void> {
    this.#prepare(statement).run(...params);
  }

  async among<Row extends object>(
    statement: string,
    values: readonly number[] | readonly string[],
    ...params: readonly Value[]
  ): Promise<Row[]> {
    if (values.length === 0) return [];
    const at = statement.slice(0, statement.indexOf("{in}")).split("?").length - 1;
    const withList = (value: Value) => [...params.slice(0, at), value, ...params.slice(at)];
    if (typeof values[0] === "number")
      return this.#all<Row>(
        statement.replace("{in}", "IN (SELECT value FROM json_each(?))"),
        withList(JSON.stringify(values)),
      );
    // SQLite's JSON ends a string at NUL, so texts are looked up one by one.
    const one = statement.replace("{in}", "= ?");
    return [...new Set<string | number>(values)].flatMap((value) => this.#all<Row>(one, withList(value)));
  }

  async amongPairs<Row extends object>(
    statement: string,
    pairs: readonly (readonly [number, number])[],
  ): Promise<Row[]> {
    const list = "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))";
    return this.#all<Row>(statement.replace("{pairs}", list), [JSON.stringify(pairs)]);
  }

  async insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]> {
    const marks = columns.map(() => "?").join(", ");
    const statement = this.#prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
    return rows.map((row) => Number(statement.run(...row).lastInsertRowid));
  }

  async index(rows: readonly Indexed[]): Promise<void> {
    const insert = (table: string) =>
      this.#prepare(`INSERT INTO ${table} (rowid, name, type, content) VALUES (?, ?, ?, ?)`);
    const words = insert("words");
    const grams = insert("grams");
    for (const row of rows) {
      const values =
        row.kind === "entity" ? [fold(row.name), fold(row.type), null] : [null, null, fold(row.content)];
      words.run(indexId(row.kind, row.id), ...values);
      grams.run(indexId(row.kind, row.id), ...values);
    }
  }

  async unindex(kind: Kind, ids: readonly number[]): Promise<void> {
    if (kind === "relation") return;
    for (const table of ["words", "grams"]) {
      const statement = this.#prepare(`DELETE FROM ${table} WHERE rowid = ?`);
      for (const id of ids) statement.run(indexId(kind, id));
    }
  }

  async matches(
    term: string,
    mode: MatchMode,
    cap: number,
  ): Promise<{ matches: Match[]; complete: boolean }> {
    const found = mode === "word" ? this.#words(term, cap) : this.#substrings(term, cap);
    const best = new Map<number, number>();
    for (const { entityId, score } of found.slice(0, cap))
      best.set(entityId, Math.max(score, best.get(entityId) ?? Number.NEGATIVE_INFINITY));
    const matches = [...best].map(([entityId, score]) => ({ entityId, score }));
    return { matches, complete: found.length <= cap };
  }

  #words(term: string, cap: number): Match[] {
    if (wordsOf(term).length === 0) return [];
    return this.#indexed("words", `${quoted(term)} *`, cap);
  }

  /** The trigram index knows nothing shorter than three characters; the texts themselves are read for those. */
  #substrings(term: string, cap: number): Match[] {
    return [...term].length >= 3 ? this.#indexed("grams", quoted(term), cap) : this.#scan(term, cap);
  }

  #indexed(table: "words" | "grams", query: string, cap: number): Match[] {
    return this.#all<Match>(
      `SELECT CASE WHEN m.id % 2 = 0 THEN m.id / 2 ELSE o.entity_id END AS "entityId", m.score
       FROM (SELECT rowid AS id, -bm25(${table}, ${WEIGHTS}) AS score FROM ${table}
             WHERE ${table} MATCH ? ORDER BY rowid DESC LIMIT ?) m
       LEFT JOIN observations o ON m.id % 2 = 1 AND o.id = (m.id - 1) / 2`,
      [query, cap + 1],
    );
  }

  #scan(term: string, cap: number): Match[] {
    const found: Match[] = [];
    const entities = this.#db.prepare<[], { id: number; name: string; type: string }>(
      "SELECT id, name, type FROM entities WHERE removed_by IS NULL ORDER BY id DESC",
    );
    for (const { id, name, type } of entities.iterate()) {
      if (found.length > cap) return found;
      if (fold(name).includes(term)) found.push({ entityId: id, score: 10 });
      else if (fold(type).includes(term)) found.push({ entityId: id, score: 4 });
    }
    const observations = this.#db.prepare<[], { entityId: number; content: string }>(
      `SELECT entity_id AS "entityId", content FROM observations WHERE removed_by IS NULL ORDER BY id DESC`,
    );
    for (const { entityId, content } of observations.iterate()) {
      if (found.length > cap) return found;
      const folded = fold(content);
      if (folded.includes(term)) found.push({ entityId, score: hasWord(folded, term) ? 1 : 0.5 });
    }
    return found;
  }

  #all<Row>(statement: string, params: readonly Value[]): Row[] {
    const prepared = this.#prepare(statement);
    if (prepared.reader) {
      // What a statement returns stands in its text, which the type system does not read.
      return prepared.all(...params) as Row[];
    }
    prepared.run(...params);
    return [];
  }

  #prepare(statement: string): Statement<unknown[]> {
    const prepared = this.#prepared.get(statement) ?? this.#db.prepare<unknown[]>(statement);
    this.#prepared.set(statement, prepared);
    return prepared;
  }
}

/** User text as one FTS5 string: inside quotes nothing is an operator (SQLite, "FTS5 Strings"). */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
