-- foreign key without an index: changes of the referenced table scan this one
-- check: indexes, level: info, splinter: 0001
SELECT c.oid::regclass || ' (' || f.conname || ')' AS object
FROM pg_catalog.pg_constraint f
  JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
WHERE f.contype = 'f'
  AND f.conparentid = 0
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = f.conrelid
    AND i.indpred IS NULL AND (i.indkey::int2[])[0:pg_catalog.cardinality(f.conkey) - 1] @> f.conkey);
