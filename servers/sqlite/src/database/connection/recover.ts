import type { Databases } from "./databases.ts";
import type { Place } from "./handle.ts";

/** Only ends a process that hangs. The statement limit does not apply: a killed rollback would start again. */
const ROLLBACK_MS = 3_600_000;

/** A killed process leaves a journal, which a reading handle can't roll back but an empty change does. */
export async function recover(databases: Databases, place: Place): Promise<void> {
  const job = {
    op: "write" as const,
    place,
    statements: [],
    dryRun: true,
    agreedLoss: undefined,
    session: new Map(),
    returnedBytes: 0,
  };
  const run = { signal: new AbortController().signal, timeoutMs: ROLLBACK_MS };
  await databases.runners.run(job, run).catch(() => undefined);
}
