-- message queue without row security, which API roles can read through pgmq_public
-- check: security, level: error, splinter: 0019
SELECT c.oid::regclass || ' (' || pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) || ')' AS object
FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'pgmq'
  JOIN pg_catalog.pg_roles r ON r.rolname IN ('anon', 'authenticated') AND pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT')
WHERE c.relkind IN ('r', 'p')
  AND c.relname LIKE 'q\_%'
  AND NOT c.relrowsecurity
  AND EXISTS (SELECT FROM pg_catalog.pg_namespace wrapper WHERE wrapper.nspname = 'pgmq_public'
    AND pg_catalog.has_schema_privilege(r.oid, wrapper.oid, 'USAGE'))
GROUP BY c.oid;
