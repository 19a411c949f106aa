-- Connections in use, and those idle in a transaction for over 5 minutes.
SELECT pg_catalog.count(*)::int AS used, pg_catalog.current_setting('max_connections')::int AS max,
  pg_catalog.count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND pg_catalog.now() - state_change > interval '5 minutes')::int AS stuck
  FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend';
