import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Sessions, Work } from "../driver/sessions.ts";

export const ORDERS = ["total_time", "mean_time", "calls", "rows", "io"] as const;
type Order = (typeof ORDERS)[number];

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
  sessions: Sessions,
  order: Order,
  limit: number,
  work: Work,
): Promise<{ queries: TopQuery[]; note?: string }> {
  try {
    return await sessions.work(work, async (session) => {
      const [extension] = await session.rows<{ schema: string }>(
        `SELECT pg_catalog.quote_ident(n.nspname) AS schema FROM pg_catalog.pg_extension e
         JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`,
      );
      const schema = extension?.schema;
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
