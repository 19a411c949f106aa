import { quoteIdentifier } from "@refmcp/sql/names";
import type { Sqlite } from "@refmcp/sql/native";
import { tokenize } from "@refmcp/sql/tokens";
import type Database from "better-sqlite3";
import { requireReadOnly } from "../connection/handle.ts";
import type { Bound, Explained } from "../connection/protocol.ts";

/** Columns that are tried as indexes, and schema objects that are copied for it. */
const MAX_CANDIDATES = 200;
const MAX_OBJECTS = 2_000;

export interface Candidate {
  readonly table: string;
  readonly column: string;
}

/**
 * The plan of a reading statement, and indexes that SQLite itself would choose for the tables that the plan scans: an empty
 * copy of the schema in memory gets an index on each of their columns, and the statement is planned again. Row counts are
 * not considered, so small tables get advice too.
 */
export function planned(sqlite: Sqlite, database: Database.Database, { sql, params }: Bound): Explained {
  requireReadOnly(database.prepare(sql));
  const plan = planOf(database, sql, params);
  const scanned = plan.flatMap(({ detail }) => {
    const found = /^(?:SCAN (.+)|SEARCH (.+) USING AUTOMATIC .*)$/s.exec(detail);
    return found === null || / USING (COVERING )?INDEX | VIRTUAL TABLE /.test(found[1] ?? "")
      ? []
      : [found[1] ?? found[2] ?? ""];
  });
  if (scanned.length === 0) return { plan, indexes: [] };
  try {
    const indexes = withCopy(sqlite, database, (copy) =>
      advised(copy, database, { sql, params }, new Set(scanned)),
    );
    return { plan, indexes };
  } catch {
    // If the schema can't be copied, because a function or module is missing, there is no advice.
    return { plan, indexes: [] };
  }
}

function advised(
  copy: Database.Database,
  database: Database.Database,
  { sql, params }: Bound,
  scanned: ReadonlySet<string>,
): string[] {
  const candidates = candidatesOf(database, sql);
  for (const [index, { table, column }] of candidates.entries())
    copy.exec(creating({ name: `refmcp_candidate_${index}`, table, columns: [column] }));
  const chosen = planOf(copy, sql, params).flatMap(({ detail }) => {
    const [, name = "", index] =
      /^SEARCH (.+) USING (?:COVERING )?INDEX refmcp_candidate_(\d+)/s.exec(detail) ?? [];
    const candidate = candidates[Number(index)];
    return candidate === undefined || !scanned.has(name) ? [] : [candidate];
  });
  const shown = chosen.map(({ table, column }) =>
    creating({ name: `${table}_${column}`, table, columns: [column] }),
  );
  return [...new Set(shown)];
}

/** The columns of tables that a statement names. */
export function candidatesOf(database: Database.Database, sql: string): Candidate[] {
  const words = new Set(tokenize(sql).map(({ text }) => plain(text).toLowerCase()));
  return database
    .prepare<unknown[], Candidate>(
      `SELECT l.name AS "table", c.name AS "column" FROM pragma_table_list l JOIN pragma_table_xinfo(l.name) c
       WHERE l.schema = 'main' AND l.type = 'table' AND c.hidden = 0 AND lower(l.name) IN (SELECT value FROM json_each(?))
       LIMIT ?`,
    )
    .all(JSON.stringify([...words]), MAX_CANDIDATES)
    .filter(({ column }) => words.has(column.toLowerCase()));
}

/**
 * Does work on an empty copy of the tables, views and indexes in memory. Their SQL comes from the file, so nothing that would
 * run a query is copied.
 */
export function withCopy<Result>(
  sqlite: Sqlite,
  database: Database.Database,
  work: (copy: Database.Database) => Result,
): Result {
  const made = database
    .prepare<unknown[], { sql: string }>(
      `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'view', 'index') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY type = 'index', rowid LIMIT ?`,
    )
    .all(MAX_OBJECTS);
  const copy = new sqlite(":memory:");
  try {
    copy.pragma("trusted_schema=OFF");
    for (const { sql } of made) {
      const words = tokenize(sql).slice(0, 400);
      if (words[1]?.text.toUpperCase() === "TABLE" && words[3]?.text.toUpperCase() === "AS") continue;
      if (words[1]?.text.toUpperCase() === "VIRTUAL") continue;
      copy.prepare(sql).run();
    }
    return work(copy);
  } finally {
    copy.close();
  }
}

export interface Index {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** The statement that creates an index. */
export const creating = ({ name, table, columns }: Index) =>
  `CREATE INDEX ${quoteIdentifier(name)} ON ${quoteIdentifier(table)} (${columns.map(quoteIdentifier).join(", ")})`;

export function planOf(database: Database.Database, sql: string, params: readonly unknown[]) {
  return database.prepare<unknown[], Explained["plan"][number]>(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
}

/** A name without its quotes. */
const plain = (name: string) => {
  const quote = name.charAt(0);
  if (quote === "[") return name.slice(1, -1);
  return quote === '"' || quote === "`" ? name.slice(1, -1).replaceAll(quote + quote, quote) : name;
};
