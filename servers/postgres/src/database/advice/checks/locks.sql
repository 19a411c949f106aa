-- Sessions that wait for a lock, with those that hold it.
SELECT w.pid, pg_catalog.left(w.query, 200) AS query, pg_catalog.round(extract(epoch FROM pg_catalog.now() - w.query_start))::float8 AS seconds,
    b.pid AS blocked_by, b.state AS blocker_state, pg_catalog.left(b.query, 200) AS blocker_query
  FROM pg_catalog.pg_stat_activity w, pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) AS p (pid)
    LEFT JOIN pg_catalog.pg_stat_activity b ON b.pid = p.pid ORDER BY 3 DESC LIMIT 10;
