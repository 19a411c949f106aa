import { clip, grouped, ToolError } from "@refmcp/boundary/answer";
import type { Database, Session, Work } from "../connection/database.ts";
import type { SchemaCopy, Trial } from "../copy/copy.ts";
import { createIndex, filesOf, type NewIndex, tablesOf } from "../copy/indexes.ts";
import { passReading } from "../gate/read-gate.ts";
import { type Candidate, candidatesFor, creating, type Indexable, servedBy } from "./candidates.ts";
import { allNodes, genericPlan, type Node, placesOf } from "./explain.ts";
import { type Suggestion, topQueries } from "./workload.ts";

/** Smaller tables are scanned in full anyway. */
const MIN_ROWS = 1_000;
/** Columns with a larger average width, in bytes, are not indexed: a B-tree entry has at most 2,704. */
const MAX_WIDTH = 500;
/** The share of the workload's cost that an index must save to be worth its writes. */
const MIN_GAIN = 0.05;
/** Or the share of the cost of one statement, if that costs at least as much as reading this many pages. */
const MIN_STATEMENT_GAIN = 0.5;
const MIN_COST = 20;
/** A partial index is not worth it if more of the table's rows meet its condition. */
const MAX_PARTIAL = 0.25;
/** Partial indexes are for a column with at most this many values. */
const FEW_VALUES = 20;
/** A statement that returns more of a table's rows is better served by reading all of it. */
const MOST = 0.2;

/** A statement of the workload. */
interface Given {
  /** As it was given, to show it. */
  readonly query: string;
  /** Without masked columns. */
  readonly sql: string;
  readonly calls: number;
}

interface Load extends Given {
  readonly places: number;
  readonly candidates: Made[];
  /** Whether it has a condition that only a trigram index serves. */
  readonly needsTrigram: boolean;
}

/** A candidate that exists in the copy. */
interface Made extends Candidate, NewIndex {
  bytes: number;
}

export interface Tried {
  readonly suggestions: Suggestion[];
  /** Every statement without a new index, and why. */
  readonly unchanged: { query: string; reason: string }[];
  readonly notes: string[];
}

/**
 * Tries real indexes on the generic plans of a workload, in a copy of the schema with the statistics of the database and
 * without its rows, and repeatedly picks the one that saves most until none saves enough: the greedy search of index
 * advisors since Chaudhuri and Narasayya (VLDB 1997).
 *
 * @param given statements; if empty, the most expensive ones in pg_stat_statements
 * @returns `notes` say what was not tried, and why
 * @throws ToolError if a given statement is refused
 */
export async function tryIndexes(
  database: Database,
  copy: SchemaCopy,
  given: readonly string[],
  limit: number,
  work: Work,
): Promise<Tried> {
  const top = given.length > 0 ? undefined : await topQueries(database, "total_time", 30, work);
  const notes = top?.note === undefined ? [] : [top.note];
  const unchanged: Tried["unchanged"] = [];
  const statements: Given[] = [];
  for (const { query, calls } of top?.queries ?? given.map((query) => ({ query, calls: 1 })))
    try {
      if ((await passReading(query)).kind !== "select")
        throw new ToolError("invalid", "Only SELECT statements can be tried.");
      const { sql } = await database.masked(query, work);
      statements.push({ query, sql, calls });
    } catch (error) {
      if (given.length > 0 || !(error instanceof ToolError)) throw error;
      const reason = error.code === "masked" ? error.message : "not a SELECT";
      unchanged.push({ query: shortened(query), reason });
    }
  if (statements.length === 0) return { suggestions: [], unchanged, notes };
  try {
    return await copy.use("Trying indexes", work, async (trial) => {
      if (trial.leftOut.length > 0) notes.push(leftOutNote(trial.leftOut));
      const tried = await new IndexTrial(trial).run(statements, limit);
      return { ...tried, unchanged: [...tried.unchanged, ...unchanged], notes };
    });
  } catch (error) {
    // The suggestions from the catalog need no copy.
    if (!(error instanceof ToolError) || !/^(unavailable|too_large)$/.test(error.kind)) throw error;
    notes.push(`No index was tried on the workload. ${error.message} ${error.hint ?? ""}`.trim());
    return { suggestions: [], unchanged, notes };
  }
}

export const leftOutNote = (leftOut: readonly string[]) =>
  `The copy of the schema lacks ${leftOut.length === 1 ? "1 object" : `${leftOut.length} objects`}: ${clip(leftOut.slice(0, 5).join("; "), 500)}.`;

const shortened = (sql: string) => clip(sql.replace(/\s+/g, " "), 200);

const total = (costs: ReadonlyMap<Load, number>) =>
  [...costs].reduce((sum, [load, cost]) => sum + cost * load.calls, 0);

