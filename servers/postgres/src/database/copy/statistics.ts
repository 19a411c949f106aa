import type { Session } from "../connection/database.ts";
import type { Masks } from "../gate/masks.ts";

/** What the source's catalog says about the size of a table or index. */
export interface Size {
  readonly schema: string;
  readonly relation: string;
  /** `schema.relation`, quoted. */
  readonly name: string;
  readonly pages: number;
  /** Of the table with its indexes and long values. */
  readonly bytes: number;
  /** -1: never analyzed. */
  readonly rows: number;
  readonly visible: number;
}

/** Relations and columns with statistics to copy: those of the largest tables. */
const MAX_RELATIONS = 20_000;
const MAX_COLUMNS = 5_000;

const SPACES = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";
const PAGES =
  "CASE WHEN c.relpages > 0 THEN c.relpages ELSE pg_catalog.pg_relation_size(c.oid) / 8192 END";

const SIZES = `SELECT n.nspname AS schema, c.relname AS relation, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, (${PAGES})::float8 AS pages,
    8192 * (${PAGES} + coalesce(t.relpages, 0) + coalesce(x.pages, 0))::float8 AS bytes, c.reltuples::float8 AS rows, c.relallvisible AS visible
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND ${SPACES} LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
  LEFT JOIN (SELECT i.indrelid, pg_catalog.sum(o.relpages) AS pages FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid GROUP BY 1) x ON x.indrelid = c.oid
  WHERE c.relkind IN ('r', 'm', 'i')
  ORDER BY c.relpages DESC, 3 LIMIT ${MAX_RELATIONS}`;

/** The arguments of pg_restore_attribute_stats that every version's pg_stats has, with their types. */
const STATISTICS = {
  null_frac: "real",
  avg_width: "integer",
  n_distinct: "real",
  most_common_vals: "text",
  most_common_freqs: "real[]",
  histogram_bounds: "text",
  correlation: "real",
  most_common_elems: "text",
  most_common_elem_freqs: "real[]",
  elem_count_histogram: "real[]",
};
const NAMES = Object.keys(STATISTICS);

interface Sampled {
  readonly schemaname: string;
  readonly tablename: string;
  readonly attname: string;
}

/** Only columns that the role can read are in pg_stats. */
const COLUMNS = `SELECT s.schemaname, s.tablename, s.attname, s.inherited, ${NAMES.map((name) => `s.${name}::text`).join(", ")}
  FROM pg_catalog.pg_stats s JOIN pg_catalog.pg_namespace n ON n.nspname = s.schemaname AND ${SPACES}
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.tablename ORDER BY c.relpages DESC, 1, 2, 3 LIMIT ${MAX_COLUMNS}`;

const RESTORE_SIZES = `SELECT pg_catalog.pg_restore_relation_stats('schemaname', s.schema, 'relname', s.relation, 'relpages', s.pages, 'reltuples', s.rows, 'relallvisible', s.visible)
  FROM pg_catalog.jsonb_to_recordset($1::jsonb) s(schema text, relation text, name text, pages int, rows real, visible int) WHERE pg_catalog.to_regclass(s.name) IS NOT NULL`;

const RESTORE_COLUMNS = `SELECT pg_catalog.pg_restore_attribute_stats('schemaname', s.schemaname, 'relname', s.tablename, 'attname', s.attname, 'inherited', s.inherited,
    ${Object.entries(STATISTICS)
      .map(([name, type]) => `'${name}', s.${name}::${type}`)
      .join(", ")})
  FROM pg_catalog.jsonb_to_recordset($1::jsonb) s(schemaname text, tablename text, attname text, inherited boolean, ${NAMES.map((name) => `${name} text`).join(", ")})
  JOIN pg_catalog.pg_attribute a ON a.attrelid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', s.schemaname, s.tablename)) AND a.attname = s.attname AND NOT a.attisdropped`;

/** What the planner of the source knows about its tables, as far as this role may see it, without masked columns. */
export async function statisticsOf(session: Pick<Session, "rows">, masks: Masks) {
  const isHidden = await masks.hidden(session);
  const sizes = await session.rows<Size & Record<string, unknown>>(SIZES);
  const all = await session.rows<Sampled & Record<string, unknown>>(COLUMNS);
  const columns = all.filter((one) => !isHidden(one.schemaname, one.tablename, one.attname));
  return { sizes, columns, isCut: sizes.length === MAX_RELATIONS || all.length === MAX_COLUMNS };
}
export type Statistics = Awaited<ReturnType<typeof statisticsOf>>;

/** Gives the same tables in the copy these statistics. @param maxPages larger relations get denser pages */
export async function restore(session: Session, { sizes, columns }: Statistics, maxPages: number) {
  const bounded = sizes.map((size) => ({ ...size, pages: Math.min(size.pages, maxPages) }));
  await session.rows(RESTORE_SIZES, [JSON.stringify(bounded)]);
  for (let at = 0; at < columns.length; at += 500)
    await session.rows(RESTORE_COLUMNS, [JSON.stringify(columns.slice(at, at + 500))]);
}
