import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Database, Work } from "../connection/database.ts";
import { schemaOf } from "./explain.ts";

export const ORDERS = ["total_time", "mean_time", "calls", "rows", "io"] as const;
export type Order = (typeof ORDERS)[number];

export const topQuery = z.object({
  /** Normalized by pg_stat_statements: constants are $1, $2. */
  query: z.string(),
  calls: z.number(),
  total_ms: z.number(),
  mean_ms: z.number(),
  rows: z.number(),
  /** Of blocks; absent if none were read. */
  cache_hit_percent: z.number().optional(),
});
type TopQuery = z.output<typeof topQuery>;

const BY: Readonly<Record<Order, string>> = {
  total_time: "s.total_exec_time",
  mean_time: "s.mean_exec_time",
  calls: "s.calls",
  rows: "s.rows",
  io: "s.shared_blks_read + s.temp_blks_written",
};

/** The most expensive statements in pg_stat_statements, or a note on how to enable it. */
export async function topQueries(
  database: Database,
  order: Order,
  limit: number,
  work: Work,
): Promise<{ queries: TopQuery[]; note?: string }> {
  try {
    return await database.work(work, async (session) => {
      const schema = await schemaOf(session, "pg_stat_statements");
      if (schema === undefined)
        return {
          queries: [],
          note: `The extension pg_stat_statements is not installed in this database. ${HOW_TO_COUNT}`,
        };
      const rows = await session.rows<{ query: TopQuery }>(
        `SELECT pg_catalog.json_strip_nulls(pg_catalog.json_build_object('query', pg_catalog.left(s.query, 10000), 'calls', s.calls, 'total_ms', pg_catalog.round(s.total_exec_time::numeric, 1),
           'mean_ms', pg_catalog.round(s.mean_exec_time::numeric, 3), 'rows', s.rows,
           'cache_hit_percent', pg_catalog.round(100.0 * s.shared_blks_hit / nullif(s.shared_blks_hit + s.shared_blks_read, 0), 1))) AS query
         FROM ${schema}.pg_stat_statements s JOIN pg_catalog.pg_database d ON d.oid = s.dbid
         WHERE d.datname = pg_catalog.current_database() ORDER BY ${BY[order]} DESC, s.queryid LIMIT $1`,
        [limit],
      );
      return { queries: rows.map(({ query }) => query) };
    });
  } catch (error) {
    // object_not_in_prerequisite_state: the extension is installed, but the server has not loaded its library.
    if (!(error instanceof ToolError) || error.code !== "55000") throw error;
    return {
      queries: [],
      note: `pg_stat_statements is installed but not loaded by the server. ${HOW_TO_COUNT}`,
    };
  }
}

const HOW_TO_COUNT =
  "Ask the user to add it to shared_preload_libraries, restart the server and run CREATE EXTENSION pg_stat_statements; pg_health and pg_explain work without it.";

export const suggestion = z.object({
  table: z.string(),
  /** For the user to run, or for pg_execute. */
  create: z.string().optional(),
  /** A redundant index. */
  drop: z.string().optional(),
  reason: z.string(),
  /** The planner's cost of the statements, multiplied by their calls, without and with the index. */
  cost_before: z.number().optional(),
  cost_after: z.number().optional(),
  /** Estimated size of the index. */
  bytes: z.number().optional(),
  /** Statements that it makes cheaper. */
  queries: z.array(z.string()).optional(),
});
export type Suggestion = z.output<typeof suggestion>;

/**
 * Foreign keys without an index: every delete and join from the other side scans the whole table. Those of partitions are one
 * of their table, which is indexed as a whole.
 */
