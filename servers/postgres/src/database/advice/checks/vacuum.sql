-- Tables with many dead rows.
SELECT relid::regclass::text AS table, n_dead_tup::float8 AS dead_rows, n_live_tup::float8 AS live_rows,
  coalesce(last_vacuum, last_autovacuum)::text AS last_vacuum
  FROM pg_catalog.pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup ORDER BY n_dead_tup DESC LIMIT 10;
