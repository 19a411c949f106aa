import { ToolError } from "@refmcp/core/answer";
import type { Postgres } from "../connection/postgres.ts";
import { withNearNames } from "../reading/near.ts";
import { remarks } from "../reading/page.ts";
import { shownWriting } from "./shown-writing.ts";
import { type Writing, write } from "./writing.ts";

export interface Run extends Omit<Writing, "caps"> {
  /** Name of a database; default: the first. */
  readonly database: string | undefined;
  readonly budget: number;
}

/**
 * Runs changing statements in one transaction and says what they did, as `changeOutput`.
 *
 * @throws ToolError what the gate, PostgreSQL and the user say; nothing is changed then.
 */
export async function runChanges(postgres: Postgres, { database, budget, ...writing }: Run) {
  const at = postgres.at(database).database;
  const { maxBytes, maxCellBytes } = postgres.limits;
  const written = await write(at, { ...writing, caps: { chars: maxBytes } }).catch(async (error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    throw await withNearNames(error, at, writing.statements.map(({ sql }) => sql).join(" "), writing);
  });
  return shownWriting(written, remarks(written.notices), budget, maxCellBytes);
}
