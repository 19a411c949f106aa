import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Question, suggesting } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { Place } from "../connection/handle.ts";
import type { Answer, Job, Op } from "../connection/runners.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError what the gate, the boundary, SQLite and the limits refuse, and for an invalid cursor
 */
export async function query(databases: Databases, question: Question): Promise<string> {
  passReading(question.sql);
  const { sql, database, format, signal } = question;
  const params = paramsOf(sql, question.params);
  const place = await databases.place(database);
  const { cellBytes, timeoutMs, ...limits } = databases.limits(question);
  const blobs = `blob://${encodeURIComponent(database ?? databases.names()[0] ?? "")}`;
  return await databases.results.page("read_query", question, limits, async (ahead) => {
    const job = { place, sql, params, cellBytes, format, blobs, ...ahead };
    const answer = await runStatement(databases, "read", job, { sql, signal, timeoutMs });
    const { columns, text, rows, cuts, before, more, notices } = answer;
    return {
      columns,
      pieces: rows === 0 ? [] : text.split("\n"),
      cuts: new Set(cuts),
      before,
      more,
      notices,
    };
  });
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
    if (op === "write") await databases.recover(job.place);
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
  if (!(error instanceof ToolError) || error.kind !== "not_found") return error;
  const found = /no such (table|column): (?:\S*\.)?(.+?)\.?(?: \(position|$)/.exec(error.message);
  const [, kind, name = ""] = found ?? [];
  if (kind !== "table" && kind !== "column") return error;
  const statements = [{ sql: NAMES[kind], params: kind === "column" ? [sql] : [] }];
  const [rows = []] = await databases.catalog
    .run("look", { place, isTolerant: false, statements }, { signal, timeoutMs: 2_000 })
    .catch(() => []);
  const names = rows.map((row) => String(row.name));
  return suggesting(error, nearest(name, names));
}

/** An error with the position of the word that it names, if the statement contains the word once. */
function located(error: unknown, sql: string): unknown {
  if (!(error instanceof ToolError)) return error;
  const [, near, missing] =
    /near "(.+?)": syntax error|no such (?:table|column|function): (?:\S*\.)?(.+?)\.$/.exec(error.message) ??
    [];
  const word = near ?? missing;
  if (word === undefined) return error;
  const at = sql.indexOf(word);
  if (at < 0 || sql.indexOf(word, at + 1) >= 0) return error;
  const excerpt = `${at > 30 ? "…" : ""}${sql.slice(Math.max(0, at - 30), at)}»${sql.slice(at, at + 30)}${at + 30 < sql.length ? "…" : ""}`;
  const message = `${error.message.replace(/\.$/, "")} (position ${at + 1}: ${JSON.stringify(oneLine(excerpt.replace(/\s+/g, " ")))}).`;
  return new ToolError(error.kind, message, { hint: error.hint, code: error.code });
}
