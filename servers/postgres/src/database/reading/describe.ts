import { clip, cursorsOf, fitting, nearest, ToolError } from "@refmcp/boundary/answer";
import { didYouMean } from "@refmcp/sql";
import { pageOf, summarized, type TableFacts, type TablesAsked } from "@refmcp/sql/tools";
import * as z from "zod";
import type { Database, Session, Work } from "../connection/database.ts";

/** Everything about one relation, as JSON from one query, without empty members. */
export interface TableDescription {
  readonly schema: string;
  readonly table: string;
  readonly type: string;
  readonly columns: { name: string; type: string }[];
  readonly [fact: string]: unknown;
}

/** The lists of a description, least important first. */
const LISTS = [
  "partitions",
  "triggers",
  "view_definition",
  "referenced_by",
  "constraints",
  "indexes",
  "foreign_keys",
];

/** Fits a description into a budget: cuts the least important lists, and counts what is missing in `omitted`. */
export function boundedDescription(description: TableDescription, budget: number): TableDescription {
  let shown = description;
  const omitted: Record<string, number> = {};
  const size = () => JSON.stringify(shown).length + JSON.stringify(omitted).length + 100;
  for (const key of [...LISTS, "columns"]) {
    const list: unknown = shown[key];
    const over = size() - budget;
    if (over <= 0) break;
    if (typeof list === "string") {
      const kept = Math.max(500, list.length - over - 20);
      if (kept >= list.length) continue;
      omitted[`${key}_chars`] = list.length - kept;
      shown = { ...shown, [key]: clip(list, kept) };
    } else if (Array.isArray(list)) {
      const space = Math.max(0, JSON.stringify(list).length - over - 30);
      const kept = Math.min(list.length, Math.max(3, fitting(list, space)));
      if (kept === list.length) continue;
      omitted[key] = list.length - kept;
      shown = { ...shown, [key]: list.slice(0, kept) };
    }
  }
  return Object.keys(omitted).length === 0 ? shown : { ...shown, omitted };
}