class IndexTrial {
  readonly #trial: Trial;
  readonly #session: Session;
  /** All indexes that exist now. */
  #made: Made[] = [];

  constructor(trial: Trial) {
    this.#trial = trial;
    this.#session = trial.session;
  }

  async run(statements: readonly Given[], limit: number) {
    const suggestions: Suggestion[] = [];
    const unchanged: Tried["unchanged"] = [];
    const trigram = await this.#trigram();
    const loads: Load[] = [];
    const tables = new Set<string>();
    for (const given of statements) {
      const { query, sql } = given;
      const places = await placesOf(sql);
      try {
        const plan = await this.#planned({ sql, places });
        for (const table of await tablesOf(this.#session, allNodes(plan))) tables.add(table);
        loads.push(await this.#loadOf(given, places, trigram.operators));
      } catch (error) {
        if (this.#session.signal.aborted || !(error instanceof Error)) throw error;
        unchanged.push({
          query: shortened(query),
          reason: `can't be planned in the copy: ${error.message}`,
        });
      }
    }
    await this.#trial.grow([...tables], new Map());
    await this.#trial.grow([...tables], await this.#sizes());
    const base = await this.#costs([], loads);
    await this.#keep(await this.#usedAtOnce(loads));
    const chosen = await this.#withoutOverlaps(
      loads,
      await this.#greedy(loads, limit, base),
      total(base),
    );
    let before = base;
    for (const [at, index] of chosen.entries()) {
      const after = await this.#costs(chosen.slice(0, at + 1), loads);
      const helped = loads.filter(
        (load) => (after.get(load) ?? 0) < (before.get(load) ?? 0) * 0.99,
      );
      const needs = !trigram.isInstalled && index.keys.some((key) => key.includes("gin_trgm_ops"));
      suggestions.push({
        table: index.table,
        create: `CREATE INDEX${index.isPartitioned ? "" : " CONCURRENTLY"} ON ${index.table} ${index.definition.replace(/^btree /, "").replace(/^(?=[a-z])/, "USING ")}`,
        reason: `Tried on ${loads.length === 1 ? "1 statement" : `${loads.length} statements`} in a copy of the schema.${needs ? " Needs CREATE EXTENSION pg_trgm first." : ""}`,
        cost_before: Math.round(total(before)),
        cost_after: Math.round(total(after)),
        bytes: index.bytes,
        queries: helped.slice(0, 5).map(({ query }) => shortened(query)),
      });
      before = after;
    }
    for (const load of loads) {
      if ((before.get(load) ?? 0) < (base.get(load) ?? 0) * 0.99) continue;
      const reason = await this.#reasonFor(load, chosen.length >= limit);
      unchanged.push({ query: shortened(load.query), reason });
    }
    return { suggestions, unchanged };
  }

  /** Makes the extension for LIKE '%…%' available. */
  async #trigram() {
    const schema = async () => {
      const [row] = await this.#session.rows<{ name: string }>(
        `SELECT pg_catalog.format('%I.gin_trgm_ops', n.nspname) AS name FROM pg_catalog.pg_extension e
         JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`,
      );
      return row?.name.replace(/^public\./, "");
    };
    const installed = await schema();
    if (installed !== undefined) return { isInstalled: true, operators: installed };
    await this.#tried(() => this.#session.run("CREATE EXTENSION pg_trgm SCHEMA public")).catch(
      () => undefined,
    );
    return { isInstalled: false, operators: await schema() };
  }

  /** Undoes what it did if it fails, so that the transaction goes on. */
  async #tried<Value>(work: () => Promise<Value>): Promise<Value> {
    await this.#session.run("SAVEPOINT refmcp_trial");
    try {
      return await work();
    } catch (error) {
      if (!this.#session.signal.aborted)
        await this.#session.run("ROLLBACK TO SAVEPOINT refmcp_trial; DEALLOCATE ALL");
      throw error;
    }
  }

  async #planned({ sql, places }: Pick<Load, "sql" | "places">): Promise<Node> {
    return (await this.#tried(() => genericPlan(this.#session, sql, places, "VERBOSE, "))).Plan;
  }

