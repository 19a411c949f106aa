import { nearest, ToolError } from "@refmcp/boundary/answer";
import { positionText, suggesting, unquoted } from "@refmcp/sql";
import { folded, tokenize } from "../gate/tokens.ts";
import { look, type Source } from "./look.ts";
import { written } from "./names.ts";

const NAMES = {
  table: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
  /** Those of tables whose names are in a JSON array, in lower case. */
  column: `SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c
    WHERE s.type IN ('table', 'view') AND lower(s.name) IN (SELECT value FROM json_each(?)) LIMIT 5000`,
} as const;

/**
 * An error of SQLite with the position in the statement and names similar to a missing one.
 *
 * @param sql the statement or statements; similar columns are looked up in the tables that it names
 */
export async function explainedIn(
  failure: unknown,
  sql: string,
  source: Source,
  signal: AbortSignal,
): Promise<unknown> {
  const error = located(failure, sql);
  if (!(error instanceof ToolError)) return error;
  if (error.kind !== "not_found") return error;
  const match = /no such (table|column): (?:\S*\.)?(.+?)\.?(?: \(position|$)/.exec(error.message);
  const [, kind, name = ""] = match ?? [];
  if (kind !== "table" && kind !== "column") return error;
  const values = kind === "column" ? [JSON.stringify(tablesIn(sql))] : [];
  const [rows = []] = await look(source, [[NAMES[kind], ...values]], {
    signal,
    timeoutMs: 2_000,
  }).catch(() => []);
  return suggesting(
    error,
    nearest(
      name,
      rows.map((row) => String(row.name)),
    ).map(written),
  );
}

/** What comes before the name of a table. */
const BEFORE = /^(from|join|into|update|replace|ignore|abort|fail|rollback|[,.(])$/i;

/** The names in a statement that may be tables, in lower case; a name before a dot is an alias or a schema. */
const tablesIn = (sql: string) =>
  tokenize(sql)
    .filter(
      ({ text }, at, tokens) =>
        text !== "(" && tokens[at + 1]?.text !== "." && BEFORE.test(tokens[at - 1]?.text ?? ""),
    )
    .map(({ text }) => folded(unquoted(text)));

/** An error with the position of the name that is missing, if the statement contains it once. */
function located(error: unknown, sql: string): unknown {
  if (!(error instanceof ToolError)) return error;
  const [, word] =
    /no such (?:table|column|function): (?:\S*\.)?(.+?)\.$/.exec(error.message) ?? [];
  const [place, ...more] =
    word === undefined ? [] : tokenize(sql).filter((token) => token.text === word);
  if (place === undefined || more.length > 0) return error;
  const message = `${error.message.replace(/\.$/, "")}${positionText(sql, place.at)}.`;
  return new ToolError(error.kind, message, { hint: error.hint, code: error.code });
}
