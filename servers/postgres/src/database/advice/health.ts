import { ToolError } from "@refmcp/core/answer";
import type { QueryResultRow } from "pg";
import type { Database, Work } from "../connection/database.ts";
import { explained } from "../connection/failures.ts";

export const CHECKS = [
  "connections",
  "cache",
  "vacuum",
  "indexes",
  "sequences",
  "locks",
  "replication",
  "settings",
] as const;
export type Check = (typeof CHECKS)[number];

export interface Finding {
  readonly check: Check;
  /** `note`: the role may not see it. */
  readonly status: "ok" | "warning" | "note";
  readonly summary: string;
  /** What the summary rests on. */
  readonly details?: readonly Record<string, unknown>[];
}

interface Inspection {
  readonly statement: string;
  /** Says what the rows mean. */
  judge(rows: readonly QueryResultRow[]): { ok: boolean; summary: string };
  /** Shows the rows, too. */
  readonly shows?: true;
}

const value = (rows: readonly QueryResultRow[], key: string): number => Number(rows[0]?.[key] ?? 0);

/** Each stands alone; sources: PostgreSQL, "Monitoring Database Activity" and "Routine Vacuuming". */
const INSPECTIONS: Readonly<Record<Check, Inspection>> = {
  connections: {
    statement: `SELECT count(*)::int AS used, current_setting('max_connections')::int AS most,
      count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND now() - state_change > interval '5 minutes')::int AS stuck
      FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'`,
    judge: (rows) => ({
      ok: value(rows, "used") < value(rows, "most") * 0.8 && value(rows, "stuck") === 0,
      summary: `${value(rows, "used")} of ${value(rows, "most")} connections; ${value(rows, "stuck")} idle in a transaction for over 5 minutes.`,
    }),
  },
  cache: {
    statement: `SELECT round(100.0 * sum(heap_blks_hit) / nullif(sum(heap_blks_hit) + sum(heap_blks_read), 0), 1)::float8 AS percent,
      coalesce(sum(heap_blks_hit) + sum(heap_blks_read), 0)::float8 AS blocks FROM pg_catalog.pg_statio_user_tables`,
    judge: (rows) => ({
      ok: value(rows, "blocks") < 100_000 || value(rows, "percent") >= 95,
      summary: `${value(rows, "percent")}% of table blocks came from the cache.`,
    }),
  },
  vacuum: {
    statement: `SELECT relid::regclass::text AS table, n_dead_tup::float8 AS dead_rows, n_live_tup::float8 AS live_rows,
      coalesce(last_vacuum, last_autovacuum)::text AS last_vacuum,
      (SELECT max(age(datfrozenxid)) FROM pg_catalog.pg_database)::float8 AS oldest_transaction
      FROM pg_catalog.pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup ORDER BY n_dead_tup DESC LIMIT 10`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary:
        rows.length === 0
          ? "No table has many dead rows."
          : `${rows.length} tables have many dead rows; VACUUM them or tune autovacuum.`,
    }),
    shows: true,
  },
  indexes: {
    statement: `SELECT s.indexrelid::regclass::text AS index, s.relid::regclass::text AS table,
      CASE WHEN NOT i.indisvalid THEN 'invalid' ELSE 'never used' END AS problem, pg_catalog.pg_relation_size(s.indexrelid)::float8 AS bytes
      FROM pg_catalog.pg_stat_user_indexes s JOIN pg_catalog.pg_index i ON i.indexrelid = s.indexrelid
      WHERE NOT i.indisvalid OR (s.idx_scan = 0 AND NOT i.indisunique AND pg_catalog.pg_relation_size(s.indexrelid) > 1048576)
      ORDER BY 4 DESC LIMIT 10`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary:
        rows.length === 0
          ? "No index is invalid, and no large one is unused."
          : `${rows.length} indexes are invalid or were never used.`,
    }),
    shows: true,
  },
  sequences: {
    statement: `SELECT schemaname || '.' || sequencename AS sequence, round(100.0 * last_value / max_value, 1)::float8 AS percent
      FROM pg_catalog.pg_sequences WHERE last_value > 0.7 * max_value AND NOT cycle ORDER BY 2 DESC LIMIT 10`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary:
        rows.length === 0 ? "No sequence is near its end." : `${rows.length} sequences are near their end.`,
    }),
    shows: true,
  },
  locks: {
    statement: `SELECT pid, pg_catalog.pg_blocking_pids(pid)::text AS blocked_by, round(extract(epoch FROM now() - query_start))::float8 AS seconds
      FROM pg_catalog.pg_stat_activity WHERE cardinality(pg_catalog.pg_blocking_pids(pid)) > 0 ORDER BY 3 DESC LIMIT 10`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary: rows.length === 0 ? "Nobody waits for a lock." : `${rows.length} sessions wait for a lock.`,
    }),
    shows: true,
  },
  replication: {
    statement: `SELECT slot_name::text AS slot, active, (CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
      ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn) END)::float8 AS kept_bytes
      FROM pg_catalog.pg_replication_slots WHERE NOT active ORDER BY 3 DESC NULLS LAST LIMIT 10`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary:
        rows.length === 0
          ? "No replication slot is left behind."
          : `${rows.length} slots are inactive and keep WAL on the disk.`,
    }),
    shows: true,
  },
  settings: {
    statement: `SELECT name, setting FROM pg_catalog.pg_settings
      WHERE (name IN ('fsync', 'full_page_writes', 'autovacuum', 'track_counts') AND setting = 'off') OR pending_restart ORDER BY name`,
    judge: (rows) => ({
      ok: rows.length === 0,
      summary:
        rows.length === 0
          ? "No dangerous setting."
          : `${rows.map((row) => `${row.name} = ${row.setting}`).join(", ")}.`,
    }),
  },
};

/** Looks after a database's health; each check stands alone, and one that the role may not make is a note. */
export async function checkHealth(
  database: Database,
  checks: readonly Check[],
  work: Work,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    const { statement, judge, shows } = INSPECTIONS[check];
    try {
      const rows = await database.work(work, ({ link }) => link.rows(statement));
      const { ok, summary } = judge(rows);
      findings.push({
        check,
        status: ok ? "ok" : "warning",
        summary,
        ...(shows === true && rows.length > 0 ? { details: rows } : {}),
      });
    } catch (error) {
      const known = explained(error, { label: database.label });
      // Without the server no check makes sense; one that is forbidden or unknown to this version does not stop others.
      if (!(known instanceof ToolError) || !["denied", "not_found", "invalid"].includes(known.kind))
        throw known;
      findings.push({ check, status: "note", summary: `Not checked: ${known.message}` });
    }
  }
  return findings;
}
