import type { Client, QueryResultRow } from "pg";
import { PortalQuery, type Statement } from "./portal.ts";
import { arrayText } from "./values.ts";

/** One of our own queries. */
export interface OwnQuery {
  /** With the schema of every relation and function. */
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Our own statements that run first, in the same round trip. */
  readonly before?: readonly string[];
}

const OPENING = `SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)
  FROM pg_catalog.set_config('refmcp.search_path', pg_catalog.current_setting('search_path'), true)`;
const BOUND = [
  "SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('refmcp.search_path'), true)",
];
const SHOWING = { before: [OPENING], bound: BOUND };
/** Runs a query that judges statements with pg_catalog's path, too: `pg_get_viewdef` uses operators of the path. */
export const JUDGING = { before: [OPENING], after: BOUND };

/**
 * Runs one of our own queries, which takes one round trip and calls nothing that another role created (CVE-2018-1058): a
 * role that may create functions or operators in a schema of the search path could define one that matches the types of
 * the arguments better than PostgreSQL's own, and it would run with our role's privileges. The names in the statement are
 * therefore resolved with only pg_catalog in the path. It runs with the path that was set before, since `regclass`,
 * `pg_get_viewdef` and others find and show names by it.
 *
 * @param path what sets it: `JUDGING`, or nothing but `prepared` in a session whose own path is that of pg_catalog
 */
export async function catalogRows<Row extends QueryResultRow>(
  client: Client,
  { text, values = [], before = [] }: OwnQuery,
  path: Pick<Statement, "before" | "bound" | "after" | "prepared"> = SHOWING,
): Promise<Row[]> {
  const params = values.map((value) =>
    Array.isArray(value) ? arrayText(value) : value === null ? null : String(value),
  );
  const all = [...before, ...(path.before ?? [])];
  const query = { text, params, portal: "refmcp_catalog", ...path, before: all };
  const caps = { chars: Number.POSITIVE_INFINITY, toEnd: true };
  const { fields, rows } = await new PortalQuery(query, caps).run(client);
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: client.getTypeParser(dataTypeID),
  }));
  return rows.map((row) => {
    const entries = columns.map(({ name, parse }, at) => [
      name,
      row[at] == null ? null : parse(row[at]),
    ]);
    return Object.fromEntries(entries);
  });
}
