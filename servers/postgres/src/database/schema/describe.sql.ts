import { MAX_VALUE_CHARS, MAX_VALUES } from "@refmcp/sql/values";

/**
 * What is known about the values of columns `a` with types `t` of a relation `c`, as `ColumnValues`. `seen` are the most
 * common values that the role may read in pg_stats, if they are few and there are hardly any others; keys have their own.
 */
const VALUES = `'values', pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'allowed', labels.list, 'allowedCount', labels.count,
    'domain', CASE t.typtype WHEN 'd' THEN pg_catalog.concat_ws(' ', pg_catalog.format_type(t.typbasetype, t.typtypmod),
      (SELECT pg_catalog.string_agg(pg_catalog.pg_get_constraintdef(k.oid, true), ' ' ORDER BY k.conname) FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')) END,
    'checks', CASE WHEN owner.relchecks > 0 THEN (SELECT pg_catalog.json_agg(pg_catalog.pg_get_constraintdef(k.oid, true) ORDER BY k.conname)
      FROM pg_catalog.pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) END,
    'seen', CASE WHEN stats.list IS NOT NULL THEN (SELECT pg_catalog.json_agg(CASE t.typcategory WHEN 'N' THEN v ELSE pg_catalog.quote_literal(v) END)
      FROM pg_catalog.unnest(stats.list) v HAVING pg_catalog.max(pg_catalog.length(v)) <= ${MAX_VALUE_CHARS} AND pg_catalog.max(pg_catalog.btrim(v)) <> '' AND (t.typcategory = 'S' OR pg_catalog.count(*) > 1)) END))`;
const VALUES_JOINS = `JOIN pg_catalog.pg_type t ON t.oid = a.atttypid JOIN page owner ON owner.oid = a.attrelid
    LEFT JOIN LATERAL (SELECT pg_catalog.json_agg(pg_catalog.quote_literal(e.enumlabel) ORDER BY e.place) FILTER (WHERE e.place <= ${MAX_VALUES}) AS list, pg_catalog.max(e.place) AS count
      FROM (SELECT e.enumlabel, pg_catalog.row_number() OVER (ORDER BY e.enumsortorder) AS place FROM pg_catalog.pg_enum e
        WHERE (t.typtype IN ('e', 'd') OR t.typcategory = 'A') AND e.enumtypid IN (t.oid, t.typbasetype, t.typelem)) e) labels ON true
    LEFT JOIN stats ON stats.oid = a.attrelid AND stats.attname = a.attname AND labels.list IS NULL
      AND (t.typcategory = 'S' OR t.oid IN ('int2'::regtype, 'int4'::regtype))
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype IN ('p', 'f') AND a.attnum = ANY (k.conkey))`;
/** Statistics of relations `page`, which the planner finds by name for each of them only behind OFFSET. */
const STATS = `SELECT p.oid, s.attname, CASE WHEN s.is_short THEN s.list::text::text[] END AS list FROM page p,
    LATERAL (SELECT s.attname, s.most_common_vals AS list, pg_catalog.array_length(s.most_common_freqs, 1) < ${MAX_VALUES} AS is_short FROM pg_catalog.pg_stats s
      WHERE s.schemaname = p.nspname AND s.tablename = p.relname AND s.inherited = (p.relkind = 'p') AND s.most_common_vals IS NOT NULL
        AND CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * p.reltuples ELSE s.n_distinct END BETWEEN 1 AND LEAST(${MAX_VALUES}, p.reltuples / 2)
        AND s.null_frac + (SELECT pg_catalog.sum(f) FROM pg_catalog.unnest(s.most_common_freqs) f) >= 0.95 OFFSET 0) s`;
/** Estimated rows of a relation `c`; of a partitioned one, those of its partitions. */
const ROWS = `CASE c.relkind WHEN 'v' THEN NULL
    WHEN 'p' THEN (SELECT pg_catalog.sum(k.reltuples)::float8 FROM pg_catalog.pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class k ON k.oid = t.relid WHERE t.isleaf AND k.reltuples >= 0)
    ELSE CASE WHEN c.reltuples >= 0 THEN c.reltuples::float8 END END`;

