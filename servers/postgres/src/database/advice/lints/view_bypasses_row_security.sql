-- view reads a table with row security as its owner, which bypasses it; set security_invoker
-- check: security, level: error
SELECT DISTINCT c.oid::regclass || ' (' || t.oid::regclass || ')' AS object
FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
  JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass
  AND d.objid = r.oid
  AND d.refclassid = 'pg_class'::regclass
  JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
  AND t.relrowsecurity
WHERE c.relkind = 'v'
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(c.reloptions) o WHERE o ~* '^security_invoker=(true|on|yes|1)$')
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e');
