import type { Bound, Work } from "../database.ts";
import type { Databases } from "../databases.ts";
import { limitsOf } from "../options.ts";
import type { Format } from "./formats.ts";

export interface PageAsked extends Bound, Work {
  readonly database?: string | undefined;
  readonly maxRows?: number | undefined;
  readonly cursor?: string | undefined;
  readonly format?: Format;
  /** Characters of the answer. */
  readonly budget: number;
}

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError what the database and the limits refuse, and for an invalid cursor
 */
export async function readPage(databases: Databases, asked: PageAsked): Promise<string> {
  const { sql, params, signal, cursor, budget, format = "rows" } = asked;
  const at = await databases.at(asked.database);
  const { cellBytes, timeoutMs, ...limits } = limitsOf(databases.limits, asked);
  const question = { sql, params, database: at.name, cursor, budget, format };
  return await databases.results.page(databases.kind.names.query, question, limits, (ahead) =>
    at.read({ sql, params, format, cellBytes, timeoutMs, signal }, ahead),
  );
}
