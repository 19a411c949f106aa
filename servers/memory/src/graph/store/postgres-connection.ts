import type { ClientBase, QueryResultRow } from "pg";
import { spaced, wordsOf } from "../text.ts";
import { idsOf } from "../types.ts";
import {
  type Connection,
  type Indexed,
  type IndexRow,
  isList,
  type Pairs,
  type Parameter,
  type Term,
  type Value,
} from "./connection.ts";
import type { Table } from "./tables.ts";

/** When rows are inserted, the parameters of the other columns are bigints. */
const TEXT_COLUMNS: ReadonlySet<string> = new Set(
  "name name_key folded type content source action summary kind verb before after".split(" "),
);
/** The words of how many entities and observations are read as the vocabulary, the newest of each. */
const VOCABULARY_ROWS = 20_000;

/** A connection to PostgreSQL, inside a transaction. */
export class PostgresConnection implements Connection {
  readonly #client: ClientBase;
  readonly #signal: AbortSignal | undefined;

  constructor(client: ClientBase, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
  }

  async all<Row extends object>(
    statement: string,
    ...params: readonly Parameter[]
  ): Promise<Row[]> {
    this.#signal?.throwIfAborted();
    const list = params.find(isList);
    if (list?.length === 0) return [];
    const type = typeof list?.[0] === "number" ? "bigint" : "text";
    let count = 0;
    const numbered = statement
      .replace("{in}", `= ANY(?::${type}[])`)
      .replace("{pairs}", "IN (SELECT * FROM unnest(?::bigint[], ?::bigint[]))")
      .replaceAll("?", () => {
        count += 1;
        return `$${count}`;
      });
    const { rows } = await this.#client.query<Row & QueryResultRow>(
      numbered,
      params.flatMap(parametersOf),
    );
    return rows;
  }

  async insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]> {
    if (rows.length === 0) return [];
    const arrays = columns.map((_, index) => rows.map((row) => row[index] ?? null));
    const types = columns.map((column) => `?::${TEXT_COLUMNS.has(column) ? "text" : "bigint"}[]`);
    // Ids are allocated first, so that each row's id is known.
    const drawn = await this.all<{ id: number }>(
      `SELECT nextval(pg_get_serial_sequence('${table}', 'id')) AS id FROM generate_series(1, ?::int)`,
      rows.length,
    );
    const ids = idsOf(drawn);
    const lists = `(id, ${columns.join(", ")}) SELECT * FROM unnest(?::bigint[], ${types.join(", ")})`;
    await this.all(`INSERT INTO ${table} ${lists}`, ids, ...arrays);
    return ids;
  }

  async index(rows: readonly IndexRow[]): Promise<void> {
    await this.unindex(idsOf(rows));
    await this.all(
      `INSERT INTO search (id, words) SELECT id, to_tsvector('stems', text)
       FROM unnest(?::bigint[], ?::text[]) AS row (id, text)`,
      idsOf(rows),
      // Words are split here because PostgreSQL's parser does not split addresses and numbers.
      rows.map(({ text }) => wordsOf(text).join(" ")),
    );
  }

  async unindex(ids: readonly number[]): Promise<void> {
    await this.all("DELETE FROM search WHERE id {in}", ids);
  }

  async matching(
    kind: Indexed,
    terms: readonly (readonly Term[])[],
    limit: number,
  ): Promise<number[]> {
    const [side, order] = kind === "entities" ? ["<", "ASC"] : [">", "DESC"];
    const queries = terms.map((any) => any.flatMap(queryOf));
    if (queries.some((any) => any.length === 0)) return [];
    const rows = await this.all<{ id: number }>(
      `SELECT abs(id) AS id FROM search WHERE words @@ to_tsquery('stems', ?) AND id ${side} 0
       ORDER BY id ${order} LIMIT ?`,
      queries.map((any) => `(${any.join(" | ")})`).join(" & "),
      limit,
    );
    return idsOf(rows);
  }

  async *vocabulary(): AsyncGenerator<readonly string[]> {
    const rows = await this.all<{ word: string }>(
      `SELECT word FROM ts_stat('(SELECT words FROM search WHERE id < 0 ORDER BY id LIMIT ${VOCABULARY_ROWS})
         UNION ALL (SELECT words FROM search WHERE id > 0 ORDER BY id DESC LIMIT ${VOCABULARY_ROWS})')
       ORDER BY word`,
    );
    yield rows.map(({ word }) => word);
  }
}

/** A term as a query; none if it has no words. */
function queryOf({ text, isPrefix = false }: Term): string[] {
  const words = wordsOf(spaced(text)).map((word) => `'${word}'`);
  return words.length === 0 ? [] : [`(${words.join(" <-> ")}${isPrefix ? ":*" : ""})`];
}

/** A parameter in PostgreSQL's form; pairs become two lists. */
function parametersOf(value: Parameter): unknown[] {
  if (!isList(value) || !isPairs(value)) return [value];
  return [value.map(([first]) => first), value.map(([, second]) => second)];
}

function isPairs(list: readonly Value[] | Pairs): list is Pairs {
  return Array.isArray(list[0]);
}
