-- Transactions that are open for over 5 minutes.
SELECT pid, usename::text AS role, state, pg_catalog.round(extract(epoch FROM pg_catalog.now() - xact_start))::float8 AS seconds, pg_catalog.left(query, 200) AS query
  FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND xact_start < pg_catalog.now() - interval '5 minutes' ORDER BY xact_start LIMIT 10;
