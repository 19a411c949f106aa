-- Settings that risk data, and those that wait for a restart.
SELECT name, setting FROM pg_catalog.pg_settings
  WHERE (name IN ('fsync', 'full_page_writes', 'autovacuum', 'track_counts') AND setting = 'off') OR pending_restart ORDER BY name;
