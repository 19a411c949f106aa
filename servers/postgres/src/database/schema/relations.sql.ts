// Our own statements about relations. Names are resolved with only pg_catalog in the path (CVE-2018-1058), and run with the
// user's, by which `regclass` and others show names.

/** Tables and views; $1: a schema, or those that are not of the system. */
export const RELATIONS = `
SELECT c.oid::int8::text AS id, n.nspname::text AS schema, c.relname::text AS name,
  CASE WHEN v.is_visible THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END
    || pg_catalog.quote_ident(c.relname) AS written,
  CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table'
    ELSE 'table' END AS type,
  v.is_visible AS "isVisible",
  c.relispartition OR EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') AS "isHidden"
FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (SELECT pg_catalog.pg_table_is_visible(c.oid) AS is_visible) v
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND CASE WHEN $1::text IS NULL
    THEN n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
      AND n.nspname NOT LIKE 'pg\\_temp\\_%'
    ELSE n.nspname = $1 END`;

/** The columns that a file can have. */
export const WRITABLE = `
SELECT attname::text AS name FROM pg_catalog.pg_attribute
WHERE attrelid = $1::text::oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY attnum`;
