import type { IndexedWord, Kind } from "../types.ts";

export type Value = string | number | null | Uint8Array;

/** The tables that rows are inserted into many at a time. */
export type Table = "entities" | "observations" | "relations" | "changes";

/** A row of the search index: all texts of one entity, folded, with spaces between words. */
export interface IndexRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

/** Weight of a word that is only similar to the one in the query. */
export const NEAR_WEIGHT = 0.7;
/** From this many characters on, a word also matches longer ones that start with it. */
export const MIN_PREFIX = 4;
/** Below this length, words a few letters away are different words. */
export const MIN_NEAR = 5;

/** Puts the value of `{in}` between the other parameters of a statement, in the order of the text. */
export function withList<Item, List>(
  statement: string,
  list: List,
  params: readonly Item[],
): (Item | List)[] {
  const at = statement.slice(0, statement.indexOf("{in}")).split("?").length - 1;
  return [...params.slice(0, at), list, ...params.slice(at)];
}

/**
 * A connection inside a transaction, with everything that differs between SQLite and PostgreSQL. Statements are in the SQL
 * that both understand, with `?` for parameters and `{in}` for "is one of" after a column.
 */
export interface Session {
  all<Row extends object>(statement: string, ...params: readonly Value[]): Promise<Row[]>;
  run(statement: string, ...params: readonly Value[]): Promise<void>;
  /**
   * Runs a statement with one `{in}`, whose list is `values`; not run if the list is empty. `params` are the other parameters,
   * in order.
   */
  among<Row extends object>(
    statement: string,
    values: readonly number[] | readonly string[],
    ...params: readonly Value[]
  ): Promise<Row[]>;
  /** Runs a statement with one `{pairs}` after a pair of columns in parentheses: "is one of these pairs". */
  amongPairs<Row extends object>(
    statement: string,
    pairs: readonly (readonly [number, number])[],
  ): Promise<Row[]>;
  /** Inserts rows and returns their ids in order. */
  insert(table: Table, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<number[]>;
  /** Writes rows to the search index, replacing those of the same entities. */
  index(rows: readonly IndexRow[]): Promise<void>;
  /** Removes entities from the search index. */
  unindex(ids: readonly number[]): Promise<void>;
  /** See `Reader.lookUp`. */
  lookUp(word: string): Promise<IndexedWord | undefined>;
  /** A SELECT of `id` and `score` of the entities that have a word, and its parameters. */
  scored(word: IndexedWord): { readonly select: string; readonly params: readonly Value[] };
}

export const TABLES: Readonly<Record<Kind, Table>> = {
  entity: "entities",
  observation: "observations",
  relation: "relations",
};
