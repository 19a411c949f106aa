import type { Databases } from "./databases.ts";
import type { Place } from "./handle.ts";

/** Ends only what hangs. The limit of a statement does not count: a rollback that is killed begins again. */
const ROLLBACK_MS = 3_600_000;

/** A process that was killed leaves a journal, which a reading handle cannot roll back: an empty change does. */
export async function recover(databases: Databases, place: Place): Promise<void> {
  const job = {
    op: "write" as const,
    place,
    statements: [],
    dryRun: true,
    agreedLoss: undefined,
    returnedBytes: 0,
  };
  const run = { signal: new AbortController().signal, timeoutMs: ROLLBACK_MS };
  await databases.runners.run(job, run).catch(() => undefined);
}
