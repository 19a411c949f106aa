import type { Bound } from "@refmcp/sql";
import { quoteIdentifier, unquoted } from "@refmcp/sql/names";
import type { Sqlite } from "@refmcp/sql/native";
import { tokenize } from "@refmcp/sql/statement";
import type Database from "better-sqlite3";
import { preparedReading } from "../connection/handle.ts";
import { rowsFrom, valuesFrom } from "../connection/rows.ts";

/** Columns that are tried as indexes, and schema objects that are copied for it. */
const MAX_CANDIDATES = 200;
const MAX_OBJECTS = 2_000;
/** Rows that are sampled to count the distinct values of a column. */
const SAMPLE = 10_000;
/** An index does not help tables with fewer rows. */
const MIN_ROWS = 100;
/** An index that saves a smaller share of row reads is not worth its writes. */
const MIN_GAIN = 0.05;
const MAX_PER_TABLE = 8;

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
    const found = /^(?:SCAN (.+)|SEARCH (.+) USING AUTOMATIC .*)$/s.exec(detail);
    return found === null || / USING (COVERING )?INDEX | VIRTUAL TABLE /.test(found[1] ?? "")
      ? []
      : [found[1] ?? found[2] ?? ""];
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
  const words = new Set(tokenize(sql).map(({ text }) => unquoted(text).toLowerCase()));
  const columns = `SELECT l.name AS "table", c.name AS "column" FROM pragma_table_list l JOIN pragma_table_xinfo(l.name) c
    WHERE l.schema = 'main' AND l.type = 'table' AND c.hidden = 0 AND lower(l.name) IN (SELECT value FROM json_each(?))
    LIMIT ?`;
  const found = rowsFrom<Candidate>(database, columns, JSON.stringify([...words]), MAX_CANDIDATES);
  return found.filter(({ column }) => words.has(column.toLowerCase()));
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
  const made = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'view', 'index')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'index', rowid LIMIT ?`;
  const copy = new sqlite(":memory:");
  try {
    copy.pragma("trusted_schema=OFF");
    for (const sql of valuesFrom<string>(database, made, MAX_OBJECTS)) {
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

export const creating = ({ name, table, columns }: Index) =>
  `CREATE INDEX ${quoteIdentifier(name)} ON ${quoteIdentifier(table)} (${columns.map(quoteIdentifier).join(", ")})`;

const planOf = (database: Database.Database, sql: string, params: readonly unknown[]) =>
  rowsFrom<{ id: number; parent: number; detail: string }>(
    database,
    `EXPLAIN QUERY PLAN ${sql}`,
    ...params,
  );

/**
 * Tries indexes for a workload on an empty copy of the schema in memory, with the real tables' statistics
 * (`sqlite_stat1`). Picks the index that saves the most estimated row reads, and repeats until none saves enough.
 */
export function tried(
  sqlite: Sqlite,
  database: Database.Database,
  statements: readonly Bound[],
  limit: number,
) {
  for (const { sql } of statements) preparedReading(database, sql);
  return withCopy(sqlite, database, (copy) =>
    picked(copy, new Statistics(database, copy), statements, limit),
  );
}

function picked(
  copy: Database.Database,
  statistics: Statistics,
  statements: readonly Bound[],
  limit: number,
) {
  const indexes = statements.flatMap(({ sql }) => statistics.indexesFor(sql));
  let left = [...new Map(indexes.map((one) => [creating(one), one])).values()];
  const read = () =>
    statements.map((statement) =>
      statistics.rowsRead(planOf(copy, statement.sql, statement.params)),
    );
  const sum = (rows: readonly number[]) => rows.reduce((all, one) => all + one, 0);
  let before = read();
  const result: {
    table: string;
    create: string;
    /** Estimated row reads of all statements. */
    before: number;
    after: number;
    /** Positions of the statements that read fewer rows. */
    statements: number[];
  }[] = [];
  while (result.length < limit) {
    let best: { index: Index; after: number[]; saved: number } | undefined;
    for (const index of left) {
      statistics.create(index);
      const after = read();
      statistics.drop(index);
      const saved = sum(before) - sum(after);
      // Between equal savings, the first has fewer columns and is smaller.
      if (best === undefined || saved > best.saved * 1.01) best = { index, after, saved };
    }
    if (best === undefined || best.saved <= sum(before) * MIN_GAIN) break;
    const { index, after } = best;
    statistics.create(index);
    result.push({
      table: index.table,
      create: creating(index),
      before: Math.round(sum(before)),
      after: Math.round(sum(after)),
      statements: after.flatMap((rows, at) => (rows < (before[at] ?? 0) ? [at] : [])),
    });
    left = left.filter((one) => one !== index);
    before = after;
  }
  return result;
}

/** Row counts of tables, and how many rows share a value of a column. */
class Statistics {
  readonly #database: Database.Database;
  readonly #copy: Database.Database;
  readonly #rows = new Map<string, number>();
  readonly #there: Index[] = [];

  constructor(database: Database.Database, copy: Database.Database) {
    this.#database = database;
    this.#copy = copy;
    // Creates sqlite_stat1, which stays empty without rows.
    copy.exec("ANALYZE");
    // Without those on expressions, which have no names.
    const indexes = `SELECT m.name AS "table", i.name, json_group_array(c.name) AS columns FROM sqlite_schema m
      JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c WHERE m.type = 'table'
      GROUP BY 1, 2 HAVING count(*) = count(c.name)`;
    for (const index of rowsFrom<Omit<Index, "columns"> & { columns: string }>(copy, indexes))
      this.#there.push({ ...index, columns: JSON.parse(index.columns) });
    for (const index of this.#there) this.#note(index);
    copy.exec("ANALYZE sqlite_schema");
  }

  /** Indexes on one or two columns that a statement names, for tables that are large enough. */
  indexesFor(sql: string): Index[] {
    const byTable = new Map<string, Candidate[]>();
    for (const one of candidatesOf(this.#database, sql))
      if (this.#rowsOf(one.table) >= MIN_ROWS)
        byTable.set(one.table, [...(byTable.get(one.table) ?? []), one]);
    return [...byTable]
      .flatMap(([table, all]) => {
        const columns = all.slice(0, MAX_PER_TABLE).map(({ column }) => column);
        const pairs = columns.flatMap((a) => columns.filter((b) => b !== a).map((b) => [a, b]));
        return [...columns.map((column) => [column]), ...pairs].map((list) => ({
          name: this.#freeName([table, ...list].join("_")),
          table,
          columns: list,
        }));
      })
      .filter(
        (index) =>
          !this.#there.some(
            (one) =>
              one.table === index.table &&
              index.columns.every((column, at) => one.columns[at] === column),
          ),
      );
  }

  /** Tables and indexes share a namespace. */
  #freeName(wanted: string): string {
    const taken = new Set(
      valuesFrom<string>(this.#database, "SELECT lower(name) FROM sqlite_schema"),
    );
    let name = wanted;
    for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${wanted}_${count}`;
    return name;
  }

  create(index: Index): void {
    this.#copy.exec(creating(index));
    this.#note(index);
    this.#copy.exec("ANALYZE sqlite_schema");
  }

  drop(index: Index): void {
    this.#copy.exec(`DROP INDEX ${quoteIdentifier(index.name)}`);
  }

  /** Each line of a plan that reads a table is a loop inside the previous ones (SQLite, "EXPLAIN QUERY PLAN"). */
  rowsRead(plan: readonly { readonly detail: string }[]): number {
    let loops = 1;
    let rows = 0;
    for (const { detail } of plan) {
      const found =
        /^(SCAN|SEARCH) (.+?)(?: USING (?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?(?:INDEX (.+?)|INTEGER PRIMARY KEY))?(?: \((.*)\))?$/s.exec(
          detail,
        );
      if (found === null) continue;
      const [, how, , index, terms = ""] = found;
      const each =
        how === "SCAN" ? this.#scanned(found[2] ?? "", index) : this.#searched(index, terms);
      rows += loops * each;
      loops *= Math.max(1, each);
    }
    return rows;
  }

  #scanned(name: string, index: string | undefined): number {
    return (index === undefined ? undefined : this.#statOf(index)[0]) ?? this.#aliased(name);
  }

  #searched(index: string | undefined, terms: string): number {
    if (index === undefined) return /[<>]/.test(terms) ? 1_000 : 1;
    const stat = this.#statOf(index);
    const equal = terms.split(" AND ").filter((term) => term.endsWith("=?")).length;
    const rows = stat[equal] ?? stat.at(-1) ?? 1;
    // SQLite's estimate for a range without sqlite_stat4.
    return /[<>]/.test(terms) ? Math.max(1, rows / 4) : rows;
  }

  /** Plans name the alias, if there is one; an unknown name counts as the largest table. */
  #aliased(name: string): number {
    return this.#rows.get(name) ?? Math.max(1, ...this.#rows.values());
  }

  #statOf(index: string): number[] {
    const [stat] = valuesFrom<string>(
      this.#copy,
      "SELECT stat FROM sqlite_stat1 WHERE idx = ?",
      index,
    );
    return stat?.split(" ").map(Number) ?? [];
  }

  /** Adds a row to `sqlite_stat1`: rows, then rows that share the first column's value, the first two columns' values, … */
  #note({ name: index, table, columns }: Index): void {
    const rows = this.#rowsOf(table);
    if (rows === 0) return;
    const seen = Math.min(rows, SAMPLE);
    const counts = columns.map((_, at) => {
      const first = columns.slice(0, at + 1).map(quoteIdentifier);
      const sample = `SELECT DISTINCT ${first.join(", ")} FROM (SELECT * FROM ${quoteIdentifier(table)} LIMIT ${SAMPLE})`;
      const distinct = Math.max(1, this.#count(`(${sample})`));
      // If nearly all values in the sample differ, they do in the table.
      return distinct > seen * 0.9 ? 1 : Math.max(1, Math.round(rows / distinct));
    });
    this.#copy.prepare("DELETE FROM sqlite_stat1 WHERE idx = ?").run(index);
    this.#copy
      .prepare("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)")
      .run(table, index, [rows, ...counts].join(" "));
  }

  #rowsOf(table: string): number {
    const known = this.#rows.get(table);
    if (known !== undefined) return known;
    const rows = this.#count(quoteIdentifier(table));
    this.#rows.set(table, rows);
    return rows;
  }

  #count(from: string): number {
    return Number(valuesFrom<bigint>(this.#database, `SELECT count(*) FROM ${from}`)[0]);
  }
}
