-- policy trusts user_metadata, which users can change themselves
-- check: security, level: error, splinter: 0015
SELECT c.oid::regclass || ' (' || p.polname || ')' AS object
FROM pg_catalog.pg_policy p
  JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
  CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS checked) e
WHERE c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND pg_catalog.concat_ws(' ', e.using, e.checked) ~ '\m(raw_)?user_meta_?data\M';
