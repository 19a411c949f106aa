import type { Bound, Plan } from "@refmcp/sql";
import { quoteIdentifier, unquoted } from "@refmcp/sql/names";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { preparedReading } from "../driver/handle.ts";
import { rowsFrom, valuesFrom } from "../driver/rows.ts";
import { folded, tokenize } from "../gate/tokens.ts";

/** Columns that are tried as indexes, and schema objects that are copied for it. */
const MAX_CANDIDATES = 200;
const MAX_OBJECTS = 2_000;

interface Candidate {
  readonly table: string;
  readonly column: string;
}

/**
 * The plan of a reading statement, and indexes that SQLite itself would choose for the tables that the plan scans: an empty
 * copy of the schema in memory gets an index on each of their columns, and the statement is planned again. Row counts are
 * not considered, so small tables get advice too.
 */
export function planned(sqlite: Sqlite, database: Database.Database, { sql, params }: Bound) {
  preparedReading(database, sql);
  const plan = planOf(database, sql, params);
  const scanned = plan.flatMap(({ detail }) => {
    const match = /^(?:SCAN (.+)|SEARCH (.+) USING AUTOMATIC .*)$/s.exec(detail);
    return match === null || / USING (COVERING )?INDEX | VIRTUAL TABLE /.test(match[1] ?? "")
      ? []
      : [match[1] ?? match[2] ?? ""];
  });
  let indexes: string[] = [];
  try {
    if (scanned.length > 0)
      indexes = withCopy(sqlite, database, (copy) => {
        const candidates = candidatesOf(database, sql);
        for (const [at, { table, column }] of candidates.entries())
          copy.exec(creating({ name: `refmcp_candidate_${at}`, table, columns: [column] }));
        return planOf(copy, sql, params).flatMap(({ detail }) => {
          const [, name = "", at] =
            /^SEARCH (.+) USING (?:COVERING )?INDEX refmcp_candidate_(\d+)/s.exec(detail) ?? [];
          const { table, column } = candidates[Number(at)] ?? {};
          if (table === undefined || column === undefined || !scanned.includes(name)) return [];
          return [creating({ name: `${table}_${column}`, table, columns: [column] })];
        });
      });
  } catch {
    // If the schema can't be copied, because a function or module is missing, there is no advice.
  }
  return { plan, indexes: [...new Set(indexes)] };
}

function candidatesOf(database: Database.Database, sql: string): Candidate[] {
  const words = new Set(tokenize(sql).map(({ text }) => folded(unquoted(text))));
  const columns = `SELECT l.name AS "table", c.name AS "column" FROM pragma_table_list l JOIN pragma_table_xinfo(l.name) c
    WHERE l.schema = 'main' AND l.type = 'table' AND c.hidden = 0 AND lower(l.name) IN (SELECT value FROM json_each(?))
    LIMIT ?`;
  const candidates = rowsFrom<Candidate>(
    database,
    columns,
    JSON.stringify([...words]),
    MAX_CANDIDATES,
  );
  return candidates.filter(({ column }) => words.has(folded(column)));
}

/**
 * Does work on an empty copy of the tables, views and indexes in memory. Their SQL comes from the file, so nothing that would
 * run a query is copied.
 */
function withCopy<Result>(
  sqlite: Sqlite,
  database: Database.Database,
  work: (copy: Database.Database) => Result,
): Result {
  const definitions = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'view', 'index')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'index', rowid LIMIT ?`;
  const copy = new sqlite(":memory:");
  try {
    copy.pragma("trusted_schema=OFF");
    for (const sql of valuesFrom<string>(database, definitions, MAX_OBJECTS)) {
      const [, what, , next] = tokenize(sql).map(({ text }) => text.toUpperCase());
      if (what !== "VIRTUAL" && !(what === "TABLE" && next === "AS")) copy.prepare(sql).run();
    }
    return work(copy);
  } finally {
    copy.close();
  }
}

interface Index {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
}

const creating = ({ name, table, columns }: Index) =>
  `CREATE INDEX ${quoteIdentifier(name)} ON ${quoteIdentifier(table)} (${columns.map(quoteIdentifier).join(", ")})`;

interface PlanRow {
  readonly id: bigint;
  readonly parent: bigint;
  readonly detail: string;
}

const planOf = (database: Database.Database, sql: string, params: readonly unknown[]) =>
  rowsFrom<PlanRow>(database, `EXPLAIN QUERY PLAN ${sql}`, ...params);

/** The plan as an indented tree, its full scans, and indexes that would help. */
export function shownPlan({ plan, indexes }: ReturnType<typeof planned>): Plan {
  const scans = plan.flatMap(
    ({ detail }) => /^SCAN (.+?)(?: VIRTUAL TABLE.*| USING.*)?$/s.exec(detail)?.[1] ?? [],
  );
  return {
    plan: indented(plan),
    full_scans: [...new Set(scans)].filter((name) => name !== "CONSTANT ROW"),
    missing_indexes: [...indexes],
  };
}

/** One line for each node. */
function indented(rows: readonly PlanRow[]): string[] {
  const depths = new Map<bigint, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(id, depth);
    return `${"  ".repeat(depth)}${detail}`;
  });
}
