import type Database from "better-sqlite3";

/** The rows of one of our own statements, as the caller knows them. */
export const rowsFrom = <Row>(
  database: Database.Database,
  sql: string,
  ...params: unknown[]
): Row[] => database.prepare<unknown[], Row>(sql).all(...params);

/** The values of the first column. */
export const valuesFrom = <Value>(
  database: Database.Database,
  sql: string,
  ...params: unknown[]
): Value[] =>
  database
    .prepare<unknown[], Value>(sql)
    .pluck()
    .all(...params);
