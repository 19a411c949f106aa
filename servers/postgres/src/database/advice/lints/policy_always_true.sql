-- policy for PUBLIC or API roles lets them write any row
-- check: security, level: warning, splinter: 0024
SELECT c.oid::regclass || ' (' || p.polname || ')' AS object
FROM pg_catalog.pg_policy p
  JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
  CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS checked) e
WHERE c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
  AND c.relrowsecurity
  AND p.polpermissive
  AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.pg_roles r
      WHERE r.oid = ANY (p.polroles) AND r.rolname IN ('anon', 'authenticated')))
  AND ((p.polcmd IN ('w', 'd', '*') AND coalesce(e.using, 'true') IN ('true', '(1 = 1)')) OR e.checked IN ('true', '(1 = 1)') OR (p.polcmd = 'a'
      AND e.checked IS NULL));
