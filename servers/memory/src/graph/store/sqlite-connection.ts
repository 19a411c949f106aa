import { nearest } from "@refmcp/boundary/answer";
import type { Database, Statement } from "better-sqlite3";
import { isUnspaced, nearForms, spaced, stemOf, TYPO_LETTERS, typosOf, wordsOf } from "../text.ts";
import type { IndexedWord, WeightedWord } from "../types.ts";
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

/** How much more a word counts in a name or a type than in an observation (columns name, type, content). */
const WEIGHTS = "5.0, 2.0, 1.0";
/** Rows of one INSERT statement. */
const INSERTED_AT_ONCE = 50;
/** How many of the newest rows are looked at if all words of a query are common. */
const MAX_NEWEST = 1_001;
/** How many indexed words may replace a word that is inside them, and how many are scanned for it. */
const MAX_PARTS = 8;
const MAX_SCANNED = 150_000;

const IN_LIST = "IN (SELECT value FROM json_each(?))";
const IN_PAIRS =
  "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))";

/** Lists of at most this many values are written out, which costs less than to read them from JSON. */
const MAX_SHORT_LIST = 8;

/** A connection to a SQLite file, inside a transaction. It is synchronous; promises only satisfy the interface. */
export class SqliteConnection implements Connection {
  /** Checked before every statement and for every row of a search, so that long work ends when its call does. */
  stop: Stop | undefined;
  readonly db: Database;
  readonly #prepared = new Map<string, Statement<unknown[]>>();

  constructor(db: Database) {
    this.db = db;
    db.function("not_stopped", { deterministic: false, directOnly: true }, () => {
      this.stop?.throwIfAborted();
      return 1;
    });
  }

  async all<Row extends object>(
    statement: string,
    ...params: readonly Parameter[]
  ): Promise<Row[]> {
    if (params.some((value) => isList(value) && value.length === 0)) return [];
    // Texts in lists are keys only: SQLite's JSON would end a string at NUL.
    const values = params.flatMap((value) => {
      if (!isList(value)) return [value];
      return isShort(value) ? value : [JSON.stringify(value)];
    });
    const short = params.find(isList);
    const inList =
      short !== undefined && isShort(short) ? `IN (${short.map(() => "?").join(", ")})` : IN_LIST;
    return this.#all<Row>(statement.replace("{in}", inList).replace("{pairs}", IN_PAIRS), values);
  }

