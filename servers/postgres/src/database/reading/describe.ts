import { clip, cursorsOf, fitting, nearest, ToolError } from "@refmcp/boundary/answer";
import { didYouMean } from "@refmcp/sql";
import { pageOf, summarized, type TableFacts, type TablesAsked } from "@refmcp/sql/tools";
import {
  type ColumnValues,
  describedValues,
  looksConfidential,
  MAX_VALUE_CHARS,
  MAX_VALUES,
} from "@refmcp/sql/values";
import * as z from "zod";
import type { Database, Session, Work } from "../connection/database.ts";

/** Everything about one relation, as JSON from one query, without empty members. */
export interface TableDescription<Column = { name: string; type: string }> {
  readonly schema: string;
  readonly table: string;
  readonly type: string;
  readonly columns: Column[];
  readonly primary_key?: readonly string[];
  readonly [fact: string]: unknown;
}

/** What a query returns about a column in addition to what is shown: its bare name, and its values. */
type Raw<Column> = Column & { readonly raw: string; readonly values: ColumnValues };

/** The lists of a description, least important first. */
const LISTS = [
  "partitions",
  "triggers",
  "view_definition",
  "referenced_by",
  "constraints",
  "indexes",
  "partition_foreign_keys",
  "foreign_keys",
];

/** Fits a description into a budget: cuts the least important lists, and counts what is missing in `omitted`. */
export function boundedDescription(
  description: TableDescription,
  budget: number,
): TableDescription {
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

/** What is known about the values of a column that may be shown. */
function shownValues(name: string, { seen, ...values }: ColumnValues): ColumnValues {
  return seen === undefined || looksConfidential(name) ? values : { ...values, seen };
}

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

const DESCRIBE = `WITH page AS (SELECT c.*, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::oid),
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

/** The name behind an identifier, quoted or not. */
export const unquoted = (text: string) =>
  /^"(?:[^"]|"")+"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;

/** Ways to read `name`, `schema.name`, or both given separately, quoted or not: pairs of name and schema. */
function splitName({
  table,
  schema,
}: TableName): (readonly [name: string, schema: string | null])[] {
  const [, before, after = ""] = /^("(?:[^"]|"")+"|[^".]+)\.(.+)$/s.exec(table) ?? [];
  const bare = [[table, schema ?? null] as const];
  if (before !== undefined && schema === undefined) bare.push([after, before]);
  return [...bare, ...bare.map(([name, one]) => [unquoted(name), one && unquoted(one)] as const)];
}

/**
 * Finds a table or view: in the given schema, otherwise on the search path first.
 *
 * @param kinds values of `relkind`
 * @throws ToolError `not_found` with similar names.
 */
export async function findTable(
  session: Session,
  wanted: TableName,
  kinds = "'r','p','v','m','f'",
  hint = "Call pg_list_objects for the names, which are case-sensitive here.",
): Promise<{ oid: string; alsoIn: string | undefined }> {
  const from = `FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN (${kinds})`;
  for (const named of splitName(wanted)) {
    const [found, other] = await session.rows<{ oid: string; schema: string }>(
      `SELECT c.oid::int8::text AS oid, n.nspname::text AS schema ${from} AND c.relname = $1 AND ($2::text IS NULL OR n.nspname = $2)
       ORDER BY NOT pg_catalog.pg_table_is_visible(c.oid), n.nspname LIMIT 2`,
      named,
    );
    if (found !== undefined) return { oid: found.oid, alsoIn: other?.schema };
  }
  const rows = await session.rows<{ name: string; bare: string }>(
    `SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) AS name, c.relname::text AS bare ${from}
       AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1 LIMIT 20000`,
  );
  const { table, schema } = wanted;
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
    type Described = TableDescription<Raw<{ name: string; type: string }>>;
    const [row] = await session.rows<{ description: Described }>(DESCRIBE, [oid]);
    if (row === undefined)
      throw new ToolError("conflict", "The table was dropped at the same time.");
    const { description } = row;
    const columns = description.columns.map(({ name, raw, type, values, ...facts }) => ({
      name,
      type,
      ...describedValues(shownValues(raw, values)),
      ...facts,
    }));
    return { ...description, columns, ...(alsoIn === undefined ? {} : { also_in: [alsoIn] }) };
  });
}

const TABLES_AT_ONCE = 250;

/** Relations with columns and keys in one query, without partitions and the objects of extensions. */
const TABLES = `
WITH page AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples, c.relchecks, ${ROWS} AS rows FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r','p','v','m','f') AND NOT c.relispartition
    AND CASE WHEN $1::text IS NULL THEN n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname NOT LIKE 'pg\\_temp\\_%' ELSE n.nspname = $1 END
    AND ($2::text IS NULL OR pg_catalog.strpos(pg_catalog.lower(c.relname), pg_catalog.lower($2)) > 0)
    AND ($3::text IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND pg_catalog.strpos(pg_catalog.lower(a.attname), pg_catalog.lower($3)) > 0))
    AND ($4::text IS NULL OR (n.nspname::text COLLATE "C", c.relname::text COLLATE "C") > ($4 COLLATE "C", $5::text COLLATE "C"))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C" LIMIT $6),
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
    'primaryKey', CASE WHEN k.is_primary THEN true END, 'references', k.target,
    'default', CASE WHEN $7 THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END,
    'comment', CASE WHEN $7 THEN pg_catalog.col_description(a.attrelid, a.attnum) END)) ORDER BY a.attnum) AS list
  FROM page p JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped ${VALUES_JOINS}
    LEFT JOIN keys k ON k.oid = a.attrelid AND k.attname = a.attname
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum GROUP BY 1)
SELECT p.nspname::text AS schema, p.relname::text AS name, pg_catalog.quote_ident(p.nspname) AS "writtenSchema", pg_catalog.quote_ident(p.relname) AS written,
  coalesce(c.list, '[]') AS columns, pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'type', CASE p.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table' ELSE 'table' END,
    'rows', pg_catalog.round(p.rows), 'comment', CASE WHEN $7 THEN pg_catalog.obj_description(p.oid, 'pg_class') END,
    'indexes', CASE WHEN $7 THEN ARRAY(SELECT pg_catalog.pg_get_indexdef(i.indexrelid) FROM pg_catalog.pg_index i
      WHERE i.indrelid = p.oid AND NOT i.indisprimary ORDER BY i.indexrelid) END)) AS facts