const COLUMNS = `SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'nullable', CASE WHEN a.attnotnull THEN false END,
    'default', CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'generated', CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'identity', CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END,
    'comment', pg_catalog.col_description(a.attrelid, a.attnum))) ORDER BY a.attnum)
  FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;

const constraints = (
  type: string,
  side: "conrelid" | "confrelid",
) => `SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', k.conname, 'definition', pg_catalog.pg_get_constraintdef(k.oid),
    'table', CASE WHEN '${side}' = 'confrelid' THEN k.conrelid::regclass::text END,
    'validated', CASE WHEN NOT k.convalidated THEN false END)) ORDER BY k.conrelid::regclass::text, k.conname)
  FROM pg_catalog.pg_constraint k WHERE k.${side} = c.oid AND k.contype ${type} AND k.conparentid = 0`;

const DESCRIBE = `SELECT pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
  'schema', n.nspname, 'table', c.relname,
  'type', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned_table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' ELSE 'foreign_table' END,
  'comment', pg_catalog.obj_description(c.oid, 'pg_class'),
  'owner', pg_catalog.pg_get_userbyid(c.relowner),
  'estimated_rows', CASE WHEN c.reltuples >= 0 AND c.relkind IN ('r','m','p','f') THEN c.reltuples::float8 END,
  'bytes', CASE WHEN c.relkind IN ('r','m') THEN pg_catalog.pg_total_relation_size(c.oid) END,
  'columns', coalesce((${COLUMNS}), '[]'::json),
  'primary_key', (SELECT pg_catalog.json_agg(a.attname ORDER BY pg_catalog.array_position(i.indkey::int2[], a.attnum)) FROM pg_catalog.pg_index i
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = c.oid AND i.indisprimary),
  'foreign_keys', (${constraints("= 'f'", "conrelid")}),
  'referenced_by', (${constraints("= 'f'", "confrelid")}),
  'constraints', (${constraints("IN ('u','c','x')", "conrelid")}),
  'indexes', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', x.relname, 'definition', pg_catalog.pg_get_indexdef(i.indexrelid),
      'bytes', CASE WHEN x.relkind = 'i' THEN pg_catalog.pg_relation_size(i.indexrelid) END,
      'valid', CASE WHEN NOT i.indisvalid THEN false END)) ORDER BY x.relname)
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid),
  'triggers', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', t.tgname, 'definition', pg_catalog.pg_get_triggerdef(t.oid),
      'enabled', CASE WHEN t.tgenabled = 'D' THEN false END)) ORDER BY t.tgname)
     FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
  'row_security', CASE WHEN c.relrowsecurity THEN pg_catalog.json_strip_nulls(pg_catalog.json_build_object('forced', CASE WHEN c.relforcerowsecurity THEN true END,
     'policies', (SELECT pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', p.polname,
        'command', CASE p.polcmd WHEN 'r' THEN 'select' WHEN 'a' THEN 'insert' WHEN 'w' THEN 'update' WHEN 'd' THEN 'delete' ELSE 'all' END,
        'roles', (SELECT pg_catalog.json_agg(CASE WHEN r = 0 THEN 'public' ELSE pg_catalog.pg_get_userbyid(r)::text END) FROM pg_catalog.unnest(p.polroles) r),
        'permissive', CASE WHEN NOT p.polpermissive THEN false END,
        'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid))) ORDER BY p.polname)
       FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid))) END,
  'partition_key', CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END,
  'partition_of', CASE WHEN c.relispartition THEN (SELECT i.inhparent::regclass::text || ' ' || pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid) END,
  'partitions', CASE WHEN c.relkind = 'p' THEN (SELECT pg_catalog.json_agg(x.relname || ' ' || pg_catalog.pg_get_expr(x.relpartbound, x.oid) ORDER BY x.relname)
     FROM (SELECT k.relname, k.relpartbound, k.oid FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid WHERE i.inhparent = c.oid ORDER BY k.relname LIMIT 100) x) END,
  'view_definition', CASE WHEN c.relkind IN ('v','m') THEN pg_catalog.pg_get_viewdef(c.oid, true) END)) AS description
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::oid`;

/** Ways to read `name`, `schema.name`, or both given separately, quoted or not. */
function splitName(
  table: string,
  schema: string | undefined,
): { name: string; schema: string | undefined }[] {
  const dot = table.indexOf(".");
  const parts =
    dot > 0 && schema === undefined ? [{ name: table.slice(dot + 1), schema: table.slice(0, dot) }] : [];
  const bare = [{ name: table, schema }, ...parts];
  const unquoted = (text: string) =>
    /^"(?:[^"]|"")+"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;
  return [
    ...bare,
    ...bare.map((one) => ({
      name: unquoted(one.name),
      schema: one.schema === undefined ? undefined : unquoted(one.schema),
    })),
  ];
}

/**
 * Finds a table or view: in the given schema, otherwise on the search path first.
 *
 * @param kinds values of `relkind`
 * @throws ToolError `not_found` with similar names.
 */
export async function findTable(
  session: Session,
  { table, schema }: TableName,
  kinds = "'r','p','v','m','f'",
  hint = "Call pg_list_objects for the names, which are case-sensitive here.",
): Promise<{ oid: string; alsoIn: string | undefined }> {
  const from = `FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN (${kinds})`;
  for (const one of splitName(table, schema)) {
    const [found, other] = await session.rows<{ oid: string; schema: string }>(
      `SELECT c.oid::int8::text AS oid, n.nspname::text AS schema ${from} AND c.relname = $1 AND ($2::text IS NULL OR n.nspname = $2)
       ORDER BY NOT pg_catalog.pg_table_is_visible(c.oid), n.nspname LIMIT 2`,
      [one.name, one.schema ?? null],
    );
    if (found !== undefined) return { oid: found.oid, alsoIn: other?.schema };
  }
  const rows = await session.rows<{ name: string; bare: string }>(
    `SELECT n.nspname || '.' || c.relname AS name, c.relname::text AS bare ${from}
       AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1 LIMIT 20000`,
  );
  const full = new Map(rows.map(({ name, bare }) => [bare, name]));
  const near = nearest(table.slice(table.indexOf(".") + 1), full.keys()).map(
    (bare) => full.get(bare) ?? bare,
  );
  const where = schema === undefined ? "" : ` in schema ${JSON.stringify(schema.slice(0, 63))}`;
  const message = `No table ${JSON.stringify(table.slice(0, 130))}${where}.${didYouMean(near)}`;
  throw new ToolError("not_found", message, { code: "42P01", hint });
}

export interface TableName {
  /** Name, or schema.name. */
  readonly table: string;
  readonly schema: string | undefined;
}

/**
 * Describes a table, view or foreign table: columns, keys in both directions, constraints, indexes, triggers, row security,
 * partitions, size, comments.
 *
 * @throws ToolError `not_found` with similar names.
 */
export async function describeTable(
  database: Database,
  table: string,
  schema: string | undefined,
  work: Work,
): Promise<TableDescription> {
  return await database.work(work, async (session) => {
    const { oid, alsoIn } = await findTable(session, { table, schema });
    const [row] = await session.rows<{ description: TableDescription }>(DESCRIBE, [oid]);
    if (row === undefined) throw new ToolError("conflict", "The table was dropped at the same time.");
    return alsoIn === undefined ? row.description : { ...row.description, also_in: [alsoIn] };
  });
}

/** Relations with columns and keys in one query, without partitions and the objects of extensions. */
const TABLES = `
WITH page AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r','p','v','m','f') AND NOT c.relispartition
    AND CASE WHEN $1::text IS NULL THEN n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname NOT LIKE 'pg\\_temp\\_%' ELSE n.nspname = $1 END
    AND ($2::text IS NULL OR pg_catalog.strpos(pg_catalog.lower(c.relname), pg_catalog.lower($2)) > 0)
    AND ($3::text IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND pg_catalog.strpos(pg_catalog.lower(a.attname), pg_catalog.lower($3)) > 0))
    AND ($4::text IS NULL OR (n.nspname::text COLLATE "C", c.relname::text COLLATE "C") > ($4 COLLATE "C", $5::text COLLATE "C"))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C" LIMIT $6),
