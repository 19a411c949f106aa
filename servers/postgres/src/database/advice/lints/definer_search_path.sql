-- SECURITY DEFINER without a fixed search_path
-- check: security, level: warning, splinter: 0011
SELECT p.oid::regprocedure::text AS object
FROM pg_catalog.pg_proc p
WHERE p.prosecdef
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proconfig) s WHERE s LIKE 'search_path=%')
  AND p.pronamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass
    AND d.objid = p.oid AND d.deptype = 'e');
