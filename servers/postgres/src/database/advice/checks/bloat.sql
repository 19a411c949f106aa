-- Tables and indexes over 10 MB that are estimated to be more than half empty: pages that the rows should need according
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
    AND p.relpages > 1280 AND p.relpages > 2 * p.needed ORDER BY 4 DESC LIMIT 10;
