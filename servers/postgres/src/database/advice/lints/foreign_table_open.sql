-- foreign table, which has no row security, is usable by API roles
-- check: security, level: warning, splinter: 0017
SELECT c.oid::regclass || ' (' || api.names || ')' AS object
FROM pg_catalog.pg_class c
  CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names
    FROM pg_catalog.pg_roles r WHERE r.rolname IN ('anon', 'authenticated')
    AND pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
    AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE'))) api
WHERE api.names IS NOT NULL
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND c.relkind = 'f';
