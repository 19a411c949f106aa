-- public storage bucket whose files API roles can list
-- check: security, level: warning, splinter: 0025
-- The table exists only on Supabase, so it is named in a text, and only where this role may read it. Anyone else's view or
-- policy of that name must not run.
SELECT b.id || ' (' || pg_catalog.string_agg(p.polname, ', ' ORDER BY p.polname) || ')' AS object
FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_class objects ON objects.relnamespace = n.oid AND objects.relname = 'objects'
  JOIN pg_catalog.pg_class buckets ON buckets.relnamespace = n.oid AND buckets.relname = 'buckets' AND buckets.relkind = 'r'
  JOIN pg_catalog.pg_roles o ON o.oid = buckets.relowner AND (o.rolsuper OR o.rolname ~ '^supabase_')
  CROSS JOIN LATERAL pg_catalog.unnest(CASE
    WHEN n.nspname = 'storage' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(buckets.oid, 'SELECT')
    THEN pg_catalog.xpath('/table/row/id/text()', pg_catalog.query_to_xml('SELECT id FROM storage.buckets WHERE public', true, false, ''))
  END) x (id)
  CROSS JOIN LATERAL (SELECT pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(x.id::text, '&lt;', '<'), '&gt;', '>'), '&amp;', '&') AS id) b
  JOIN pg_catalog.pg_policy p ON p.polrelid = objects.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
    AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = ANY (p.polroles) AND r.rolname IN ('anon', 'authenticated')))
  CROSS JOIN LATERAL (SELECT coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'true') AS condition) e
WHERE e.condition IN ('true', '(1 = 1)', '(bucket_id = ''' || pg_catalog.replace(b.id, '''', '''''') || '''::text)')
GROUP BY b.id;
