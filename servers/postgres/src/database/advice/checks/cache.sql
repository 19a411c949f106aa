-- The share of table blocks that were read from the cache.
SELECT pg_catalog.round(100.0 * pg_catalog.sum(heap_blks_hit) / nullif(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0), 1)::float8 AS percent,
  coalesce(pg_catalog.sum(heap_blks_hit) + pg_catalog.sum(heap_blks_read), 0)::float8 AS blocks FROM pg_catalog.pg_statio_user_tables;
