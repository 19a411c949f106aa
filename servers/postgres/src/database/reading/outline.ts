import { cursorsOf } from "@refmcp/boundary/answer";
import { type OutlineOptions, type OutlineTable, outlined } from "@refmcp/sql";
import { pageOf } from "@refmcp/sql/tools";
import * as z from "zod";
import type { Database, Work } from "../connection/database.ts";

export interface Outlining extends OutlineOptions {
  /** Part of a table's name. */
  readonly query?: string | undefined;
  readonly schema?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/** Relations with columns and keys in one query, without partitions and the objects of extensions. */
const OUTLINE = `
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

interface OutlineRow extends Omit<OutlineTable, "table" | "rows" | "comment"> {
  readonly schema: string;
  readonly name: string;
  readonly rows: number | null;
  readonly comment: string | null;
}

/** Matching tables and views with their columns and keys, as many as fit in the answer. */
export async function outline(database: Database, outlining: Outlining, work: Work) {
  const { query, schema, column, detail, limit, cursor, budget } = outlining;
  const asked = [database.name, query, schema, column, detail];
  const cursors = cursorsOf("pg_describe_tables", asked, z.tuple([z.string(), z.string()]));
  const after = cursors.decode(cursor) ?? [null, null];
  const named = [schema, query, column].map((one) => one ?? null);
  const values = [...named, ...after, limit + 1, detail === "full"];
  const rows = await database.work(work, ({ link }) => link.rows<OutlineRow>(OUTLINE, values));
  const tables = rows.map(({ schema: own, name, rows: count, comment, ...rest }) =>
    outlined(
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
