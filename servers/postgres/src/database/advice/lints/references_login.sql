-- foreign key to a unique column of the login service, which its updates may drop; reference its primary key
-- check: security, level: error, splinter: 0021
SELECT c.oid::regclass || ' (' || f.conname || ')' AS object
FROM pg_catalog.pg_constraint f
  JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
  JOIN pg_catalog.pg_class target ON target.oid = f.confrelid
  JOIN pg_catalog.pg_namespace login ON login.oid = target.relnamespace AND login.nspname = 'auth'
  JOIN pg_catalog.pg_index i ON i.indexrelid = f.conindid AND NOT i.indisprimary
WHERE f.contype = 'f'
  AND f.conparentid = 0
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_');
