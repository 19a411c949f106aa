import { clip, ToolError } from "@refmcp/boundary/answer";
import type { Database, Session, Work } from "../connection/database.ts";
import { passReading } from "../gate/read-gate.ts";
import { namesOf, parseSql, relationName, treeOf, walk } from "../gate/syntax.ts";
import { genericPlan, placesOf, schemaOf } from "./explain.ts";
import { type Suggestion, topQueries } from "./workload.ts";

/** Columns to try per statement, alone and in pairs. */
const MAX_COLUMNS = 12;
/** Smaller tables are scanned in full anyway. */
const MIN_ROWS = 1_000;
/** Columns with a larger average width, in bytes, are not indexed: a B-tree entry has at most 2,704. */
const MAX_WIDTH = 500;
/** The share of the workload's cost that an index must save to be worth its writes. */
const MIN_GAIN = 0.05;

interface Load {
  readonly sql: string;
  readonly calls: number;
  readonly places: number;
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly table: string;
  /** Quoted by PostgreSQL, as is the table. */
  readonly columns: readonly string[];
}

/**
 * Tries hypothetical indexes (hypopg) on the generic plans of a workload, and repeatedly picks the one that saves most until
 * none saves enough: the greedy search of index advisors since Chaudhuri and Narasayya (VLDB 1997).
 *
 * @param given statements; if empty, the most expensive ones in pg_stat_statements
 * @returns `notes` say what was not tried, and why
 */
export async function tryIndexes(
  database: Database,
  given: readonly string[],
  limit: number,
  work: Work,
): Promise<{ suggestions: Suggestion[]; notes: string[] }> {
  const notes: string[] = [];
  const top = given.length > 0 ? undefined : await topQueries(database, "total_time", 30, work);
  if (top?.note !== undefined) notes.push(top.note);
  const statements = top?.queries ?? given.map((query) => ({ query, calls: 1 }));
  if (statements.length === 0) return { suggestions: [], notes };
  return await database.work(work, async (session) => {
    const schema = await schemaOf(session, "hypopg");
    if (schema === undefined) {
      notes.push("hypopg is not installed in this database, so no index was tried on the workload.");
      return { suggestions: [], notes };
    }
    // Hypothetical indexes outlive the transaction, so the connection is not reused.
    session.connection.invalidate();
    const loads: Load[] = [];
    let skipped = 0;
    for (const { query, calls } of statements) {
      const load = await loadOf(database, session, query, calls, given.length > 0);
      if (load === undefined) skipped += 1;
      else if (load.candidates.length > 0) loads.push(load);
    }
    if (skipped > 0)
      notes.push(`${skipped} of ${statements.length} statements are not SELECTs that can be planned.`);
    return { suggestions: await picked({ session, schema, loads }, limit), notes };
  });
}

/**
 * A statement with the indexes to try for it; undefined if it is not a SELECT or has no plan.
 *
 * @throws ToolError if a statement given by the caller is refused
 */
async function loadOf(
  database: Database,
  session: Session,
  sql: string,
  calls: number,
  isGiven: boolean,
): Promise<Load | undefined> {
  try {
    const passed = await passReading(sql);
    if (passed.kind !== "select") throw new ToolError("invalid", "Only SELECT statements can be tried.");
    await database.functions.requireHarmless(session, passed.calls);
    const { sql: masked } = await database.masks.applied(session, sql);
    const candidates = await candidatesOf(session, sql);
    const load = { sql: masked, calls, places: await placesOf(sql), candidates };
    await costOf(session, load);
    return load;
  } catch (error) {
    if (isGiven || session.signal.aborted) throw error;
    return undefined;
  }
}