FROM page p LEFT JOIN columns c ON c.attrelid = p.oid ORDER BY p.nspname COLLATE "C", p.relname COLLATE "C"`;

interface FoundTable
  extends Readonly<Record<"schema" | "name" | "writtenSchema" | "written", string>> {
  readonly columns: readonly Raw<TableFacts["columns"][number]>[];
  readonly facts: Omit<TableFacts, "table" | "columns">;
}

/** Matching tables and views with their columns and keys, as many as fit in the answer. */
export async function describeTables(
  database: Database,
  given: TablesAsked & { readonly schema?: string | undefined },
  work: Work,
) {
  const { query, schema, column, detail, limit, cursor, budget } = given;
  const asked = [database.name, query, schema, column, detail];
  const cursors = cursorsOf("pg_describe_tables", asked, z.tuple([z.string(), z.string()]));
  let after: readonly (string | null)[] = cursors.decode(cursor) ?? [null, null];
  const named = [schema, query, column].map((one) => (one === undefined ? null : unquoted(one)));
  const rows: FoundTable[] = [];
  const tables: ReturnType<typeof summarized>[] = [];
  const part = column === undefined ? undefined : unquoted(column);
  const shown = ({ schema: own, writtenSchema, written, columns, facts }: FoundTable) => {
    const table =
      own === "public" && schema === undefined ? written : `${writtenSchema}.${written}`;
    const known = columns.map(({ raw, values, ...one }) => ({
      ...one,
      ...shownValues(raw, values),
    }));
    return summarized({ ...facts, table, columns: known }, { column: part, detail });
  };
  const space = { limit, budget: budget - 300 };
  let isMore = true;
  // More tables are only read if there is space for them.
  while (isMore && tables.length <= limit && fitting(tables, space.budget) === tables.length) {
    const count = Math.min(limit + 1 - tables.length, TABLES_AT_ONCE);
    const values = [...named, ...after, count, detail === "full"];
    const found = await database.rows<FoundTable & Record<string, unknown>>(work, TABLES, values);
    rows.push(...found);
    tables.push(...found.map(shown));
    const last = found.at(-1);
    isMore = last !== undefined && found.length === count;
    after = [last?.schema ?? null, last?.name ?? null];
  }
  const { page, ...next } = pageOf(tables, { ...space, isMore }, (last) =>
    cursors.encode([rows[last]?.schema ?? "", rows[last]?.name ?? ""]),
  );
  return { tables: page, ...next };
}