const UNINDEXED_KEYS = `SELECT k.root::regclass::text AS table, pg_catalog.min(k.name) AS name, pg_catalog.count(*)::int AS partitions, pg_catalog.bool_or(k.relkind = 'p' OR k.relispartition) AS "isPartitioned", k.columns
  FROM (SELECT CASE WHEN c.relispartition THEN pg_catalog.pg_partition_root(c.oid) ELSE c.oid END AS root, k.conname::text AS name, c.relkind, c.relispartition, c.reltuples,
      (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY u.ordinality) FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY u(attnum, ordinality)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum) AS columns
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND k.conparentid = 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = k.conrelid AND i.indisvalid
      AND i.indpred IS NULL AND (i.indkey::int2[])[0:pg_catalog.cardinality(k.conkey) - 1] @> k.conkey)) k
  GROUP BY k.root, k.columns ORDER BY pg_catalog.sum(k.reltuples) DESC, 1, 2 LIMIT $1`;

/** Indexes whose columns are a prefix of another index of the same kind. */
const NEEDLESS = `SELECT DISTINCT ON (1, 2) a.indrelid::regclass::text AS table, a.indexrelid::regclass::text AS index, b.indexrelid::regclass::text AS other, ca.relkind = 'I' AS "isPartitioned"
  FROM pg_catalog.pg_index a JOIN pg_catalog.pg_index b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid
  JOIN pg_catalog.pg_class ca ON ca.oid = a.indexrelid JOIN pg_catalog.pg_class cb ON cb.oid = b.indexrelid AND cb.relam = ca.relam
  JOIN pg_catalog.pg_class t ON t.oid = a.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
  WHERE NOT a.indisunique AND NOT ca.relispartition AND a.indpred IS NULL AND b.indpred IS NULL AND a.indexprs IS NULL AND b.indexprs IS NULL AND b.indisvalid
    AND (b.indkey::text || ' ') LIKE (a.indkey::text || ' %') AND (b.indclass::text || ' ') LIKE (a.indclass::text || ' %')
    AND (b.indkey <> a.indkey OR a.indexrelid > b.indexrelid OR b.indisunique)
  ORDER BY 1, 2, 3 LIMIT $1`;

/** Tables that are often scanned in full. */
const SCANNED = `SELECT relid::regclass::text AS table, seq_scan::float8 AS scans, (seq_tup_read / greatest(seq_scan, 1))::float8 AS rows
  FROM pg_catalog.pg_stat_user_tables WHERE seq_scan > 50 AND seq_tup_read / greatest(seq_scan, 1) > 10000 AND coalesce(idx_scan, 0) < seq_scan
  ORDER BY seq_tup_read DESC LIMIT $1`;

/** Indexes to create or drop, according to the catalog and the statistics; changes nothing. */
export async function suggestIndexes(database: Database, limit: number, work: Work): Promise<Suggestion[]> {
  return await database.work(work, async (session) => {
    const keys = await session.rows<{
      table: string;
      name: string;
      partitions: number;
      isPartitioned: boolean;
      columns: string;
    }>(UNINDEXED_KEYS, [limit]);
    const needless = await session.rows<{
      table: string;
      index: string;
      other: string;
      isPartitioned: boolean;
    }>(NEEDLESS, [limit]);
    const scanned = await session.rows<{ table: string; scans: number; rows: number }>(SCANNED, [limit]);
    // PostgreSQL can't do it for indexes of partitioned tables.
    const concurrently = (isPartitioned: boolean) => (isPartitioned ? "" : " CONCURRENTLY");
    const all: Suggestion[] = [
      ...keys.map(({ table, name, partitions, isPartitioned, columns }) => ({
        table,
        create: `CREATE INDEX${concurrently(isPartitioned)} ON ${table} (${columns})`,
        reason: `The foreign key ${name}${partitions > 1 ? `, and those of ${partitions - 1} other partitions,` : ""} has no index: deletes and joins from the other side scan all of ${table}.`,
      })),
      ...needless.map(({ table, index, other, isPartitioned }) => ({
        table,
        drop: `DROP INDEX${concurrently(isPartitioned)} ${index}`,
        reason: `${other} begins with the same columns.`,
      })),
      ...scanned.map(({ table, scans, rows }) => ({
        table,
        reason: `Full scans: ${scans}, about ${Math.round(rows)} rows each. pg_explain of its queries shows which filter needs an index.`,
      })),
    ];
    return all.slice(0, limit);
  });
}
