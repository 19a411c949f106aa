import { cursorsOf } from "@refmcp/core/answer";
import * as z from "zod";
import type { Database, Work } from "../connection/database.ts";

export const KINDS = [
  "table",
  "view",
  "materialized_view",
  "foreign_table",
  "sequence",
  "function",
  "type",
  "extension",
  "schema",
] as const;
export type Kind = (typeof KINDS)[number];

/** A thing in a database, as a list shows it. */
export interface ListedObject {
  readonly kind: Kind;
  readonly schema: string;
  /** Of a function with its arguments. */
  readonly name: string;
  /** The planner's estimate; absent before the first ANALYZE. */
  readonly rows?: number;
  /** With indexes and TOAST, as the last VACUUM or ANALYZE saw it; of a partitioned table those of all partitions. */
  readonly bytes?: number;
  readonly partition_of?: string;
  readonly row_security?: true;
  readonly comment?: string;
}

export interface ObjectFilter {
  readonly kinds: readonly Kind[];
  readonly schema: string | undefined;
  /** Part of a name, in any case. */
  readonly query: string | undefined;
  /** The last object of the page before: schema, kind, name. */
  readonly after: readonly [string, string, string] | undefined;
  readonly limit: number;
}

const SYSTEM = `('pg_catalog', 'information_schema', 'pg_toast')`;
const KIND_OF_RELATION = `CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view'
  WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table' WHEN 'S' THEN 'sequence' END`;

/** Everything in one query: what belongs to an extension is left out, its extension stands for it. */
const OBJECTS = `
WITH own AS (SELECT oid, nspname FROM pg_catalog.pg_namespace
    WHERE nspname NOT LIKE 'pg\\_temp\\_%' AND nspname NOT LIKE 'pg\\_toast\\_temp\\_%'
      AND CASE WHEN $2::text IS NULL THEN nspname NOT IN ${SYSTEM} ELSE nspname = $2 END),
objects AS (
  SELECT ${KIND_OF_RELATION} AS kind, n.nspname::text AS schema, c.relname::text AS name, c.oid, 'pg_class'::regclass AS class,
    CASE WHEN c.relkind IN ('r','m','p','f') AND c.reltuples >= 0 THEN c.reltuples END AS rows, c.relkind,
    c.relispartition AS is_partition, c.relrowsecurity AS rls
  FROM pg_catalog.pg_class c JOIN own n ON n.oid = c.relnamespace WHERE c.relkind IN ('r','p','v','m','f','S')
  UNION ALL
  SELECT 'function', n.nspname, p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')', p.oid,
    'pg_proc'::regclass, NULL, NULL, false, false
  FROM pg_catalog.pg_proc p JOIN own n ON n.oid = p.pronamespace
  UNION ALL
  SELECT 'type', n.nspname, t.typname, t.oid, 'pg_type'::regclass, NULL, NULL, false, false
  FROM pg_catalog.pg_type t JOIN own n ON n.oid = t.typnamespace
  WHERE t.typtype IN ('e','d','r') OR (t.typtype = 'c' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = t.typrelid AND k.relkind = 'c'))
  UNION ALL
  SELECT 'extension', n.nspname, e.extname || ' ' || e.extversion, e.oid, 'pg_extension'::regclass, NULL, NULL, false, false
  FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE $2::text IS NULL OR n.nspname = $2
  UNION ALL
  SELECT 'schema', nspname, nspname, oid, 'pg_namespace'::regclass, NULL, NULL, false, false FROM own),
page AS (
  SELECT * FROM objects o
  WHERE kind = ANY($1::text[]) AND ($3::text IS NULL OR strpos(lower(name), lower($3)) > 0)
    AND ($4::text IS NULL OR (schema COLLATE "C", kind COLLATE "C", name COLLATE "C") > ($4 COLLATE "C", $5::text COLLATE "C", $6::text COLLATE "C"))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass)
  ORDER BY schema COLLATE "C", kind COLLATE "C", name COLLATE "C" LIMIT $7),
own_pages AS (
  SELECT c.oid, c.relpages + coalesce(t.relpages, 0) + coalesce(i.pages, 0) AS pages, c.reltuples < 0 AS is_unknown
  FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid AND c.reltoastrelid <> 0
    LEFT JOIN (SELECT x.indrelid, sum(k.relpages) AS pages FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class k ON k.oid = x.indexrelid GROUP BY 1) i
      ON i.indrelid = c.oid
  WHERE c.relkind IN ('r', 'm'))
SELECT p.kind, p.schema, p.name, p.rows::float8 AS rows,
  (CASE WHEN p.relkind = 'p' THEN (SELECT sum(pg_catalog.pg_total_relation_size(t.relid)) FROM pg_catalog.pg_partition_tree(p.oid) t)
    WHEN s.is_unknown THEN pg_catalog.pg_total_relation_size(p.oid)
    ELSE s.pages * pg_catalog.current_setting('block_size')::int END)::float8 AS bytes,
  CASE WHEN p.is_partition THEN (SELECT inhparent::regclass::text FROM pg_catalog.pg_inherits WHERE inhrelid = p.oid) END AS partition_of,
  p.rls, d.description AS comment
FROM page p LEFT JOIN own_pages s ON s.oid = p.oid
  LEFT JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.classoid = p.class AND d.objsubid = 0
ORDER BY p.schema COLLATE "C", p.kind COLLATE "C", p.name COLLATE "C"`;