const COLUMNS = `SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', pg_catalog.quote_ident(a.attname), 'raw', a.attname, ${VALUES}, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'nullable', CASE WHEN a.attnotnull THEN false END,
    'default', CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'generated', CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'identity', CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END,
    'comment', pg_catalog.col_description(a.attrelid, a.attnum))) ORDER BY a.attnum)
  FROM pg_catalog.pg_attribute a ${VALUES_JOINS}
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;

const constraints = (
  type: string,
  side: "conrelid" | "confrelid",
) => `SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', pg_catalog.quote_ident(k.conname), 'definition', pg_catalog.pg_get_constraintdef(k.oid),
    'table', CASE WHEN '${side}' = 'confrelid' THEN k.conrelid::regclass::text END,
    'validated', CASE WHEN NOT k.convalidated THEN false END)) ORDER BY k.conrelid::regclass::text, k.conname)
  FROM pg_catalog.pg_constraint k WHERE k.${side} = c.oid AND k.contype ${type} AND k.conparentid = 0`;

/** Foreign keys that only the partitions have, once for all of them. */
const PARTITION_KEYS = `SELECT pg_catalog.json_agg(pg_catalog.json_build_object('definition', k.definition, 'partitions', k.count) ORDER BY k.definition)
  FROM (SELECT pg_catalog.pg_get_constraintdef(k.oid) AS definition, pg_catalog.count(*) AS count FROM pg_catalog.pg_inherits i
    JOIN pg_catalog.pg_constraint k ON k.conrelid = i.inhrelid AND k.contype = 'f' AND k.conparentid = 0 WHERE i.inhparent = c.oid GROUP BY 1) k`;

/** Everything about the relation with this object id ($1), as JSON. */
export const DESCRIBE = `WITH page AS (SELECT c.*, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::oid),
stats AS MATERIALIZED (${STATS})
SELECT pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
  'schema', pg_catalog.quote_ident(c.nspname), 'table', pg_catalog.quote_ident(c.relname),
  'type', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned_table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' ELSE 'foreign_table' END,
  'comment', pg_catalog.obj_description(c.oid, 'pg_class'),
  'owner', pg_catalog.pg_get_userbyid(c.relowner),
  'estimated_rows', ${ROWS},
  'bytes', CASE WHEN c.relkind IN ('r','m') THEN pg_catalog.pg_total_relation_size(c.oid)
    WHEN c.relkind = 'p' THEN (SELECT pg_catalog.sum(pg_catalog.pg_total_relation_size(t.relid)) FROM pg_catalog.pg_partition_tree(c.oid) t) END,
  'columns', coalesce((${COLUMNS}), '[]'::json),
  'primary_key', (SELECT pg_catalog.json_agg(pg_catalog.quote_ident(a.attname) ORDER BY pg_catalog.array_position(i.indkey::int2[], a.attnum)) FROM pg_catalog.pg_index i
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY ((i.indkey::int2[])[:i.indnkeyatts - 1]) WHERE i.indrelid = c.oid AND i.indisprimary),
  'foreign_keys', (${constraints("= 'f'", "conrelid")}),
  'partition_foreign_keys', CASE WHEN c.relkind = 'p' THEN (${PARTITION_KEYS}) END,
  'referenced_by', (${constraints("= 'f'", "confrelid")}),
  'constraints', (${constraints("IN ('u','c','x')", "conrelid")}),
  'indexes', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', pg_catalog.quote_ident(x.relname), 'definition', pg_catalog.pg_get_indexdef(i.indexrelid),
      'bytes', CASE WHEN x.relkind = 'i' THEN pg_catalog.pg_relation_size(i.indexrelid) END,
      'valid', CASE WHEN NOT i.indisvalid THEN false END)) ORDER BY x.relname)
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid),
  'triggers', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', pg_catalog.quote_ident(t.tgname), 'definition', pg_catalog.pg_get_triggerdef(t.oid),
      'enabled', CASE WHEN t.tgenabled = 'D' THEN false END)) ORDER BY t.tgname)
     FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
  'row_security', CASE WHEN c.relrowsecurity THEN pg_catalog.json_strip_nulls(pg_catalog.json_build_object('forced', CASE WHEN c.relforcerowsecurity THEN true END,
     'policies', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', pg_catalog.quote_ident(p.polname),
        'command', CASE p.polcmd WHEN 'r' THEN 'select' WHEN 'a' THEN 'insert' WHEN 'w' THEN 'update' WHEN 'd' THEN 'delete' ELSE 'all' END,
        'roles', (SELECT pg_catalog.json_agg(CASE WHEN r = 0 THEN 'public' ELSE pg_catalog.pg_get_userbyid(r)::text END) FROM pg_catalog.unnest(p.polroles) r),
        'permissive', CASE WHEN NOT p.polpermissive THEN false END,
        'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid))) ORDER BY p.polname)
       FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid))) END,
  'partition_key', CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END,
  'partition_of', CASE WHEN c.relispartition THEN (SELECT i.inhparent::regclass::text || ' ' || pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid) END,
  'partitions', CASE WHEN c.relkind = 'p' THEN (SELECT pg_catalog.json_agg(pg_catalog.quote_ident(x.relname) || ' ' || pg_catalog.pg_get_expr(x.relpartbound, x.oid) ORDER BY x.relname)
     FROM (SELECT k.relname, k.relpartbound, k.oid FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid WHERE i.inhparent = c.oid ORDER BY k.relname LIMIT 100) x) END,
  'view_definition', CASE WHEN c.relkind IN ('v','m') THEN pg_catalog.pg_get_viewdef(c.oid, true) END)) AS description