  async #loadOf(given: Given, places: number, trigram: string | undefined): Promise<Load> {
    const served = await servedBy(given.sql);
    const tables = await this.#session.rows<Indexable & Record<string, unknown>>(
      `SELECT c.oid::regclass::text AS table, c.relkind = 'p' AS "isPartitioned", pg_catalog.array_agg(a.attname::text) AS columns,
         pg_catalog.array_agg(a.attname::text) FILTER (WHERE s.avg_width > ${MAX_WIDTH}) AS wide, pg_catalog.array_agg(a.attname::text) FILTER (WHERE s.n_distinct BETWEEN 1 AND ${FEW_VALUES}) AS few
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT IN ('pg_catalog', 'information_schema')
       JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname AND s.inherited = (c.relkind = 'p')
       WHERE c.oid IN (SELECT pg_catalog.to_regclass(name)::oid FROM pg_catalog.unnest($1::text[]) name) AND c.relkind IN ('r', 'm', 'p')
         AND (SELECT pg_catalog.sum(r.reltuples) FROM pg_catalog.pg_class r WHERE r.oid = c.oid OR r.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf)) >= ${MIN_ROWS}
       GROUP BY c.oid, c.relkind ORDER BY 1`,
      [served.relations],
    );
    const candidates: Made[] = [];
    for (const table of tables)
      for (const one of candidatesFor(
        served,
        { ...table, wide: table.wide ?? [], few: table.few ?? [] },
        trigram,
      )) {
        const known = this.#made.find((other) => creating(other) === creating(one));
        const made = known ?? (await this.#make(one));
        if (made !== undefined && !candidates.includes(made)) candidates.push(made);
      }
    return {
      ...given,
      places,
      candidates,
      needsTrigram: served.keys.some(({ use }) => use === "pattern"),
    };
  }

  /** Creates an index; undefined if there is no such index for the type. */
  async #make(candidate: Candidate): Promise<Made | undefined> {
    try {
      const index = await this.#tried(() => createIndex(this.#session, creating(candidate)));
      const made = { ...candidate, ...index, bytes: 0 };
      this.#made.push(made);
      return made;
    } catch (error) {
      if (this.#session.signal.aborted || this.#session.connection.isInvalid) throw error;
      return undefined;
    }
  }

  /** Estimates the pages of all new indexes, and drops partial ones with most of the rows. */
  async #sizes(): Promise<Map<string, number>> {
    const rows = await filesOf(this.#session, this.#made);
    const pages = new Map<string, number>();
    const tooWide: Made[] = [];
    for (const made of this.#made) {
      const files = rows.filter(({ root }) => root === made.id);
      const all = files.reduce((sum, file) => sum + file.rows, 0);
      const share = made.where === undefined ? 1 : (await this.#rowsOf(made)) / Math.max(1, all);
      if (made.where !== undefined && share > MAX_PARTIAL) tooWide.push(made);
      for (const file of files) {
        const needed = Math.max(2, Math.ceil(file.pages * share));
        pages.set(file.id, needed);
        made.bytes += needed * 8_192;
        if (made.where !== undefined)
          await this.#session.rows(
            `SELECT pg_catalog.pg_restore_relation_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'relpages', $2::int, 'reltuples', $3::real)
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::oid`,
            [file.id, needed, file.rows * share],
          );
      }
    }
    await this.#keep(this.#made.filter((made) => !tooWide.includes(made)));
    return pages;
  }

  async #rowsOf({ table, where }: Made): Promise<number> {
    return (await this.#planned({ sql: `SELECT FROM ${table} WHERE ${where}`, places: 0 }))[
      "Plan Rows"
    ];
  }

  /** Drops all other indexes. */
  async #keep(kept: readonly Made[]): Promise<void> {
    await this.#drop(this.#made.filter((made) => !kept.includes(made)));
    this.#made = this.#made.filter((made) => kept.includes(made));
  }

  async #drop(indexes: readonly Made[]): Promise<void> {
    if (indexes.length > 0)
      await this.#session.run(`DROP INDEX ${indexes.map(({ name }) => name).join(", ")}`);
  }

  /** Runs `work` as if only these of the new indexes existed. */
  async #with<Value>(indexes: readonly Made[], work: () => Promise<Value>): Promise<Value> {
    await this.#session.run("SAVEPOINT refmcp_with");
    await this.#drop(this.#made.filter((made) => !indexes.includes(made)));
    const value = await work();
    await this.#session.run("ROLLBACK TO SAVEPOINT refmcp_with; RELEASE SAVEPOINT refmcp_with");
    return value;
  }

  #costs(indexes: readonly Made[], loads: readonly Load[]): Promise<Map<Load, number>> {
    return this.#with(indexes, async () => {
      const costs = new Map<Load, number>();
      for (const load of loads) costs.set(load, (await this.#planned(load))["Total Cost"]);
      return costs;
    });
  }

  /** The indexes that the planner uses when it has all that could serve a statement, and their first columns alone: others can't help. */
  async #usedAtOnce(loads: readonly Load[]): Promise<Made[]> {
    const used = new Set<Made>();
    for (const load of loads) {
      const own = load.candidates.filter((one) => this.#made.includes(one));
      // Partial and larger indexes hide others, which may be enough.
      for (const some of [
        own,
        own.filter(({ where, keys }) => where === undefined && keys.length === 1),
      ]) {
        const plan = await this.#with(some, () => this.#planned(load));
        const names = new Set(allNodes(plan).map((node) => node["Index Name"]));
        for (const one of some) {
          if (![...one.shown].some((name) => names.has(name))) continue;
          used.add(one);
          const prefix = own.find(({ table, method, keys: [first, ...rest], where }) => {
            const isSame = table === one.table && method === one.method && where === one.where;
            return isSame && rest.length === 0 && first === one.keys[0];
          });
          if (prefix !== undefined) used.add(prefix);
        }
      }
    }
    return [...used];
  }

  /** Repeatedly takes the index that saves most, of those that save enough of the whole or of one statement. */
  async #greedy(loads: readonly Load[], limit: number, base: Map<Load, number>): Promise<Made[]> {
    const taken: Made[] = [];
    let costs = base;
    // Of two that save the same, the smaller one.
    let left = [...this.#made].sort((a, b) => a.bytes - b.bytes);
    while (taken.length < limit) {
      let best: { one: Made; after: Map<Load, number>; saved: number } | undefined;
      for (const one of left) {
        const affected = loads.filter(({ candidates }) =>
          candidates.some(({ table }) => table === one.table),
        );
        const after = new Map([...costs, ...(await this.#costs([...taken, one], affected))]);
        const saved = total(costs) - total(after);
        const isEnough =
          saved >= total(costs) * MIN_GAIN ||
          loads.some((load) => isHalved(load, base, costs, after));
        if (isEnough && (best === undefined || saved > best.saved * 1.01))
          best = { one, after, saved };
      }
      if (best === undefined) break;
      const { one, after } = best;
      taken.push(one);
      costs = after;
      left = left.filter((other) => other !== one);
    }
    return taken;
  }

  /** Removes an index if another one with the same first key serves nearly as well. */
  async #withoutOverlaps(loads: readonly Load[], indexes: readonly Made[], original: number) {
    let kept = indexes;
    for (const one of indexes) {
      const rest = kept.filter((other) => other !== one);
      if (!rest.some(({ table, keys }) => table === one.table && keys[0] === one.keys[0])) continue;
      const [without, all] = [await this.#costs(rest, loads), await this.#costs(kept, loads)];
      const isNeeded =
        one.where === undefined && loads.some((load) => isHalved(load, without, without, all));
      if (!isNeeded && total(without) - total(all) < original * MIN_GAIN) kept = rest;
    }
    return kept;
  }

  async #reasonFor(
    { query, sql, places, candidates, needsTrigram }: Load,
    isFull: boolean,
  ): Promise<string> {
    const plan = await this.#with([], async () => {
      // Workers divide the rows of a node.
      await this.#session.run("SET LOCAL max_parallel_workers_per_gather = 0");
      return await this.#planned({ sql, places });
    });
    const nodes = allNodes(plan);
    const used = [...new Set(nodes.flatMap((node) => node["Index Name"] ?? []))];
    if (used.length > 0) return `already uses ${used.join(", ")}`;
    const scans = nodes.flatMap(({ Schema: schema, "Relation Name": name, "Plan Rows": rows }) => {
      if (name === undefined) return [];
      const size = [...this.#trial.sizes.values()].find(
        (one) => one.schema === schema && one.relation === name,
      );
      return [{ name, rows, of: Math.max(0, size?.rows ?? 0) }];
    });
    if (scans.length === 0)
      return sql === query ? "reads no table" : "depends on masked columns, which are NULL here";
    const largest = scans.reduce((a, b) => (b.of > a.of ? b : a));
    if (largest.of < MIN_ROWS)
      return `small: ${largest.name} has about ${grouped(Math.round(largest.of))} rows, which are read at once`;
    if (largest.rows >= largest.of * MOST)
      return `reads about ${Math.min(100, Math.round((100 * largest.rows) / largest.of))}% of ${largest.name}, where an index does not help`;
    if (candidates.length === 0)
      return needsTrigram
        ? "LIKE '%…%' needs the extension pg_trgm"
        : "has no condition, join or order that an index can serve";
    return isFull
      ? "not among the indexes that save most: raise limit"
      : `tried ${candidates.length} ${candidates.length === 1 ? "index" : "indexes"}, without enough gain`;
  }
}

/** Whether one statement becomes much cheaper, also by its original cost. */
function isHalved(
  load: Load,
  ...[base, before, after]: readonly ReadonlyMap<Load, number>[]
): boolean {
  const [original = 0, was = 0, is = 0] = [base, before, after].map((costs) => costs?.get(load));
  return was >= MIN_COST && was - is >= Math.max(was, original / 2) * MIN_STATEMENT_GAIN;
}
