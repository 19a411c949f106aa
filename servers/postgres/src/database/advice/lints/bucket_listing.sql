-- public storage bucket whose files API roles can list
-- check: security, level: warning, splinter: 0025
-- The table exists only on Supabase, so it is named in a text, and only where this role may read it.
SELECT b.id || ' (' || pg_catalog.string_agg(p.polname, ', ' ORDER BY p.polname) || ')' AS object
FROM pg_catalog.unnest(CASE WHEN pg_catalog.has_table_privilege(pg_catalog.to_regclass('storage.buckets'), 'SELECT')
    THEN pg_catalog.xpath('/table/row/id/text()', pg_catalog.query_to_xml('SELECT id FROM storage.buckets WHERE public', true, false, ''))
  END) x (id)
  CROSS JOIN LATERAL (SELECT pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(x.id::text, '&lt;', '<'), '&gt;', '>'), '&amp;', '&') AS id) b
  JOIN pg_catalog.pg_policy p ON p.polrelid = pg_catalog.to_regclass('storage.objects') AND p.polpermissive AND p.polcmd IN ('r', '*')
    AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = ANY (p.polroles) AND r.rolname IN ('anon', 'authenticated')))
  CROSS JOIN LATERAL (SELECT coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'true') AS condition) e
WHERE e.condition IN ('true', '(1 = 1)', '(bucket_id = ' || pg_catalog.quote_literal(b.id) || '::text)')
GROUP BY b.id;
