import { nearest, ToolError } from "@refmcp/boundary/answer";
import { suggesting } from "@refmcp/sql";
import type { Database, Work } from "../connection/database.ts";

/** PostgreSQL's messages about missing objects, and where to look up similar names. */
const MISSING: readonly { code: string; pattern: RegExp; names: string }[] = [
  {
    code: "42P01",
    pattern: /relation "(?:[^"]*\.)?([^".]+)" does not exist/,
    names: `SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::text ELSE n.nspname || '.' || c.relname END AS name, c.relname::text AS bare
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ('pg_toast') LIMIT 20000`,
  },
  {
    code: "42703",
    pattern: /column "?(?:[^".]+\.)?([^".]+?)"? (?:of relation "[^"]*" )?does not exist/,
    names: `SELECT DISTINCT a.attname::text AS name, a.attname::text AS bare
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','v','m','f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND pg_catalog.strpos(pg_catalog.lower($1), pg_catalog.lower(c.relname)) > 0 LIMIT 5000`,
  },
  {
    code: "42883",
    pattern: /function (?:[\w$]+\.)?([\w$]+)\(/,
    names: `SELECT DISTINCT proname::text AS name, proname::text AS bare FROM pg_catalog.pg_proc LIMIT 10000`,
  },
  {
    code: "3F000",
    pattern: /schema "([^"]+)" does not exist/,
    names: `SELECT nspname::text AS name, nspname::text AS bare FROM pg_catalog.pg_namespace LIMIT 5000`,
  },
];

/**
 * Waits for an answer. An error about a missing object gets similar names.
 *
 * @param sql the statement: columns are those of relations that it names
 */
export async function withNearNames<Answer>(
  answer: Promise<Answer>,
  database: Database,
  sql: string,
  work: Work,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw await nearNames(error, database, sql, work);
  }
}

async function nearNames(error: unknown, database: Database, sql: string, work: Work): Promise<unknown> {
  if (!(error instanceof ToolError) || error.kind !== "not_found") return error;
  const missing = MISSING.find(({ code }) => code === error.code);
  const wanted = missing?.pattern.exec(error.message)?.[1];
  if (missing === undefined || wanted === undefined || error.message.includes("Did you mean")) return error;
  // PostgreSQL's own hint is better than similar names.
  if (error.hint?.includes("Perhaps you meant") === true) return error;
  const values = missing.names.includes("$1") ? [sql] : [];
  const rows = await database
    .work(work, (session) => session.rows<{ name: string; bare: string }>(missing.names, values))
    .catch(() => []);
  const shown = new Map(rows.map(({ name, bare }) => [bare, name]));
  const near = nearest(wanted, shown.keys()).map((bare) => shown.get(bare) ?? bare);
  return suggesting(error, near);
}
