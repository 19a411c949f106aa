import type { Session } from "../driver/sessions.ts";

/** A scan of a whole table with a filter. */
export interface Scan {
  readonly table: string;
  readonly filter: string;
}

/** An index for each column in a filter, and the schema of hypopg: no row without that extension. */
const CANDIDATES = `
  SELECT DISTINCT pg_catalog.quote_ident(n.nspname) AS schema,
    pg_catalog.format('CREATE INDEX ON %s (%I)', c.oid::pg_catalog.regclass, a.attname) AS statement
  FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace AND e.extname = 'hypopg'
  CROSS JOIN ROWS FROM (pg_catalog.unnest($1::name[]), pg_catalog.unnest($2::text[])) s (relation, filter)
  JOIN pg_catalog.pg_class c ON c.relname = s.relation AND c.relkind = 'r'
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    AND pg_catalog.strpos(s.filter, pg_catalog.quote_ident(a.attname)) > 0
  ORDER BY 2 LIMIT 10`;

/**
 * The indexes that PostgreSQL would use for these scans. hypopg pretends that they exist, in this session only.
 *
 * @param indexesUsed plans again, and returns the names of the indexes in the plan
 */
export async function missingIndexes(
  session: Session,
  scans: readonly Scan[],
  indexesUsed: () => Promise<ReadonlySet<string>>,
): Promise<string[]> {
  if (scans.length === 0) return [];
  const lists = [scans.map(({ table }) => table), scans.map(({ filter }) => filter)];
  const rows = await session.rows<{ schema: string; statement: string }>(CANDIDATES, lists);
  const [candidate] = rows;
  if (candidate === undefined) return [];
  const { schema } = candidate;
  const create = `SELECT indexname::text AS name FROM ${schema}.hypopg_create_index($1)`;
  const pretended = new Map<string | undefined, string>();
  try {
    for (const { statement } of rows) {
      const [index] = await session.rows<{ name: string }>(create, [statement]);
      pretended.set(index?.name, statement);
    }
    const used = await indexesUsed();
    return [...pretended].flatMap(([name = "", statement]) => (used.has(name) ? [statement] : []));
  } finally {
    await session.rows(`SELECT ${schema}.hypopg_reset()`);
  }
}
