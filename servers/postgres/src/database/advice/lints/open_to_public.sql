-- PUBLIC has privileges, and row security is off
-- check: security, level: error
SELECT c.oid::regclass::text AS object
FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'p')
  AND NOT c.relrowsecurity
  AND EXISTS (SELECT FROM pg_catalog.aclexplode(c.relacl) a WHERE a.grantee = 0)
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e');
