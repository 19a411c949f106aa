-- several permissive policies for the same command and role: each is evaluated for every row
-- check: schema, level: warning, splinter: 0006
SELECT relation || ' (' || pg_catalog.max(policies) || ' policies)' AS object
FROM (SELECT c.oid::regclass AS relation, pg_catalog.count(*) AS policies
    FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
    JOIN (SELECT DISTINCT polrelid, pg_catalog.unnest(polroles) AS role
      FROM pg_catalog.pg_policy) r ON r.polrelid = p.polrelid AND p.polroles && ARRAY[r.role, 0::oid], pg_catalog.unnest(CASE p.polcmd WHEN '*' THEN '{r,a,w,d}'::"char"[] ELSE ARRAY[p.polcmd] END) command
    WHERE p.polpermissive AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
      JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
      AND d.objid = c.oid AND d.deptype = 'e') GROUP BY 1, r.role, command
    HAVING pg_catalog.count(*) > 1) several
GROUP BY relation;