/** Indexes on the columns that a statement filters, joins, groups or sorts by, alone and in pairs. */
async function candidatesOf(session: Session, sql: string): Promise<Candidate[]> {
  const relations = new Set<string>();
  const columns = new Set<string>();
  const root = treeOf(await parseSql(sql));
  walk(root, (key, value) => {
    const relation = key === "RangeVar" ? relationName(value) : undefined;
    if (relation !== undefined) relations.add(relation);
    if (/^(whereClause|quals|sortClause|groupClause)$/.test(key))
      walk({ value }, (inner, column) => {
        const name = inner === "ColumnRef" ? namesOf(treeOf(column).fields).at(-1) : undefined;
        if (name !== undefined && columns.size < MAX_COLUMNS) columns.add(name);
      });
  });
  const rows = await session.rows<{ table: string; column: string }>(
    `SELECT c.oid::regclass::text AS table, pg_catalog.quote_ident(a.attname) AS column
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = ANY($2::name[]) AND a.attnum > 0
     WHERE c.oid IN (SELECT pg_catalog.to_regclass(name)::oid FROM pg_catalog.unnest($1::text[]) name) AND c.relkind IN ('r', 'm') AND c.reltuples >= $3
       AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_stats s JOIN pg_catalog.pg_namespace n ON n.nspname = s.schemaname
         WHERE n.oid = c.relnamespace AND s.tablename = c.relname AND s.attname = a.attname AND s.avg_width > ${MAX_WIDTH})
       AND EXISTS (SELECT FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod
         WHERE m.amname = 'btree' AND o.opcdefault AND o.opcintype IN (a.atttypid, (SELECT CASE WHEN typtype = 'e' THEN 'anyenum'::regtype WHEN typcategory = 'A' THEN 'anyarray'::regtype WHEN typname = 'varchar' THEN 'text'::regtype END FROM pg_catalog.pg_type WHERE oid = a.atttypid)))
     ORDER BY 1, a.attnum LIMIT ${MAX_COLUMNS}`,
    [[...relations], [...columns], MIN_ROWS],
  );
  return rows.flatMap(({ table, column }) => [
    { table, columns: [column] },
    ...rows
      .filter((other) => other.table === table && other.column !== column)
      .map((other) => ({ table, columns: [column, other.column] })),
  ]);
}

/** Uses a savepoint, so that a statement without a plan does not abort the transaction. */
async function costOf(session: Session, { sql, places }: Pick<Load, "sql" | "places">): Promise<number> {
  await session.run("SAVEPOINT refmcp_trial");
  try {
    return (await genericPlan(session, sql, places)).Plan["Total Cost"];
  } catch (error) {
    if (!session.signal.aborted) await session.run("ROLLBACK TO SAVEPOINT refmcp_trial; DEALLOCATE ALL");
    throw error;
  }
}

async function picked(trial: Trying, limit: number): Promise<Suggestion[]> {
  const { loads } = trial;
  const suggestions: Suggestion[] = [];
  let before = await costsWith(trial, []);
  const indexes = await withoutOverlaps(trial, await greedy(trial, limit), total(before.costs));
  for (const [at, index] of indexes.entries()) {
    const after = await costsWith(trial, indexes.slice(0, at + 1));
    const helped = loads.filter(
      (load) => (after.costs.get(load) ?? 0) < (before.costs.get(load) ?? 0) * 0.99,
    );
    suggestions.push({
      table: index.table,
      create: creating(index, " CONCURRENTLY"),
      reason: `Tried on ${loads.length === 1 ? "1 statement" : `${loads.length} statements`} as a hypothetical index.`,
      cost_before: Math.round(total(before.costs)),
      cost_after: Math.round(total(after.costs)),
      bytes: after.bytes,
      queries: helped.slice(0, 5).map(({ sql }) => clip(sql.replace(/\s+/g, " "), 200)),
    });
    before = after;
  }
  return suggestions;
}

interface Trying {
  readonly session: Session;
  readonly schema: string;
  readonly loads: readonly Load[];
}

/** The costs of the workload with only these hypothetical indexes, and the size of the last one. */
async function costsWith(trial: Trying, indexes: readonly Candidate[]) {
  const { session, schema, loads } = trial;
  await session.rows(`SELECT ${schema}.hypopg_reset()`);
  let bytes = 0;
  for (const index of indexes) ({ bytes } = await makeIndex(trial, index));
  const costs = new Map<Load, number>();
  for (const load of loads) costs.set(load, await costOf(session, load));
  return { costs, bytes };
}

