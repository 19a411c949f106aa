import type { IndexedWord, Kind } from "../types.ts";

export type Value = string | number | null | Uint8Array;

/** The tables that rows are inserted into many at a time. */
export type Table = "entities" | "observations" | "relations" | "changes";

/** A row of the search index: all texts of one entity, folded and with spaces between their words. */
export interface IndexRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

/**
 * A connection inside a transaction, and what SQLite and PostgreSQL do differently. Statements are written in
 * the SQL that both understand, with `?` for parameters and `{in}` for "is one of" after a column.
 */
export interface Session {
  all<Row extends object>(statement: string, ...params: readonly Value[]): Promise<Row[]>;
  run(statement: string, ...params: readonly Value[]): Promise<void>;
  /**
   * Runs a statement with one `{in}`, whose list is `values`; none if the list is empty. `params` are the other
   * parameters in the order of the text.
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
  /** Puts rows into the search index, in place of those of the same entities. */
  index(rows: readonly IndexRow[]): Promise<void>;
  /** Takes entities out of the search index. */
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
