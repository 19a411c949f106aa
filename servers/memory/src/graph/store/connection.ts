import type { IndexedWord, Kind, WeightedWord } from "../types.ts";

export type Value = string | number | null;
export type Pairs = readonly (readonly [number, number])[];
/** A list is for `{in}`, pairs are for `{pairs}`. */
export type Parameter = Value | readonly Value[] | Pairs;

export function isList(value: Parameter): value is readonly Value[] | Pairs {
  return Array.isArray(value);
}

/** The tables with bulk inserts. */
export type Table = "entities" | "observations" | "relations" | "changes";

export const TABLES: Readonly<Record<Kind, Table>> = {
  entity: "entities",
  observation: "observations",
  relation: "relations",
};

/**
 * A row of the search index, folded, with spaces between words: an entity's name and type under its negative id, or the
 * content of one observation under its id.
 */
export type IndexRow = Readonly<Record<"name" | "type" | "content", string> & { id: number }>;

/** Counts of rows that have a word end here. */
export const MAX_COUNTED = 20_000;
/** Words of at least this length also match longer words that start with them. */
export const MIN_PREFIX = 4;
/** Below this length, words a few letters away are different words. */
export const MIN_NEAR = 5;

/** The kinds of rows of the search index. */
export type Indexed = "entities" | "observations";

export type Selected = { readonly select: string; readonly params: readonly Value[] };

/** Ends work early: an AbortSignal, or a flag that another thread can set while this one is busy. */
export interface Stop {
  /** @throws the reason if the work should end. */
  throwIfAborted(): void;
  /** Aborts when the work should end, for work that waits. */
  readonly signal?: AbortSignal;
}

/**
 * A connection inside a transaction, with everything that differs between SQLite and PostgreSQL. Statements are in the SQL
 * that both understand, with `?` for parameters, `{in}` for "is one of" after a column, and `{pairs}` for the same after a pair of
 * columns in parentheses. A statement with an empty list is not run.
 */
export interface Connection {
  all<Row extends object>(statement: string, ...params: readonly Parameter[]): Promise<Row[]>;
  /** Inserts rows and returns their ids in order. */
  insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
  ): Promise<number[]>;
  /** Writes rows to the search index, replacing those with the same ids. */
  index(rows: readonly IndexRow[]): Promise<void>;
  /** Removes rows from the search index. */
  unindex(ids: readonly number[]): Promise<void>;
  /**
   * How the search index contains a folded word; undefined if it has neither the word nor a similar one.
   *
   * @param rows how many rows the index has
   */
  lookUp(word: string, rows: number): Promise<IndexedWord | undefined>;
  /**
   * A SELECT of `id` and `score` (higher is better) of the rows of the search index that have any of some words, and its
   * parameters: those of entities, which have negative ids, or those of observations. The scores may be equal if there are no
   * more than `limit` rows.
   */
  matches(kind: Indexed, words: readonly WeightedWord[], limit: number): Selected;
}

/** Rows in the order of their ids, in batches; `page` returns those after an id. */
export async function* batches<Row extends { readonly id: number }>(
  page: (after: number, limit: number) => Promise<Row[]>,
  size: number,
  start = 0,
): AsyncGenerator<Row[]> {
  for (let after = start; ; ) {
    const rows = await page(after, size);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    after = last.id;
  }
}
