import type { Client, QueryResultRow } from "pg";
import { PortalQuery } from "./portal.ts";
import { arrayText } from "./values.ts";

/** One of our own queries. */
export interface OwnQuery {
  /** With the schema of every relation and function. */
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Our own statements that run first, in the same round trip. */
  readonly before?: readonly string[];
  /** Whether its rows show no names of the database. */
  readonly isNameless?: boolean;
}

/** Resolves names in pg_catalog only. @param isLocal for this transaction, not the session */
export const resolving = (
  isLocal: boolean,
) => `SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', ${isLocal})
  FROM pg_catalog.set_config('refmcp.search_path', pg_catalog.current_setting('search_path'), ${isLocal})`;
const OPENING = resolving(true);
const BOUND = [
  "SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('refmcp.search_path'), true)",
];

/**
 * Runs one of our own queries, which takes one round trip and calls nothing that another role created (CVE-2018-1058): a
 * role that may create functions or operators in a schema of the search path could define one that matches the types of
 * the arguments better than PostgreSQL's own, and it would run with our role's privileges. The names in the statement are
 * therefore resolved with only pg_catalog in the path. It runs with the path that was set before, since `regclass`,
 * `pg_get_viewdef` and others find and show names by it.
 *
 * @param prepared names of prepared statements by their text, in a session whose own path is that of pg_catalog
 */
export async function catalogRows<Row extends QueryResultRow>(
  client: Client,
  { text, values = [], before = [], isNameless = false }: OwnQuery,
  prepared?: Map<string, string>,
): Promise<Row[]> {
  const params = values.map((value) =>
    Array.isArray(value) ? arrayText(value) : value === null ? null : String(value),
  );
  const opening = prepared === undefined ? [...before, OPENING] : before;
  const bound = prepared !== undefined && isNameless ? [] : BOUND;
  const query = { text, params, portal: "refmcp_catalog", prepared, before: opening, bound };
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
