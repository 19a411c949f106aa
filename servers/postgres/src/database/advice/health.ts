import { grouped, ToolError } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import * as z from "zod";
import type { Database, Work } from "../connection/database.ts";
import { explained } from "../errors.ts";
import { INDEX_LINTS, type Lints, lintQuery, lintResult, SCHEMA_LINTS, SECURITY_LINTS } from "./lints.ts";

export const finding = z.object({
  check: z.string(),
  /** `note`: not allowed for this role. */
  status: z.enum(["ok", "warning", "note"]),
  summary: z.string(),
  details: z.array(z.looseObject({})).optional(),
});

type Rows = readonly QueryResultRow[];

/** A query, and what its rows, which may be part of the answer, mean. */
interface Inspection {
  readonly statement: string;
  judge(rows: Rows): { ok: boolean; summary: string; details?: QueryResultRow[] };
}

/** A check that should find no rows; otherwise, how many there are (`{}`) and what to do. */
const none = (fine: string, found: string, statement: string): Inspection => ({
  statement,
  judge: (rows) =>
    rows.length === 0
      ? { ok: true, summary: fine }
      : { ok: false, summary: found.replace("{}", `${rows.length}`), details: [...rows] },
});

const lints = (problems: Lints, checked: string): Inspection => ({
  statement: lintQuery(problems),
  judge: lintResult(problems, checked),
});

/** A check of facts, often numbers in one row. */
const facts = (
  statement: string,
  judge: (of: (key: string) => number, rows: Rows) => { ok: boolean; summary: string },
): Inspection => ({ statement, judge: (rows) => judge((key) => Number(rows[0]?.[key] ?? 0), rows) });

