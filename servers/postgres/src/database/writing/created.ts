import type { Session } from "../connection/database.ts";

const KINDS = `CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'i' THEN 'INDEX' WHEN 'I' THEN 'INDEX'
  WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END`;
const OWN = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

/** Objects that a transaction made or changed, those first that can depend on the others; parts of others are left out. */
const MADE = `SELECT key, id, sql FROM (SELECT 'c' || c.oid AS key, c.oid::text AS id, pg_catalog.format('DROP %s %I.%I', ${KINDS}, n.nspname, c.relname) AS sql, 1 AS place
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.xmin = $1::xid AND c.relkind <> 't' AND ${OWN} AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND (d.deptype IN ('i', 'P') OR (d.deptype = 'a' AND c.relkind = 'S')))
  UNION ALL SELECT 'a' || a.attrelid || '.' || a.attnum, a.attrelid::text, pg_catalog.format('ALTER TABLE %I.%I DROP COLUMN %I', n.nspname, c.relname, a.attname), 2
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE a.xmin = $1::xid AND a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount = 0 AND c.relkind IN ('r', 'p') AND ${OWN}
  UNION ALL SELECT 't' || t.oid, t.oid::text, pg_catalog.format('DROP %s %I.%I', CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, n.nspname, t.typname), 3
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.xmin = $1::xid AND t.typtype IN ('e', 'd', 'r') AND ${OWN}
  UNION ALL SELECT 'n' || oid, oid::text, pg_catalog.format('DROP SCHEMA %I', nspname), 4 FROM pg_catalog.pg_namespace n WHERE n.xmin = $1::xid AND ${OWN}) made
  ORDER BY place, id::int8 DESC`;

const EXISTING = `SELECT 'c' || oid AS key FROM pg_catalog.pg_class WHERE oid = ANY ($1::oid[]) UNION ALL SELECT 'n' || oid FROM pg_catalog.pg_namespace WHERE oid = ANY ($1::oid[])
  UNION ALL SELECT 't' || oid FROM pg_catalog.pg_type WHERE oid = ANY ($1::oid[])
  UNION ALL SELECT 'a' || attrelid || '.' || attnum FROM pg_catalog.pg_attribute WHERE attrelid = ANY ($1::oid[])`;

/**
 * Statements that remove what a transaction created: tables, views, indexes, sequences, types, schemas and columns.
 *
 * @param xid the transaction of the session
 * @param observer a session that does not see them yet
 */
export async function removingCreated(
  session: Session,
  xid: string,
  observer: Session,
): Promise<string[]> {
  const made = await session.rows<{ key: string; id: string; sql: string }>(MADE, [
    String(BigInt(xid) % 4_294_967_296n),
  ]);
  if (made.length === 0) return [];
  const found = await observer.rows<{ key: string }>(EXISTING, [made.map(({ id }) => id)]);
  const existing = new Set(found.map(({ key }) => key));
  const isNew = (key: string) => !existing.has(key);
  // A new table's columns go with it.
  return made
    .filter(({ key, id }) => isNew(key) && (!key.startsWith("a") || !isNew(`c${id}`)))
    .map(({ sql }) => sql);
}
