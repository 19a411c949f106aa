import type { ClientBase, QueryResultRow } from "pg";
import type { Indexed, Session, Table, Value } from "../sql/session.ts";
import { fold, hasWord, wordsOf } from "../text.ts";
import type { Kind, Match, MatchMode } from "../types.ts";
import { COLUMN_TYPES } from "./schema.ts";
import { fromStored, toStored } from "./text.ts";

type Parameter = Value | readonly Value[];

/** A connection to PostgreSQL, inside a transaction. */
export class PostgresSession implements Session {
  readonly #client: ClientBase;

  constructor(client: ClientBase) {
    this.#client = client;
  }

  all<Row extends object>(statement: string, ...params: readonly Value[]): Promise<Row[]> {
    return this.#query<Row>(statement, params);
  }

  async run(statement: string, ...params: readonly Value[]): Promise<void> {
    await this.#query(statement, params);
  }

  async among<Row extends object>(
    statement: string,
    values: readonly number[] | readonly string[],
    ...params: readonly Value[]
  ): Promise<Row[]> {
    if (values.length === 0) return [];
    const at = statement.slice(0, statement.indexOf("{in}")).split("?").length - 1;
    const type = typeof values[0] === "number" ? "bigint" : "text";
    return this.#query<Row>(statement.replace("{in}", `= ANY(?::${type}[])`), [
      ...params.slice(0, at),
      values,
      ...params.slice(at),
    ]);
  }

  amongPairs<Row extends object>(
    statement: string,
    pairs: readonly (readonly [number, number])[],
  ): Promise<Row[]> {
    return this.#query<Row>(
      statement.replace("{pairs}", "IN (SELECT * FROM unnest(?::bigint[], ?::bigint[]))"),
      [pairs.map(([first]) => first), pairs.map(([, second]) => second)],
    );
  }

  async insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]> {
    if (rows.length === 0) return [];
    const arrays = columns.map((_, index) => rows.map((row) => row[index] ?? null));
    const types = columns.map((column) => `?::${COLUMN_TYPES[column] ?? "bigint"}[]`).join(", ");
    const list = columns.join(", ");
    if (table === "change_items") {
      await this.#query(`INSERT INTO ${table} (${list}) SELECT * FROM unnest(${types})`, arrays);
      return [];
    }
    // Ids are drawn first, so that which row got which is certain.
    const drawn = await this.#query<{ id: number }>(
      `SELECT nextval(pg_get_serial_sequence('${table}', 'id')) AS id FROM generate_series(1, ?::int)`,
      [rows.length],
    );
    const ids = drawn.map(({ id }) => id);
    await this.#query(`INSERT INTO ${table} (id, ${list}) SELECT * FROM unnest(?::bigint[], ${types})`, [
      ids,
      ...arrays,
    ]);
    return ids;
  }

  async index(rows: readonly Indexed[]): Promise<void> {
    if (rows.length === 0) return;
    const column = (value: (row: Indexed) => Value) => rows.map(value);
    const entity = (value: (row: Indexed & { kind: "entity" }) => string) =>
      column((row) => (row.kind === "entity" ? fold(value(row)) : null));
    const name = entity((row) => row.name);
    const type = entity((row) => row.type);
    const content = column((row) => (row.kind === "observation" ? fold(row.content) : null));
    const words = (texts: readonly Value[]) =>
      texts.map((text) => (typeof text === "string" ? wordsOf(text).join(" ") : null));
    // Words are cut here and not by PostgreSQL's parser, which would keep addresses and numbers together.
    await this.#query(
      `INSERT INTO found (kind, row_id, entity_id, name, type, content, words)
       SELECT kind, row_id, entity_id, name, type, content,
         setweight(to_tsvector('simple', coalesce(name_words, '')), 'A') ||
         setweight(to_tsvector('simple', coalesce(type_words, '')), 'B') ||
         setweight(to_tsvector('simple', coalesce(content_words, '')), 'C')
       FROM unnest(?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
         AS row (kind, row_id, entity_id, name, type, content, name_words, type_words, content_words)`,
      [
        column((row) => row.kind),
        column((row) => row.id),
        column((row) => (row.kind === "entity" ? row.id : row.entityId)),
        name,
        type,
        content,
        words(name),
        words(type),
        words(content),
      ],
    );
  }

  async unindex(kind: Kind, ids: readonly number[]): Promise<void> {
    if (kind !== "relation") await this.among("DELETE FROM found WHERE row_id {in} AND kind = ?", ids, kind);
  }

  async matches(
    term: string,
    mode: MatchMode,
    cap: number,
  ): Promise<{ matches: Match[]; complete: boolean }> {
    const found = mode === "word" ? await this.#words(term, cap) : await this.#substrings(term, cap);
    const best = new Map<number, number>();
    for (const { entityId, score } of found.slice(0, cap))
      best.set(entityId, Math.max(score, best.get(entityId) ?? Number.NEGATIVE_INFINITY));
    const matches = [...best].map(([entityId, score]) => ({ entityId, score }));
    return { matches, complete: found.length <= cap };
  }

  async #words(term: string, cap: number): Promise<Match[]> {
    const words = wordsOf(term);
    if (words.length === 0) return [];
    // Words hold letters, marks and digits only, so nothing in them is an operator of to_tsquery.
    const query = `${words.map((word) => `'${word}'`).join(" <-> ")}:*`;
    return this.#query<Match>(
      `SELECT entity_id AS "entityId", ts_rank('{0, 0.1, 0.4, 1}', words, to_tsquery('simple', ?))::float8 AS score
       FROM (SELECT entity_id, words FROM found WHERE words @@ to_tsquery('simple', ?)
             ORDER BY row_id DESC, kind LIMIT ?) newest`,
      [query, query, cap + 1],
    );
  }

  async #substrings(term: string, cap: number): Promise<Match[]> {
    const pattern = `%${term.replace(/[\\%_]/g, "\\$&")}%`;
    const rows = await this.#query<{
      entityId: number;
      name: string | null;
      type: string | null;
      content: string | null;
    }>(
      `SELECT entity_id AS "entityId", name, type, content FROM found
       WHERE name LIKE ? OR type LIKE ? OR content LIKE ? ORDER BY row_id DESC, kind LIMIT ?`,
      [pattern, pattern, pattern, cap + 1],
    );
    return rows.map(({ entityId, name, type, content }) => {
      if (name?.includes(term) === true) return { entityId, score: 10 };
      if (type?.includes(term) === true) return { entityId, score: 4 };
      return { entityId, score: content !== null && hasWord(content, term) ? 1 : 0.5 };
    });
  }

  async #query<Row extends object>(statement: string, params: readonly Parameter[]): Promise<Row[]> {
    let count = 0;
    const numbered = statement.replaceAll("?", () => {
      count += 1;
      return `$${count}`;
    });
    const values = params.map((value) => (Array.isArray(value) ? value.map(stored) : stored(value)));
    const { rows } = await this.#client.query<Row & QueryResultRow>(numbered, values);
    for (const row of rows) restoreTexts(row);
    return rows;
  }
}

function stored(value: Parameter): Parameter {
  return typeof value === "string" ? toStored(value) : value;
}

/** Gives the texts of a row, which is fresh from the wire and nobody else's, their NULs back. */
function restoreTexts(row: Record<string, unknown>): void {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === "string") row[column] = fromStored(value);
  }
}
