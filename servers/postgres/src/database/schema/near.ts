import { nearest, ToolError } from "@refmcp/boundary/answer";
import { suggesting } from "@refmcp/sql";
import { valueList } from "@refmcp/sql/values";
import type { Sessions, Work } from "../driver/sessions.ts";
import { parseSql, treeOf, walk } from "../gate/syntax.ts";

interface Lookup {
  readonly code: string;
  /** Finds what is wrong in PostgreSQL's message: the last group. */
  readonly pattern: RegExp;
  /** Names as they must be written, and bare; $1 is the relations of the statement or the first group. */
  readonly names: string;
  /** Whether all of them help, and not only similar ones. */
  readonly isList?: true;
}

/** PostgreSQL's messages about missing objects and values, and where to look up similar ones. */
const LOOKUPS: readonly Lookup[] = [
  {
    code: "42P01",
    pattern: /relation "(?:[^"]*\.)?([^".]+)" does not exist/,
    names: `SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END || pg_catalog.quote_ident(c.relname) AS name, c.relname::text AS bare
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ('pg_toast') LIMIT 20000`,
  },
  {
    code: "42703",
    pattern: /column "?(?:[^".]+\.)?([^".]+?)"? (?:of relation "[^"]*" )?does not exist/,
    names: `SELECT DISTINCT pg_catalog.quote_ident(a.attname) AS name, a.attname::text AS bare
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','v','m','f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND pg_catalog.lower(c.relname) = ANY ($1::text[]) LIMIT 5000`,
  },
  {
    code: "42883",
    pattern: /function (?:[\w$]+\.)?([\w$]+)\(/,
    names: `SELECT DISTINCT pg_catalog.quote_ident(proname) AS name, proname::text AS bare FROM pg_catalog.pg_proc LIMIT 10000`,
  },
  {
    code: "3F000",
    pattern: /schema "([^"]+)" does not exist/,
    names: `SELECT pg_catalog.quote_ident(nspname) AS name, nspname::text AS bare FROM pg_catalog.pg_namespace LIMIT 5000`,
  },
  {
    code: "22P02",
    pattern: /invalid input value for enum (.+?): "(.*?)" \(SQLSTATE/s,
    names: `SELECT pg_catalog.quote_literal(e.enumlabel) AS name, e.enumlabel::text AS bare FROM pg_catalog.pg_enum e
      WHERE pg_catalog.format_type(e.enumtypid, NULL) = $1 ORDER BY e.enumsortorder LIMIT 1000`,
    isList: true,
  },
  {
    code: "23514",
    pattern: /(?:relation|domain) .+ violates check constraint "(.+?)" \(SQLSTATE/s,
    names: `SELECT pg_catalog.pg_get_constraintdef(k.oid, true) AS name, '' AS bare FROM pg_catalog.pg_constraint k
      WHERE k.contype = 'c' AND k.conname = $1 ORDER BY k.oid LIMIT 3`,
    isList: true,
  },
];

/** The relations that a statement names, in lower case; an alias is none of them. */
async function relationsIn(sql: string): Promise<string[]> {
  const names = new Set<string>();
  walk(treeOf(await parseSql(sql)), (key, value) => {
    if (key === "relname") names.add(String(value).toLowerCase());
  });
  return [...names];
}

const CAPITALS = "Names with capitals need double quotes.";

/**
 * Waits for an answer. An error about a missing object gets similar names, one about a value what is allowed.
 *
 * @param sql the statement: columns are those of relations that it names
 */
export const withNearNames = <Answer>(
  answer: Promise<Answer>,
  ...question: readonly [sessions: Sessions, sql: string, work: Work]
): Promise<Answer> =>
  answer.catch(async (error: unknown) => {
    throw await nearNames(error, ...question);
  });

async function nearNames(
  error: unknown,
  sessions: Sessions,
  sql: string,
  work: Work,
): Promise<unknown> {
  if (!(error instanceof ToolError) || error.code === undefined) return error;
  const { code, kind, message } = error;
  const lookup = LOOKUPS.find((entry) => entry.code === code);
  const match = lookup?.pattern.exec(message);
  const [wanted, first] = [match?.at(-1), match?.[1]];
  if (lookup === undefined || wanted === undefined || message.includes("Did you mean"))
    return error;
  const hinted = (hint: string) => new ToolError(kind, message, { code, hint });
  // PostgreSQL's own hint is better than similar names.
  if (error.hint?.includes("Perhaps you meant") === true) {
    const isMixed = /the column "[^"]*[A-Z][^"]*"/.test(error.hint);
    return isMixed ? hinted(`${error.hint} ${CAPITALS}`) : error;
  }
  const argument = code === "42703" ? await relationsIn(sql).catch(() => []) : first;
  const values = lookup.names.includes("$1") ? [argument] : [];
  const rows = await sessions
    .work(work, (session) => session.rows<{ name: string; bare: string }>(lookup.names, values))
    .catch(() => []);
  const names = new Map(rows.map(({ name, bare }) => [bare, name]));
  const near = nearest(wanted, names.keys()).map((bare) => names.get(bare) ?? bare);
  if (lookup.isList !== true) {
    const isMixed = near.some((name) => /"[^"]*[A-Z]/.test(name));
    return suggesting(isMixed ? hinted(`${CAPITALS} ${error.hint ?? ""}`.trim()) : error, near);
  }
  if (rows.length === 0) return error;
  const list = [...new Set([...near, ...rows.map(({ name }) => name)])];
  const hint = `${first ?? wanted} ${code === "23514" ? "is" : "allows"} ${valueList(list)}.`;
  return suggesting(hinted(hint), near);
}
