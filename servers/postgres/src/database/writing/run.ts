import type { Postgres } from "../connection/postgres.ts";
import { withNearNames } from "../reading/near.ts";
import { remarks } from "../reading/page.ts";
import { shownWriting } from "./shown-writing.ts";
import { type Writing, write } from "./writing.ts";

export interface Run extends Pick<Writing, "statements" | "dryRun" | "timeoutMs"> {
  /** Name of the database; default: the first. */
  readonly database: string | undefined;
}

/** What changes need from their call. */
interface Calling extends Pick<Writing, "signal" | "confirm"> {
  readonly budget: number;
}

/**
 * Runs changing statements in one transaction and reports what they did, as `changeOutput`.
 *
 * @throws ToolError from the gate or PostgreSQL, or if the user declines; nothing is changed then.
 */
export async function runChanges(postgres: Postgres, { database, ...run }: Run, call: Calling) {
  const at = postgres.at(database);
  const { maxBytes, maxCellBytes } = postgres.limits;
  const { signal, budget } = call;
  const writing = {
    ...run,
    signal,
    caps: { chars: maxBytes },
    confirm: (loss: string) => call.confirm(loss),
  };
  const written = await write(at, writing).catch(async (error: unknown) => {
    throw await withNearNames(error, at, run.statements.map(({ sql }) => sql).join(" "), writing);
  });
  return shownWriting(written, remarks(written.notices), budget, maxCellBytes);
}