interface ObjectRow {
  kind: Kind;
  schema: string;
  name: string;
  rows: number | null;
  bytes: number | null;
  partition_of: string | null;
  rls: boolean;
  comment: string | null;
}

/** What is in a database, sorted by schema, kind and name; at most `limit` of it, and whether there is more. */
export async function listObjects(
  database: Database,
  { kinds, schema, query, after, limit }: ObjectFilter,
  work: Work,
): Promise<{ objects: ListedObject[]; more: boolean }> {
  const rows = await database.work(work, ({ link }) =>
    link.rows<ObjectRow>(OBJECTS, [
      [...kinds],
      schema ?? null,
      query ?? null,
      ...(after ?? [null, null, null]),
      limit + 1,
    ]),
  );
  return { objects: rows.slice(0, limit).map(shown), more: rows.length > limit };
}

function shown(row: ObjectRow): ListedObject {
  return {
    kind: row.kind,
    schema: row.schema,
    name: row.name,
    ...(row.rows === null ? {} : { rows: Math.round(row.rows) }),
    ...(row.bytes === null ? {} : { bytes: row.bytes }),
    ...(row.partition_of === null ? {} : { partition_of: row.partition_of }),
    ...(row.rls ? { row_security: true as const } : {}),
    ...(row.comment === null ? {} : { comment: row.comment }),
  };
}

/** Names of schemas or of readable relations that begin with `prefix`, for completion; sorted. */
export async function namesBeginning(
  database: Database,
  what: { readonly schema: string | undefined } | "schemas",
  prefix: string,
  work: Work,
): Promise<string[]> {
  const statement =
    what === "schemas"
      ? `SELECT nspname::text AS name FROM pg_catalog.pg_namespace
         WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' AND starts_with(lower(nspname), lower($1))
         ORDER BY nspname LIMIT 100`
      : `SELECT DISTINCT c.relname::text AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ${SYSTEM}
           AND ($2::text IS NULL OR n.nspname = $2) AND starts_with(lower(c.relname), lower($1)) ORDER BY 1 LIMIT 100`;
  const values = what === "schemas" ? [prefix] : [prefix, what.schema ?? null];
  const rows = await database.work(work, ({ link }) => link.rows<{ name: string }>(statement, values));
  return rows.map(({ name }) => name);
}

const PAGE = 100;
const READABLE: readonly Kind[] = ["foreign_table", "materialized_view", "table", "view"];

/** Tables and views in pages, for a list of resources; a cursor is the last one's schema, kind and name. */
export async function tablePage(
  database: Database,
  cursor: string | undefined,
  work: Work,
): Promise<{ tables: ListedObject[]; next: string | undefined }> {
  const cursors = cursorsOf("tables", [database.name], z.tuple([z.string(), z.string(), z.string()]));
  const { objects, more } = await listObjects(
    database,
    { kinds: READABLE, schema: undefined, query: undefined, after: cursors.decode(cursor), limit: PAGE },
    work,
  );
  const last = objects.at(-1);
  return {
    tables: objects,
    next: more && last !== undefined ? cursors.encode([last.schema, last.kind, last.name]) : undefined,
  };
}
