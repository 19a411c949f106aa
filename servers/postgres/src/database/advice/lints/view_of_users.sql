-- view shows the users of the login service to API roles
-- check: security, level: error, splinter: 0002
SELECT DISTINCT c.oid::regclass || ' (' || api.names || ')' AS object
FROM pg_catalog.pg_class c
  CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names
    FROM pg_catalog.pg_roles r WHERE r.rolname IN ('anon', 'authenticated')
    AND pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
    AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT'))) api
WHERE api.names IS NOT NULL
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND c.relkind IN ('v', 'm')
  AND EXISTS (SELECT FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass
    AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
    WHERE r.ev_class = c.oid AND t.relname = 'users' AND t.relnamespace IN (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = 'auth')
    AND (c.relkind = 'm' OR NOT t.relrowsecurity OR NOT EXISTS (SELECT
        FROM pg_catalog.unnest(c.reloptions) o WHERE o ~* '^security_invoker=(true|on|yes|1)$')));
