-- never used, and over 1 MB
-- check: indexes, level: info, splinter: 0005
SELECT s.indexrelid::regclass || ' on ' || s.relid::regclass || ' (' || pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(s.indexrelid)) || ')' AS object
FROM pg_catalog.pg_stat_user_indexes s
  JOIN pg_catalog.pg_index i ON i.indexrelid = s.indexrelid
WHERE s.idx_scan = 0
  AND i.indisvalid
  AND NOT i.indisunique
  AND pg_catalog.pg_relation_size(s.indexrelid) > 1048576;
