-- column of a reg type, which pg_upgrade refuses
-- check: schema, level: warning, splinter: 0018
SELECT c.oid::regclass || ' (' || a.attname || ' ' || t.typname || ')' AS object
FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  AND c.relkind IN ('r', 'p', 'm')
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE NOT a.attisdropped
  AND t.typnamespace = 'pg_catalog'::regnamespace
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND t.typname IN ('regcollation', 'regconfig', 'regdictionary', 'regnamespace', 'regoper', 'regoperator', 'regproc', 'regprocedure');