FROM page c`;

/** Columns and keys of the relations with these object ids ($1). */
export const FACTS = `
WITH page AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples, c.relchecks, ${ROWS} AS rows
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = ANY ($1::text[]::oid[])),
stats AS MATERIALIZED (${STATS}),
keys AS (
  SELECT k.oid, a.attname, pg_catalog.bool_or(k.contype = 'p') AS is_primary,
    pg_catalog.min(CASE WHEN k.contype = 'f' THEN k.confrelid::regclass::text || '.' || pg_catalog.quote_ident(f.attname) END) AS target
  FROM (SELECT p.oid, k.conrelid, k.contype, k.conkey, k.confrelid, k.confkey FROM page p JOIN pg_catalog.pg_constraint k ON k.conrelid = p.oid
      UNION ALL SELECT p.oid, k.conrelid, k.contype, k.conkey, k.confrelid, k.confkey FROM page p JOIN pg_catalog.pg_inherits i ON i.inhparent = p.oid AND p.relkind = 'p'
        JOIN pg_catalog.pg_constraint k ON k.conrelid = i.inhrelid AND k.contype = 'f' AND k.conparentid = 0) k CROSS JOIN LATERAL pg_catalog.unnest(k.conkey) WITH ORDINALITY u (attnum, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum
    LEFT JOIN LATERAL (SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = k.confrelid AND a.attnum = k.confkey[u.place]) f ON true
  WHERE k.contype IN ('p', 'f') GROUP BY 1, 2),
columns AS (
  SELECT a.attrelid, pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', pg_catalog.quote_ident(a.attname), 'raw', a.attname, ${VALUES}, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'notNull', CASE WHEN a.attnotnull THEN true END,
    'primaryKey', CASE WHEN k.is_primary THEN true END, 'references', k.target)) ORDER BY a.attnum) AS list
  FROM page p JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped ${VALUES_JOINS}
    LEFT JOIN keys k ON k.oid = a.attrelid AND k.attname = a.attname GROUP BY 1)
SELECT p.oid::int8::text AS id, coalesce(c.list, '[]') AS columns, pg_catalog.round(p.rows) AS rows
FROM page p LEFT JOIN columns c ON c.attrelid = p.oid`;