  async insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]> {
    const marks = `(${columns.map(() => "?").join(", ")})`;
    const ids: number[] = [];
    for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE) {
      const part = rows.slice(at, at + INSERTED_AT_ONCE);
      const values = part.map(() => marks).join(", ");
      const statement = this.#prepare(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${values}`,
      );
      const last = Number(statement.run(...part.flat()).lastInsertRowid);
      // AUTOINCREMENT increases by one, and there is no other writer during the transaction.
      ids.push(...part.map((_, index) => last - part.length + 1 + index));
    }
    return ids;
  }

  async index(rows: readonly IndexRow[]): Promise<void> {
    const insert = this.#prepare(
      "INSERT OR REPLACE INTO search (rowid, name, type, content) VALUES (?, ?, ?, ?)",
    );
    for (const { id, name, type, content } of rows) insert.run(id, name, type, content);
  }

  async unindex(ids: readonly number[]): Promise<void> {
    const statement = this.#prepare("DELETE FROM search WHERE rowid = ?");
    for (const id of ids) statement.run(id);
  }

  async lookUp(word: string, rows: number): Promise<IndexedWord | undefined> {
    const found = (
      as: IndexedWord["as"],
      query: string,
      stems: readonly string[] = [stemOf(word)],
    ) => {
      const select = as === "sign" ? SIGNS : INDEXED;
      const [{ count } = { count: 0 }] = this.#all<{ count: number }>(
        `SELECT count(*) AS count FROM (${select} LIMIT ${MAX_COUNTED})`,
        as === "sign" ? [query, query] : [query],
      );
      return count === 0 ? undefined : { word, as, query, stems, count };
    };
    if (wordsOf(word).length === 0) return found("sign", word, [word]);
    const phrase = quoted(spaced(word));
    const beginning = `${phrase} *`;
    const both = `${phrase} OR ${beginning}`;
    const isPrefix = word.length >= MIN_PREFIX;
    // A word that is in very many rows does not need longer ones, which cost much to look up.
    const whole = isPrefix && rows < MAX_COUNTED ? undefined : found("word", phrase);
    const isEnough = !isPrefix || whole?.count === MAX_COUNTED;
    const longer = whole !== undefined && isEnough ? whole : found("word", both);
    if (longer !== undefined) return longer;
    if (isUnspaced(word)) {
      const pairs = pairsOf(word);
      return pairs.length === 0
        ? undefined
        : found("part", pairs.map((pair) => quoted(spaced(pair))).join(" OR "), pairs);
    }
    const [parts, as] = this.#like(word);
    return parts.length === 0
      ? undefined
      : found(as, parts.map(quoted).join(" OR "), as === "part" ? [word] : parts);
  }

  matches(kind: Indexed, words: readonly WeightedWord[], limit: number): Selected {
    const side = kind === "entities" ? "<" : ">";
    if (words.every(({ isCommon }) => isCommon)) {
      // Nearly all rows match alike, so the newest that have all words come first, then the newest that have any.
      const newest = `SELECT rowid AS id FROM search WHERE search MATCH ? AND rowid ${side} 0 AND not_stopped()
        ORDER BY rowid ${kind === "entities" ? "ASC" : "DESC"} LIMIT ${MAX_NEWEST}`;
      const having = (operator: string) => words.map(({ query }) => `(${query})`).join(operator);
      return {
        select: `SELECT id, max(score) AS score FROM (SELECT id, 2 AS score FROM (${newest})
          UNION ALL SELECT id, 1 FROM (${newest})) GROUP BY id`,
        params: [having(" AND "), having(" OR ")],
      };
    }
    const signs = words.filter(({ as }) => as === "sign");
    // bm25() and the check for every row are most of the cost of a search in a small memory.
    const rows = words.reduce((sum, { count }) => sum + count, 0);
    if (rows <= limit && signs.length === 0)
      return {
        select: `SELECT rowid AS id, 0 AS score FROM search WHERE search MATCH ? AND rowid ${side} 0`,
        params: [words.map((word) => `(${word.query})`).join(" OR ")],
      };
    const others = words.filter(({ as }) => as !== "sign");
    const selects = signs.map(
      ({ weight }) => `SELECT id, ${weight} AS score FROM (${SIGNS_OF[kind]})`,
    );
    // Without the LIMIT, SQLite would move bm25() to a place where it cannot be computed.
    const indexed = `SELECT rowid AS id, -bm25(search, ${WEIGHTS}) AS score FROM search
      WHERE search MATCH ? AND rowid ${side} 0 AND not_stopped() LIMIT -1`;
    if (others.length > 0) selects.push(indexed);
    const query = others.map((word) => `(${word.query})`).join(" OR ");
    const union = selects.map((select) => `SELECT id, score FROM (${select})`).join(" UNION ALL ");
    return {
      select:
        selects.length === 1 ? union : `SELECT id, sum(score) AS score FROM (${union}) GROUP BY id`,
      params: [...signs.map(({ word }) => word), ...(others.length > 0 ? [query] : [])],
    };
  }

  /** Stems that contain the word, or else those a few letters away. */
  #like(word: string): [string[], "part" | "near"] {
    const terms = (statement: string, ...params: Value[]) =>
      this.#all<{ term: string }>(statement, params).map(({ term }) => term);
    // Numbers come first in the index, and contain no letters.
    const inside = terms(
      `SELECT term FROM (SELECT term FROM terms WHERE term >= ? LIMIT ${MAX_SCANNED}) WHERE instr(term, ?) > 0 LIMIT ${MAX_PARTS}`,
      /\p{N}/u.test(word) ? "" : "a",
      word,
    );
    if (inside.length > 0 || word.length < MIN_NEAR) return [inside, "part"];
    const near = nearForms(word).flatMap((form) => {
      const beginning = form.slice(0, TYPO_LETTERS);
      const known = terms(
        `SELECT term FROM (SELECT term FROM terms WHERE term >= ? AND term < ? LIMIT ${MAX_SCANNED})
         UNION SELECT term FROM terms WHERE term IN (SELECT value FROM json_each(?))`,
        beginning,
        `${beginning}\u{10ffff}`,
        JSON.stringify(typosOf(form)),
      );
      return nearest(form, known, 2);
    });
    return [near, "near"];
  }

  #all<Row>(statement: string, params: readonly Value[]): Row[] {
    this.stop?.throwIfAborted();
    const prepared = this.#prepare(statement);
    // The statement determines the type of its rows, which TypeScript cannot know.
    if (prepared.reader) return prepared.all(...params) as Row[];
    prepared.run(...params);
    return [];
  }

  #prepare(statement: string): Statement<unknown[]> {
    const prepared = this.#prepared.get(statement) ?? this.db.prepare<unknown[]>(statement);
    this.#prepared.set(statement, prepared);
    return prepared;
  }
}

function isShort(list: readonly Value[] | Pairs): list is readonly Value[] {
  return list.length <= MAX_SHORT_LIST && !Array.isArray(list[0]);
}

const INDEXED = "SELECT rowid AS id FROM search WHERE search MATCH ?";
/** Symbols that are not words are searched in the texts themselves. */
const SIGNS_OF: Readonly<Record<Indexed, string>> = {
  entities:
    "SELECT -id AS id FROM entities WHERE removed_by IS NULL AND instr(name, ?) AND not_stopped()",
  observations:
    "SELECT id FROM observations WHERE removed_by IS NULL AND superseded_at IS NULL AND instr(content, ?) AND not_stopped()",
};
const SIGNS = `${SIGNS_OF.entities} UNION ALL ${SIGNS_OF.observations}`;

/** Pairs of adjacent characters of a word in a script without spaces. */
function pairsOf(word: string): string[] {
  const characters = wordsOf(spaced(word));
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** User text as one FTS5 string: nothing in quotes is an operator (SQLite, "FTS5 Strings"). */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
