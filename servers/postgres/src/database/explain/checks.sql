-- The queries of pg_health that are not lints. Each begins with its check.

-- connections: Connections in use, and those idle in a transaction for over 5 minutes.
SELECT pg_catalog.count(*)::int AS used, pg_catalog.current_setting('max_connections')::int AS max,
  pg_catalog.count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND pg_catalog.now() - state_change > interval '5 minutes')::int AS stuck
  FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'

-- cache: The share of table blocks that were read from the cache.
SELECT pg_catalog.round(100.0 * pg_catalog.sum(heap_blks_hit) / nullif(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0), 1)::float8 AS percent,
  coalesce(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0)::float8 AS blocks FROM pg_catalog.pg_statio_user_tables

-- vacuum: Tables with many dead rows.
SELECT relid::regclass::text AS table, n_dead_tup::float8 AS dead_rows, n_live_tup::float8 AS live_rows,
  coalesce(last_vacuum, last_autovacuum)::text AS last_vacuum
  FROM pg_catalog.pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup ORDER BY n_dead_tup DESC LIMIT 10

-- bloat: Tables and indexes over 10 MB that are estimated to be more than half empty: pages that the rows should need according
-- to the planner's statistics, with 28 bytes of header per row and 12 per index entry.
WITH width AS (
    SELECT c.oid, pg_catalog.sum((1 - s.null_frac) * s.avg_width) AS bytes FROM pg_catalog.pg_stats s
      JOIN pg_catalog.pg_namespace n ON n.nspname = s.schemaname JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.tablename
    WHERE NOT s.inherited GROUP BY 1),
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
    AND p.relpages > 1280 AND p.relpages > 2 * p.needed ORDER BY 4 DESC LIMIT 10

-- wraparound: The age of the oldest unfrozen transaction.
SELECT pg_catalog.max(pg_catalog.age(datfrozenxid))::float8 AS oldest, pg_catalog.current_setting('autovacuum_freeze_max_age')::float8 AS frozen_at FROM pg_catalog.pg_database

-- transactions: Transactions that are open for over 5 minutes.
SELECT pid, usename::text AS role, state, pg_catalog.round(extract(epoch FROM pg_catalog.now() - xact_start))::float8 AS seconds, pg_catalog.left(query, 200) AS query
  FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND xact_start < pg_catalog.now() - interval '5 minutes' ORDER BY xact_start LIMIT 10

-- constraints: Constraints that are not validated.
SELECT conrelid::regclass::text AS table, conname::text AS constraint, pg_catalog.pg_get_constraintdef(oid) AS definition
  FROM pg_catalog.pg_constraint WHERE NOT convalidated ORDER BY 1, 2 LIMIT 10

-- sequences: Sequences that used over 70% of their values.
SELECT schemaname || '.' || sequencename AS sequence, pg_catalog.round(100.0 * last_value / max_value, 1)::float8 AS percent
  FROM pg_catalog.pg_sequences WHERE last_value > 0.7 * max_value AND NOT cycle ORDER BY 2 DESC LIMIT 10

-- locks: Sessions that wait for a lock, with those that hold it.
SELECT w.pid, pg_catalog.left(w.query, 200) AS query, pg_catalog.round(extract(epoch FROM pg_catalog.now() - w.query_start))::float8 AS seconds,
    b.pid AS blocked_by, b.state AS blocker_state, pg_catalog.left(b.query, 200) AS blocker_query
  FROM pg_catalog.pg_stat_activity w, pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) AS p (pid)
    LEFT JOIN pg_catalog.pg_stat_activity b ON b.pid = p.pid ORDER BY 3 DESC LIMIT 10

-- replication: Standbys over 100 MB behind, and inactive slots, which retain WAL.
SELECT application_name AS standby, state, pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn)::float8 AS behind_bytes, NULL::float8 AS kept_bytes
    FROM pg_catalog.pg_stat_replication WHERE pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn) > 104857600
  UNION ALL SELECT slot_name::text, 'inactive slot', NULL, (CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn) END)::float8 AS kept_bytes
    FROM pg_catalog.pg_replication_slots WHERE NOT active LIMIT 10

-- settings: Settings that risk data, and those that wait for a restart.
SELECT name, setting FROM pg_catalog.pg_settings
  WHERE (name IN ('fsync', 'full_page_writes', 'autovacuum', 'track_counts') AND setting = 'off') OR pending_restart ORDER BY name