/** Each check is independent of the others; sources: PostgreSQL, "Monitoring Database Activity" and "Routine Vacuuming". */
export const INSPECTIONS = {
  connections: facts(
    `SELECT pg_catalog.count(*)::int AS used, pg_catalog.current_setting('max_connections')::int AS max,
      pg_catalog.count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND pg_catalog.now() - state_change > interval '5 minutes')::int AS stuck
      FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'`,
    (of) => ({
      ok: of("used") < of("max") * 0.8 && of("stuck") === 0,
      summary: `${of("used")} of ${of("max")} connections; ${of("stuck")} idle in a transaction for over 5 minutes.`,
    }),
  ),
  cache: facts(
    `SELECT pg_catalog.round(100.0 * pg_catalog.sum(heap_blks_hit) / nullif(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0), 1)::float8 AS percent,
      coalesce(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0)::float8 AS blocks FROM pg_catalog.pg_statio_user_tables`,
    (of) => ({
      ok: of("blocks") < 100_000 || of("percent") >= 95,
      summary: `${of("percent")}% of table blocks came from the cache.`,
    }),
  ),
  vacuum: none(
    "No table has many dead rows.",
    "Tables with many dead rows: {}. VACUUM them or tune autovacuum.",
    `SELECT relid::regclass::text AS table, n_dead_tup::float8 AS dead_rows, n_live_tup::float8 AS live_rows,
      coalesce(last_vacuum, last_autovacuum)::text AS last_vacuum
      FROM pg_catalog.pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup ORDER BY n_dead_tup DESC LIMIT 10`,
  ),
  // Pages that the rows should need according to the planner's statistics, with 28 bytes of header per row and 12 per index entry.
  bloat: none(
    "No table or index over 10 MB is estimated to be more than half empty.",
    "Tables and indexes that are estimated to be more than half empty: {}. REINDEX CONCURRENTLY, VACUUM FULL or pg_repack shrinks them.",
    `WITH width AS (
        SELECT (pg_catalog.quote_ident(schemaname) || '.' || pg_catalog.quote_ident(tablename))::regclass AS oid, pg_catalog.sum((1 - null_frac) * avg_width) AS bytes
        FROM pg_catalog.pg_stats WHERE NOT inherited GROUP BY 1),
      part AS (
        SELECT c.oid, 'table' AS kind, c.relpages, pg_catalog.ceil(c.reltuples * (28 + w.bytes) / 8168) AS needed
        FROM pg_catalog.pg_class c JOIN width w ON w.oid = c.oid WHERE c.relkind IN ('r', 'm') AND c.reltuples >= 0
        UNION ALL
        SELECT i.indexrelid, 'index', x.relpages, pg_catalog.ceil(x.reltuples * (12 + pg_catalog.sum((1 - s.null_frac) * s.avg_width)) / 8168 / 0.9)
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'
          JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
          JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int2[])
          JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname AND NOT s.inherited
        WHERE i.indexprs IS NULL AND i.indpred IS NULL AND x.reltuples > 0 GROUP BY 1, x.relpages, x.reltuples)
      SELECT p.oid::regclass::text AS object, p.kind, p.relpages::float8 * 8192 AS bytes, ((p.relpages - p.needed) * 8192)::float8 AS wasted_bytes
      FROM part p JOIN pg_catalog.pg_class c ON c.oid = p.oid WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        AND p.relpages > 1280 AND p.relpages > 2 * p.needed ORDER BY 4 DESC LIMIT 10`,
  ),
  indexes: lints(INDEX_LINTS, "invalid, unused and duplicate indexes, foreign keys without an index"),
  wraparound: facts(
    `SELECT pg_catalog.max(pg_catalog.age(datfrozenxid))::float8 AS oldest, pg_catalog.current_setting('autovacuum_freeze_max_age')::float8 AS frozen_at FROM pg_catalog.pg_database`,
    (of) => ({
      // Autovacuum freezes at its limit. Far beyond it autovacuum can't keep up, and at 2.1 billion the server stops accepting writes.
      ok: of("oldest") < Math.max(1.5 * of("frozen_at"), 400_000_000),
      summary: `The oldest unfrozen transaction is ${grouped(of("oldest"))} transactions old; writes stop at 2.1 billion.`,
    }),
  ),
  transactions: none(
    "No transaction is open for over 5 minutes.",
    "Transactions open for over 5 minutes: {}. They hold back VACUUM and may hold locks.",
    `SELECT pid, usename::text AS role, state, pg_catalog.round(extract(epoch FROM pg_catalog.now() - xact_start))::float8 AS seconds, pg_catalog.left(query, 200) AS query
      FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND xact_start < pg_catalog.now() - interval '5 minutes' ORDER BY xact_start LIMIT 10`,
  ),
  constraints: none(
    "Every constraint is validated.",
    "Constraints that are not validated: {}. Older rows may violate them.",
    `SELECT conrelid::regclass::text AS table, conname::text AS constraint, pg_catalog.pg_get_constraintdef(oid) AS definition
      FROM pg_catalog.pg_constraint WHERE NOT convalidated ORDER BY 1, 2 LIMIT 10`,
  ),
  schema: lints(
    SCHEMA_LINTS,
    "primary keys, row security without policies, policies that overlap or ask once for every row, extensions in public, reg types",
  ),
  security: lints(
    SECURITY_LINTS,
    "tables without row security that PUBLIC or API roles can use, policies that let them write any row or trust user_metadata, views and foreign tables that bypass row security, SECURITY DEFINER functions and search_path, versions of extensions; not what other roles may do, nor what a policy's condition means",
  ),
  sequences: none(
    "No sequence is running out.",
    "Sequences that are running out: {}.",
    `SELECT schemaname || '.' || sequencename AS sequence, pg_catalog.round(100.0 * last_value / max_value, 1)::float8 AS percent
      FROM pg_catalog.pg_sequences WHERE last_value > 0.7 * max_value AND NOT cycle ORDER BY 2 DESC LIMIT 10`,
  ),
  locks: none(
    "No session is waiting for a lock.",
    "Sessions waiting for a lock: {}.",
    `SELECT w.pid, pg_catalog.left(w.query, 200) AS query, pg_catalog.round(extract(epoch FROM pg_catalog.now() - w.query_start))::float8 AS seconds,
        b.pid AS blocked_by, b.state AS blocker_state, pg_catalog.left(b.query, 200) AS blocker_query
      FROM pg_catalog.pg_stat_activity w, pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) AS p (pid)
        LEFT JOIN pg_catalog.pg_stat_activity b ON b.pid = p.pid ORDER BY 3 DESC LIMIT 10`,
  ),
  replication: none(
    "No standby is far behind, and every replication slot is active.",
    "Standbys over 100 MB behind, and inactive slots, which retain WAL: {}.",
    `SELECT application_name AS standby, state, pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn)::float8 AS behind_bytes, NULL::float8 AS kept_bytes
        FROM pg_catalog.pg_stat_replication WHERE pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn) > 104857600
      UNION ALL SELECT slot_name::text, 'inactive slot', NULL, (CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
      ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn) END)::float8 AS kept_bytes
        FROM pg_catalog.pg_replication_slots WHERE NOT active LIMIT 10`,
  ),
  settings: facts(
    `SELECT name, setting FROM pg_catalog.pg_settings
      WHERE (name IN ('fsync', 'full_page_writes', 'autovacuum', 'track_counts') AND setting = 'off') OR pending_restart ORDER BY name`,
    (_, rows) => {
      const changed = rows.map(({ name, setting }) => `${name} = ${setting}`).join(", ");
      return { ok: rows.length === 0, summary: rows.length === 0 ? "No dangerous settings." : `${changed}.` };
    },
  ),
} satisfies Readonly<Record<string, Inspection>>;

export type Check = keyof typeof INSPECTIONS;
export const CHECKS = Object.keys(INSPECTIONS) as readonly Check[];

/** Runs health checks, each independently; one that the role may not run becomes a note. */
export async function checkHealth(
  database: Database,
  checks: readonly Check[],
  work: Work,
): Promise<z.output<typeof finding>[]> {
  const findings: z.output<typeof finding>[] = [];
  for (const check of checks) {
    const { statement, judge } = INSPECTIONS[check];
    try {
      const all = await database.rows(work, statement);
      // Statements of other sessions may contain values of masked columns.
      const rows = database.masks.isOn ? all.map(({ query: _, blocker_query: __, ...row }) => row) : all;
      const { ok, ...rest } = judge(rows);
      findings.push({ check, status: ok ? "ok" : "warning", ...rest });
    } catch (error) {
      const known = explained(error, database.label);
      // A check that is forbidden or unknown to this version does not stop the others; a lost server does.
      if (!(known instanceof ToolError) || !["denied", "not_found", "invalid"].includes(known.kind))
        throw known;
      findings.push({ check, status: "note", summary: `Not checked: ${known.message}` });
    }
  }
  return findings;
}
