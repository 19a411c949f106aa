export default `-- Indexes to create or drop, according to the catalog and the statistics: at most $1, as "suggestion".
SELECT pg_catalog.json_strip_nulls(pg_catalog.json_build_object('table', "table", 'create', "create", 'drop', "drop", 'reason', reason)) AS suggestion
FROM (
  -- Foreign keys without an index: every delete and join from the other side scans the whole table. Those of partitions are
  -- one of their table, which is indexed as a whole.
  SELECT 1 AS kind, pg_catalog.sum(k.reltuples)::float8 AS size, k.root::regclass::text AS table, pg_catalog.min(k.name) AS name,
    pg_catalog.format('CREATE INDEX%s ON %s (%s)', CASE WHEN pg_catalog.bool_or(k.is_partitioned) THEN '' ELSE ' CONCURRENTLY' END, k.root::regclass, k.columns) AS create, NULL AS drop,
    pg_catalog.format('The foreign key %s%s has no index: deletes and joins from the other side scan all of %s.', pg_catalog.min(k.name),
      CASE WHEN pg_catalog.count(*) > 1 THEN pg_catalog.format(', and those of %s other partitions,', pg_catalog.count(*) - 1) END, k.root::regclass) AS reason
  FROM (SELECT CASE WHEN c.relispartition THEN pg_catalog.pg_partition_root(c.oid) ELSE c.oid END AS root, k.conname::text AS name, c.relkind = 'p' OR c.relispartition AS is_partitioned, c.reltuples,
      (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY u.ordinality) FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY u(attnum, ordinality)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum) AS columns
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND k.conparentid = 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisvalid
      AND i.indpred IS NULL AND (i.indkey::int2[])[0:pg_catalog.cardinality(k.conkey) - 1] @> k.conkey)) k
  GROUP BY k.root, k.columns
  UNION ALL
  -- Indexes whose columns are a prefix of another index of the same kind.
  SELECT 2, 0, a.indrelid::regclass::text, a.indexrelid::regclass::text, NULL,
    pg_catalog.format('DROP INDEX%s %s', CASE WHEN pg_catalog.min(ca.relkind) = 'I' THEN '' ELSE ' CONCURRENTLY' END, a.indexrelid::regclass), pg_catalog.format('%s begins with the same columns.', pg_catalog.min(b.indexrelid::regclass::text))
  FROM pg_catalog.pg_index a JOIN pg_catalog.pg_index b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid
  JOIN pg_catalog.pg_class ca ON ca.oid = a.indexrelid JOIN pg_catalog.pg_class cb ON cb.oid = b.indexrelid AND cb.relam = ca.relam
  JOIN pg_catalog.pg_class t ON t.oid = a.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
  WHERE NOT a.indisunique AND NOT ca.relispartition AND a.indpred IS NULL AND b.indpred IS NULL AND a.indexprs IS NULL AND b.indexprs IS NULL AND b.indisvalid
    AND (b.indkey::text || ' ') LIKE (a.indkey::text || ' %') AND (b.indclass::text || ' ') LIKE (a.indclass::text || ' %')
    AND (b.indkey <> a.indkey OR a.indexrelid > b.indexrelid OR b.indisunique)
  GROUP BY a.indrelid, a.indexrelid
  UNION ALL
  -- Tables that are often scanned in full.
  SELECT 3, seq_tup_read, relid::regclass::text, '', NULL, NULL,
    pg_catalog.format('Full scans: %s, about %s rows each. pg_explain of its queries shows which filter needs an index.', seq_scan, seq_tup_read / greatest(seq_scan, 1))
  FROM pg_catalog.pg_stat_user_tables WHERE seq_scan > 50 AND seq_tup_read / greatest(seq_scan, 1) > 10000 AND coalesce(idx_scan, 0) < seq_scan
) found ORDER BY kind, size DESC, "table", name LIMIT $1
`;
