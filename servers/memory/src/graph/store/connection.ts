import type { Table } from "./tables.ts";

export type Value = string | number | null;
export type Pairs = readonly (readonly [number, number])[];
/** A list is for `{in}`, pairs are for `{pairs}`. */
export type Parameter = Value | readonly Value[] | Pairs;

export function isList(value: Parameter): value is readonly Value[] | Pairs {
  return Array.isArray(value);
}

/** A row of the search index: a folded text under the id of an observation, or the negative id of an entity. */
export type IndexRow = { readonly id: number; readonly text: string };

/** A part of a search: folded words, one after the other; the last may be the beginning of a longer one. */
export type Term = { readonly text: string; readonly isPrefix?: boolean };

/** The kinds of rows of the search index. */
export type Indexed = "entities" | "observations";

/**
 * A connection inside a transaction, with everything that differs between SQLite and PostgreSQL. Statements are in the
 * SQL that both understand, with `?` for parameters, `{in}` for "is one of" after a column, and `{pairs}` for the same
 * after a pair of columns in parentheses. A statement with an empty list is not run.
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
   * The newest rows of the search index that have one of the terms of each list; their ids in the graph, newest first.
   */
  matching(kind: Indexed, terms: readonly (readonly Term[])[], limit: number): Promise<number[]>;
  /** The words of the search index, as stems, in parts of bounded size; PostgreSQL has those of the newest rows. */
  vocabulary(): AsyncIterable<readonly string[]>;
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

/** Parts of a list, for statements of bounded size. */
export function* parts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
