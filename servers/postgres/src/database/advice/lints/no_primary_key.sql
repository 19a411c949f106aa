-- no primary key
-- check: schema, level: info, splinter: 0004
SELECT c.oid::regclass::text AS object
FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'p')
  AND NOT c.relispartition
  AND c.relpersistence = 'p'
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
    AND i.indisprimary);
