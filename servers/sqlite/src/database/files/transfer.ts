import { ToolError } from "@refmcp/boundary/answer";
import { type CopyIn, type CopyOut, shownImport, TOO_LARGE } from "@refmcp/sql";
import type { Recorded } from "../change/watch.ts";
import { COMPANIONS } from "../driver/handle.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { explainedIn } from "../schema/hints.ts";
import type { Source } from "../schema/look.ts";

/** An import of a larger file is not recorded, in bytes. */
const MAX_RECORDED_FILE = 8 * 1_048_576;

/** Writes all rows of a reading statement to a file. @returns how many */
export async function copyOut(
  source: Source,
  { sql, params, path, signal, write }: CopyOut,
): Promise<number> {
  const { place, pool, timeoutMs } = source;
  requireOtherName(path);
  passReading(sql);
  const job = { place, sql, params: paramsOf(sql, params) };
  const copying = pool.lease(place.file, { signal, timeoutMs }, async (ask) => {
    let rows = 0;
    await ask("openRows", job);
    for (;;) {
      const piece = await ask("nextRows", {});
      await write(Buffer.from(piece.text));
      rows += piece.rows;
      if (piece.isLast) return rows;
    }
  });
  return await copying.catch(async (error: unknown) => {
    throw await explainedIn(error, sql, source, signal);
  });
}

/**
 * Adds the records of a CSV file to a table.
 *
 * @param facts of the database, for the record
 * @param recover is called if it failed
 */
export async function copyIn(
  source: Source,
  job: CopyIn,
  facts: Omit<Recorded, "statements">,
  recover: () => Promise<void>,
) {
  const { place, pool, timeoutMs } = source;
  /** One attempt to import a file; or why it can't be recorded, and nothing was changed. */
  const attempt = async (
    { relation, columns, path, delimiter, dryRun, signal, ...job }: CopyIn,
    recording: Awaited<ReturnType<CopyIn["record"]>>,
  ) => {
    const statements = [shownImport(path, relation.written)];
    const csv = { table: relation.name, columns, path, delimiter, recording, statements };
    const copying = pool.lease(place.file, { signal, timeoutMs }, async (ask) => {
      await ask("openTable", { place, ...csv, ...facts });
      let read = 0;
      for await (const bytes of job.bytes()) {
        const failed = await ask("addRows", { bytes, isLast: false });
        if (failed !== undefined) return failed;
        read += bytes.length;
        job.progress(read);
      }
      const failed = await ask("addRows", { bytes: new Uint8Array(), isLast: true });
      if (failed !== undefined) return failed;
      const settled = await ask("settleTable", {});
      if ("unrecorded" in settled) return settled;
      if (settled.loss !== undefined && !dryRun) await job.agree(settled.loss);
      signal.throwIfAborted();
      return { rows: settled.rows, changeId: await ask("closeTable", { commit: !dryRun }) };
    });
    return await copying.catch(async (error: unknown) => {
      await recover();
      throw error;
    });
  };
  const isLarge = job.size > MAX_RECORDED_FILE;
  const done = await attempt(job, isLarge ? { reason: TOO_LARGE } : await job.record());
  // A change that can't be recorded is made without it.
  const isDone = !("unrecorded" in done);
  const last = isDone ? done : await attempt(job, { reason: done.unrecorded });
  if ("unrecorded" in last) throw new Error("the import was not made");
  return last;
}

/** @throws ToolError for a name that SQLite uses for its own files: it could take such a file for part of a database */
function requireOtherName(path: string): void {
  if (!COMPANIONS.some((companion) => path.toLowerCase().endsWith(companion))) return;
  throw new ToolError(
    "denied",
    `${JSON.stringify(path)} is a name that SQLite uses for its own files.`,
    {
      hint: "Choose another name: SQLite could take such a file for part of a database.",
    },
  );
}
