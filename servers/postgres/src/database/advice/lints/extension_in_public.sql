-- extension in schema public, where its functions mix with yours
-- check: schema, level: warning, splinter: 0014
SELECT e.extname::text AS object
FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
WHERE n.nspname = 'public';
