-- SECURITY DEFINER function can be called by API roles
-- check: security, level: warning, splinter: 0028, 0029
SELECT p.oid::regprocedure || ' (' || api.names || ')' AS object
FROM pg_catalog.pg_proc p
  CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names
    FROM pg_catalog.pg_roles r WHERE r.rolname IN ('anon', 'authenticated')
    AND pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'USAGE')
    AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')) api
WHERE p.prosecdef
  AND api.names IS NOT NULL
  AND p.pronamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass
    AND d.objid = p.oid AND d.deptype = 'e');
