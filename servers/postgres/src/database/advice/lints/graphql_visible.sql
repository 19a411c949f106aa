-- visible to API roles in the GraphQL schema, because they may SELECT it
-- check: security, level: warning, splinter: 0026, 0027
SELECT c.oid::regclass || ' (' || pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) || ')' AS object
FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_roles r ON r.rolname IN ('anon', 'authenticated')
    AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT'))
WHERE c.relkind IN ('r', 'v', 'm', 'f')
  AND EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'pg_graphql')
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
GROUP BY c.oid;
