-- the same as another index
-- check: indexes, level: warning, splinter: 0009
SELECT DISTINCT c.oid::regclass || ' (' || pg_catalog.string_agg(i.indexrelid::regclass::text, ', '
    ORDER BY i.indexrelid::regclass::text) || ')' AS object
FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
  JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
WHERE c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
GROUP BY c.oid, x.relam, i.indisunique, i.indkey::text, i.indclass::text, i.indcollation::text, i.indoption::text, pg_catalog.pg_get_expr(i.indexprs, c.oid), pg_catalog.pg_get_expr(i.indpred, c.oid)
HAVING pg_catalog.count(*) > 1;
