import { nearest } from "@refmcp/boundary/answer";
import type { ClientBase, QueryResultRow } from "pg";
import { nearForms, spaced, stemOf, wordsOf } from "../text.ts";
import { type IndexedWord, idsOf, type WeightedWord } from "../types.ts";
import {
  type Connection,
  type Indexed,
  type IndexRow,
  isList,
  MAX_COUNTED,
  MIN_NEAR,
  MIN_PREFIX,
  type Pairs,
  type Parameter,
  type Selected,
  type Stop,
  type Table,
  type Value,
} from "./connection.ts";

/** When rows are inserted, the parameters of the other columns are bigints. */
const TEXT_COLUMNS = new Set([
  "name",
  "name_key",
  "folded",
  "type",
  "content",
  "source",
  "action",
  "items",
]);

/** How much more a word counts in a name or a type than in an observation (weights D, C, B, A). */
const WEIGHTS = "{0, 0.1, 0.2, 0.5}";
/** The words of how many entities and observations are compared with a word that has no match. */
const STEM_ROWS = 20_000;

/** The rank of a row that has a word inside other words; about half the rank of one that has the word itself once. */
const PART_RANK = 0.03;
const MATCHES = "words @@ to_tsquery('stems', ?)";
const CONTAINS = "content LIKE ?";
const CONDITIONS: Readonly<Record<IndexedWord["as"], string>> = {
  word: MATCHES,
  near: MATCHES,
  part: CONTAINS,
  sign: CONTAINS,
};

/** A connection to PostgreSQL, inside a transaction. */
export class PostgresConnection implements Connection {
  readonly #client: ClientBase;
  readonly #stop: Stop | undefined;

  constructor(client: ClientBase, stop: Stop | undefined) {
    this.#client = client;
    this.#stop = stop;
  }

  async all<Row extends object>(
    statement: string,
    ...params: readonly Parameter[]
  ): Promise<Row[]> {
    this.#stop?.throwIfAborted();
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
    const values = params.flatMap(stored);
    const { rows } = await this.#client.query<Row & QueryResultRow>(numbered, values);
    // The rows were just received, so they can be changed in place.
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (typeof value === "string" && value.includes(MARK))
          Object.assign(row, { [column]: fromStored(value) });
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
    if (rows.length === 0) return;
    await this.unindex(idsOf(rows));
    // Words are split here because PostgreSQL's parser does not split addresses and numbers.
    const words = (text: (row: IndexRow) => string) =>
      rows.map((row) => wordsOf(text(row)).join(" "));
    await this.all(
      `INSERT INTO found (id, content, words)
       SELECT id, content,
         setweight(to_tsvector('stems', name_words), 'A') ||
         setweight(to_tsvector('stems', type_words), 'B') ||
         setweight(to_tsvector('stems', content_words), 'C')
       FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[])
         AS row (id, content, name_words, type_words, content_words)`,
      idsOf(rows),
      rows.map(({ name, type, content }) => `${name}\n${type}\n${content}`.trim()),
      words(({ name }) => name),
      words(({ type }) => type),
      words(({ content }) => content),
    );
  }

  async unindex(ids: readonly number[]): Promise<void> {
    await this.all("DELETE FROM found WHERE id {in}", ids);
  }

  async lookUp(word: string): Promise<IndexedWord | undefined> {
    const letters = wordsOf(spaced(word));
    if (letters.length > 0) {
      const phrase = letters.map((letter) => `'${letter}'`).join(" <-> ");
      const beginning = `${phrase}:*`;
      const query = word.length < MIN_PREFIX ? phrase : `(${phrase}) | (${beginning})`;
      const found =
        (await this.#found(word, "word", query)) ?? (await this.#found(word, "word", beginning));
      if (found !== undefined) return found;
    }
    const pattern = `%${word.replace(/[\\%_]/g, "\\$&")}%`;
    const isSign = letters.length === 0;
    const inside = await this.#found(word, isSign ? "sign" : "part", pattern, [word]);
    if (inside !== undefined || word.length < MIN_NEAR) return inside;
    const known = await this.all<{ word: string }>(
      `SELECT word FROM ts_stat('(SELECT words FROM found WHERE id < 0 ORDER BY id LIMIT ${STEM_ROWS})
         UNION ALL (SELECT words FROM found WHERE id > 0 ORDER BY id DESC LIMIT ${STEM_ROWS})')
       WHERE starts_with(word, ?)`,
      word.slice(0, 1),
    );
    const stems = known.map((row) => row.word);
    const near = [...new Set(nearForms(word).flatMap((form) => nearest(form, stems, 2)))];
    const query = near.map((stem) => `'${stem}'`).join(" | ");
    return near.length === 0 ? undefined : this.#found(word, "near", query, near);
  }

  /** The query with the number of its rows; undefined if nothing matches. */
  async #found(
    word: string,
    as: IndexedWord["as"],
    query: string,
    stems: readonly string[] = [stemOf(word)],
  ): Promise<IndexedWord | undefined> {
    const [row] = await this.all<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT FROM found WHERE ${CONDITIONS[as]} LIMIT ${MAX_COUNTED}) matching`,
      query,
    );
    return row === undefined || row.count === 0
      ? undefined
      : { word, as, query, stems, count: row.count };
  }

  matches(kind: Indexed, words: readonly WeightedWord[]): Selected {
    const side = `id ${kind === "entities" ? "<" : ">"} 0`;
    const parts = words.map(({ as, query, weight }) =>
      CONDITIONS[as] === MATCHES
        ? {
            select: `SELECT id, ?::float8 * ts_rank('${WEIGHTS}', words, to_tsquery('stems', ?), 1) AS score
              FROM found WHERE ${MATCHES} AND ${side}`,
            params: [weight, query, query],
          }
        : {
            select: `SELECT id, ?::float8 * ${PART_RANK} AS score FROM found WHERE ${CONTAINS} AND ${side}`,
            params: [weight, query],
          },
    );
    const union = parts.map(({ select }) => select).join(" UNION ALL ");
    return {
      select: `SELECT id, sum(score) AS score FROM (${union}) one GROUP BY id`,
      params: parts.flatMap(({ params }) => params),
    };
  }
}

/** A parameter in PostgreSQL's form; pairs become two lists. */
function stored(value: Parameter): unknown[] {
  const one = (single: Value) => (typeof single === "string" ? toStored(single) : single);
  if (!isList(value)) return [one(value)];
  if (isPairs(value)) return [value.map(([first]) => first), value.map(([, second]) => second)];
  return [value.map(one)];
}

function isPairs(list: readonly Value[] | Pairs): list is Pairs {
  return Array.isArray(list[0]);
}

/**
 * PostgreSQL's text cannot contain NUL. It is stored as a pair of characters that begins with the last code point of Unicode's
 * private use plane, and that code point itself as another pair. All other text is unchanged.
 */
const MARK = "\u{10fffd}";

/** Converts text to the form that PostgreSQL stores. */
export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, `${MARK}1`).replaceAll("\0", `${MARK}0`);
}

/** Converts stored text back. */
export function fromStored(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replaceAll(`${MARK}0`, "\0").replaceAll(`${MARK}1`, MARK);
}