keys AS (
  SELECT k.conrelid, u.attnum, pg_catalog.bool_or(k.contype = 'p') AS is_primary,
    pg_catalog.min(CASE WHEN k.contype = 'f' THEN k.confrelid::regclass::text || '.' || f.attname END) AS target
  FROM pg_catalog.pg_constraint k JOIN page p ON p.oid = k.conrelid, pg_catalog.unnest(k.conkey) WITH ORDINALITY u (attnum, place)
    LEFT JOIN LATERAL (SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = k.confrelid AND a.attnum = k.confkey[u.place]) f ON true
  WHERE k.contype IN ('p', 'f') GROUP BY 1, 2),
columns AS (
  SELECT a.attrelid, pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'notNull', CASE WHEN a.attnotnull THEN true END,
    'primaryKey', CASE WHEN k.is_primary THEN true END, 'references', k.target,
    'default', CASE WHEN $7 THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'comment', CASE WHEN $7 THEN pg_catalog.col_description(a.attrelid, a.attnum) END)) ORDER BY a.attnum) AS list
  FROM page p JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN keys k ON k.conrelid = a.attrelid AND k.attnum = a.attnum
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum GROUP BY 1)
SELECT p.nspname::text AS schema, p.relname::text AS name,
  CASE p.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table' ELSE 'table' END AS type,
  CASE WHEN p.reltuples >= 0 AND p.relkind <> 'v' THEN p.reltuples::float8 END AS rows,
  CASE WHEN $7 THEN pg_catalog.obj_description(p.oid, 'pg_class') END AS comment, coalesce(c.list, '[]') AS columns,
  CASE WHEN $7 THEN ARRAY(SELECT pg_catalog.pg_get_indexdef(i.indexrelid) FROM pg_catalog.pg_index i
    WHERE i.indrelid = p.oid AND NOT i.indisprimary ORDER BY i.indexrelid) ELSE '{}' END AS indexes
FROM page p LEFT JOIN columns c ON c.attrelid = p.oid ORDER BY p.nspname COLLATE "C", p.relname COLLATE "C"`;

type FoundTable = Omit<TableFacts, "table" | "rows" | "comment"> &
  Readonly<{ schema: string; name: string; rows: number | null; comment: string | null }>;

/** Matching tables and views with their columns and keys, as many as fit in the answer. */
export async function describeTables(
  database: Database,
  given: TablesAsked & { readonly schema?: string | undefined },
  work: Work,
) {
  const { query, schema, column, detail, limit, cursor, budget } = given;
  const asked = [database.name, query, schema, column, detail];
  const cursors = cursorsOf("pg_describe_tables", asked, z.tuple([z.string(), z.string()]));
  const after = cursors.decode(cursor) ?? [null, null];
  const named = [schema, query, column].map((one) => one ?? null);
  const values = [...named, ...after, limit + 1, detail === "full"];
  const rows = await database.rows<FoundTable>(work, TABLES, values);
  const tables = rows.map(({ schema: own, name, rows: count, comment, ...rest }) =>
    summarized(
      {
        ...rest,
        table: own === "public" && schema === undefined ? name : `${own}.${name}`,
        rows: count === null ? undefined : Math.round(count),
        comment: comment ?? undefined,
      },
      { column, detail },
    ),
  );
  const { page, ...next } = pageOf(tables, { limit, budget: budget - 300 }, (last) =>
    cursors.encode([rows[last]?.schema ?? "", rows[last]?.name ?? ""]),
  );
  return { tables: page, ...next };
}