/** Repeatedly takes the index that saves most. */
async function greedy(trial: Trying, limit: number): Promise<Candidate[]> {
  const { session, schema, loads } = trial;
  let left = useful(await usedAtOnce(trial));
  let { costs } = await costsWith(trial, []);
  const taken: Candidate[] = [];
  while (taken.length < limit) {
    let best: { candidate: Candidate; after: Map<Load, number>; saved: number } | undefined;
    for (const candidate of left) {
      const made = await makeIndex(trial, candidate);
      const after = new Map(costs);
      for (const load of loads)
        if (load.candidates.some(({ table }) => table === candidate.table))
          after.set(load, await costOf(session, load));
      await session.rows(`SELECT ${schema}.hypopg_drop_index($1::oid)`, [made.oid]);
      const saved = total(costs) - total(after);
      // Of two that save the same, prefer the one with fewer columns.
      if (best === undefined || saved > best.saved * 1.01) best = { candidate, after, saved };
    }
    if (best === undefined || best.saved < total(costs) * MIN_GAIN) break;
    const { candidate, after } = best;
    await makeIndex(trial, candidate);
    taken.push(candidate);
    costs = after;
    left = left.filter((one) => one !== candidate);
  }
  return taken;
}

/** Removes an index if another one with the same first column serves nearly as well. */
async function withoutOverlaps(
  trial: Trying,
  indexes: readonly Candidate[],
  original: number,
): Promise<readonly Candidate[]> {
  let kept = indexes;
  for (const one of indexes) {
    const rest = kept.filter((other) => other !== one);
    if (!rest.some(({ table, columns }) => table === one.table && columns[0] === one.columns[0])) continue;
    const lost = total((await costsWith(trial, rest)).costs) - total((await costsWith(trial, kept)).costs);
    if (lost < original * MIN_GAIN) kept = rest;
  }
  return kept;
}

const total = (costs: ReadonlyMap<Load, number>) =>
  [...costs].reduce((sum, [load, cost]) => sum + cost * load.calls, 0);

/** Without duplicates, single columns first. */
function useful(candidates: readonly Candidate[]): Candidate[] {
  const known = new Map(candidates.map((one) => [creating(one), one]));
  return [...known.values()].sort((a, b) => a.columns.length - b.columns.length);
}

/** The candidates that the planner picks when it has all of them, and their single-column prefixes: others can't help. */
async function usedAtOnce(trial: Trying): Promise<Candidate[]> {
  const { session, schema, loads } = trial;
  const used: Candidate[] = [];
  for (const load of loads) {
    const names = new Map<string, Candidate>();
    for (const candidate of load.candidates) names.set((await makeIndex(trial, candidate)).name, candidate);
    await session.run("SAVEPOINT refmcp_trial");
    const plan = JSON.stringify((await genericPlan(session, load.sql, load.places)).Plan);
    for (const [name, candidate] of names) {
      if (!plan.includes(JSON.stringify(name))) continue;
      const prefix = load.candidates.find(
        (one) =>
          one.table === candidate.table &&
          one.columns.length === 1 &&
          one.columns[0] === candidate.columns[0],
      );
      used.push(candidate, ...(prefix === undefined ? [] : [prefix]));
    }
    await session.rows(`SELECT ${schema}.hypopg_reset()`);
  }
  return used;
}

const creating = ({ table, columns }: Candidate, how = "") =>
  `CREATE INDEX${how} ON ${table} (${columns.join(", ")})`;

/** Creates a hypothetical index. PostgreSQL itself quoted the names. */
async function makeIndex({ session, schema }: Trying, candidate: Candidate) {
  const [row] = await session.rows<{ oid: string; name: string; bytes: number }>(
    `SELECT indexrelid::text AS oid, indexname AS name, ${schema}.hypopg_relation_size(indexrelid)::float8 AS bytes
     FROM ${schema}.hypopg_create_index($1)`,
    [creating(candidate)],
  );
  if (row === undefined) throw new ToolError("unavailable", "hypopg created no index.");
  return row;
}
