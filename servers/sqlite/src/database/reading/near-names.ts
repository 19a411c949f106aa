import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import { suggesting } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { Place } from "../connection/handle.ts";
import type { DatabaseJob } from "../connection/protocol.ts";
import { recover } from "../connection/recover.ts";

const NAMES = {
  table: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
  column:
    "SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c WHERE s.type IN ('table', 'view') AND instr(lower(?), lower(s.name)) > 0 LIMIT 5000",
} as const;

/** Runs the user's statement. Errors of SQLite get the position in the statement and names similar to a missing one. */
export async function runStatement<Answer>(
  databases: Databases,
  job: DatabaseJob,
  {
    sql,
    signal,
    timeoutMs = databases.limits().timeoutMs,
  }: { sql: string; signal: AbortSignal; timeoutMs?: number },
): Promise<Answer> {
  try {
    return await databases.runners.run<Answer>(job, { signal, timeoutMs });
  } catch (error) {
    if (job.op === "write") await recover(databases, job.place);
    throw await nearNames(error, sql, databases, job.place, signal);
  }
}

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
  const job = {
    op: "look" as const,
    place,
    isTolerant: false,
    statements: [{ sql: NAMES[kind], params: kind === "column" ? [sql] : [] }],
  };
  const [rows = []] = await databases.catalog
    .run<{ name: string }[][]>(job, { signal, timeoutMs: 2_000 })
    .catch(() => []);
  return suggesting(
    error,
    nearest(
      name,
      rows.map((row) => row.name),
    ),
  );
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
