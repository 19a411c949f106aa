import { nearest, ToolError } from "@refmcp/boundary/answer";
import { positionText, type Question, suggesting, tokenize, translated } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { Place } from "../connection/handle.ts";
import type { Answer, Job, Op } from "../connection/runners.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { DIALECTS } from "./dialects.ts";
import { written } from "./names.ts";

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError what the gate, the boundary, SQLite and the limits refuse, and for an invalid cursor
 */
export async function query(databases: Databases, question: Question): Promise<string> {
  passReading(question.sql);
  const { sql, database, format, signal } = question;
  const params = paramsFor(sql, question.params);
  const place = await databases.place(database);
  const { cellBytes, timeoutMs, ...limits } = databases.limits(question);
  return await databases.results.page("read_query", question, limits, async (ahead) => {
    const job = { place, sql, params, cellBytes, format, ...ahead };
    const answer = await runStatement(databases, "read", job, { sql, signal, timeoutMs });
    const { columns, text, rows, cuts, before, more } = answer;
    return {
      columns,
      pieces: rows === 0 ? [] : text.split("\n"),
      cuts: new Set(cuts),
      before,
      more,
    };
  });
}

/** The values of a statement; a cast of PostgreSQL, `a::text`, would be read as a parameter. */
function paramsFor(sql: string, given: Question["params"]): unknown[] {
  try {
    return paramsOf(sql, given);
  } catch (error) {
    throw error instanceof ToolError ? translated(error, DIALECTS, "::", sql) : error;
  }
}

/** Runs the user's statement. Errors of SQLite get the position in the statement and names similar to a missing one. */
export async function runStatement<Name extends Op>(
  databases: Databases,
  op: Name,
  job: Job<Name> & { readonly place: Place },
  given: { readonly sql: string; readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<Answer<Name>> {
  const { sql, signal, timeoutMs = databases.limits().timeoutMs } = given;
  try {
    return await databases.runners.run(op, job, { signal, timeoutMs });
  } catch (error) {
    if (op === "write" || op === "undo") await databases.recover(job.place);
    throw await nearNames(error, sql, databases, job.place, signal);
  }
}

const NAMES = {
  table: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
  column:
    "SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c WHERE s.type IN ('table', 'view') AND instr(lower(?), lower(s.name)) > 0 LIMIT 5000",
} as const;

/**
 * An error of SQLite with the position in the statement and names similar to a missing one.
 *
 * @param sql the statement or statements; similar columns are looked up in the tables that it names
 */
export async function nearNames(
  failure: unknown,
  sql: string,
  databases: Databases,
  place: Place,
  signal: AbortSignal,
): Promise<unknown> {
  const error = located(failure, sql);
  if (!(error instanceof ToolError)) return error;
  const [, syntax, called] =
    /(?:near "|unrecognized token: |no such column: interval)(.+)|no such function: (\w+)/.exec(
      error.message,
    ) ?? [];
  if (syntax !== undefined || called !== undefined) {
    const foreign = translated(
      error,
      DIALECTS,
      called === undefined ? undefined : `${called}(`,
      sql,
    );
    if (foreign !== error) return foreign;
  }
  if (error.kind !== "not_found") return error;
  const found = /no such (table|column): (?:\S*\.)?(.+?)\.?(?: \(position|$)/.exec(error.message);
  const [, kind, name = ""] = found ?? [];
  if (kind !== "table" && kind !== "column") return error;
  const statements = [{ sql: NAMES[kind], params: kind === "column" ? [sql] : [] }];
  const [rows = []] = await databases.catalog
    .run("look", { place, isTolerant: false, statements }, { signal, timeoutMs: 2_000 })
    .catch(() => []);
  const names = rows.map((row) => String(row.name));
  return suggesting(error, nearest(name, names).map(written));
}

/** An error with the position of the name that is missing, if the statement contains it once. */
function located(error: unknown, sql: string): unknown {
  if (!(error instanceof ToolError)) return error;
  const [, word] =
    /no such (?:table|column|function): (?:\S*\.)?(.+?)\.$/.exec(error.message) ?? [];
  const [found, ...more] =
    word === undefined ? [] : tokenize(sql).filter(({ text }) => text === word);
  if (found === undefined || more.length > 0) return error;
  const message = `${error.message.replace(/\.$/, "")}${positionText(sql, found.at)}.`;
  return new ToolError(error.kind, message, { hint: error.hint, code: error.code });
}
