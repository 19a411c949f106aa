import { nearest, oneLine, ToolError } from "@refmcp/core/answer";
import type { Databases } from "../connection/databases.ts";
import type { Place } from "../connection/handle.ts";

const NAMES = {
  table: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
  column:
    "SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c WHERE s.type IN ('table', 'view') LIMIT 5000",
} as const;

/** An error that something is not there, with the names that are like it; other errors come back as they are. */
export async function nearNames(
  error: unknown,
  databases: Databases,
  place: Place,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof ToolError) || error.kind !== "not_found") return error;
  const found = /no such (table|column): (?:.*\.)?(.+?)\.?$/.exec(error.message);
  const [, kind, name = ""] = found ?? [];
  if (kind !== "table" && kind !== "column") return error;
  const job = {
    op: "look" as const,
    place,
    isTolerant: false,
    statements: [{ sql: NAMES[kind], params: [] }],
  };
  const [rows = []] = await databases.catalogue
    .run<{ name: string }[][]>(job, { signal, timeoutMs: 2_000 })
    .catch(() => []);
  const near = nearest(
    name,
    rows.map((row) => row.name),
  ).map(oneLine);
  if (near.length === 0) return error;
  return new ToolError("not_found", `${error.message} Did you mean ${near.join(" or ")}?`, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.code === undefined ? {} : { code: error.code }),
  });
}
