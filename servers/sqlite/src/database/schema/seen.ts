import { quoteIdentifier } from "@refmcp/sql/names";
import { MAX_VALUE_CHARS, MAX_VALUES } from "@refmcp/sql/values";
import type Database from "better-sqlite3";

/** Columns of a table whose values to look at. */
export interface SeenIn {
  readonly table: string;
  readonly columns: readonly string[];
  /** Whether rows can be found by `rowid`. */
  readonly hasRowId: boolean;
}

/** Rows to look at in a table: all, or parts of this many rows all over a larger one. */
const ROWS = 1_000;
const PARTS = 100;
/** Ends the look at large rows, in milliseconds. */
const MAX_MS = 300;

/**
 * The few different texts in columns, most frequent first, for each table; columns with many or long ones are left out. A
 * bounded look: the rows that it does not see may have others.
 */
export function seenValues(
  database: Database.Database,
  tables: readonly SeenIn[],
): Record<string, string[]>[] {
  const until = performance.now() + MAX_MS;
  return tables.map((table) => (performance.now() > until ? {} : seenIn(database, table, until)));
}

function seenIn(database: Database.Database, { table, columns, hasRowId }: SeenIn, until: number) {
  const counts = new Map(
    columns.map((name) => [name, { texts: new Map<string, number>(), rows: 0 }]),
  );
  for (const row of rowsOf(database, { table, columns, hasRowId })) {
    for (const [at, name] of columns.entries()) {
      const value = row[at];
      const count = counts.get(name);
      if (count === undefined || typeof value !== "string") continue;
      count.rows += 1;
      count.texts.set(value, (count.texts.get(value) ?? 0) + 1);
      if (value.length > MAX_VALUE_CHARS || count.texts.size >= MAX_VALUES) counts.delete(name);
    }
    if (counts.size === 0 || performance.now() > until) break;
  }
  const seen: Record<string, string[]> = {};
  for (const [name, { texts, rows }] of counts) {
    const values = [...texts]
      .sort(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
      .map(([text]) => text);
    if (values.length * 2 <= rows && values.some((text) => text.trim() !== "")) seen[name] = values;
  }
  return seen;
}

function* rowsOf(
  database: Database.Database,
  { table, columns, hasRowId }: SeenIn,
): Generator<unknown[]> {
  const from = quoteIdentifier(table);
  // A character more than a value may have; a long text is not read to its end.
  const cells = columns.map((name) => {
    const column = quoteIdentifier(name);
    return `CASE typeof(${column}) WHEN 'text' THEN substr(${column}, 1, ${MAX_VALUE_CHARS + 1}) END`;
  });
  const select = `SELECT ${cells.join(", ")} FROM ${from}`;
  const statement = (sql: string) => database.prepare<unknown[], unknown[]>(sql).raw(true);
  const ends = `SELECT (SELECT min(rowid) FROM ${from}), (SELECT max(rowid) FROM ${from})`;
  const [first, last] = hasRowId ? (statement(ends).get() ?? []) : [];
  if (typeof first !== "bigint" || typeof last !== "bigint" || last - first < BigInt(ROWS)) {
    yield* statement(`${select} LIMIT ${ROWS}`).iterate();
    return;
  }
  const part = statement(`${select} WHERE rowid >= ? LIMIT ${ROWS / PARTS}`);
  for (let at = 0n; at < PARTS; at++)
    yield* part.all(first + ((last - first) * at) / BigInt(PARTS));
}
