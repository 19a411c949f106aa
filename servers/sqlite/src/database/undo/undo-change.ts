import { ToolError } from "@refmcp/boundary/answer";
import { type Calling, TOO_LARGE } from "@refmcp/sql";
import { changedSince } from "@refmcp/sql/tools";
import * as z from "zod";
import type { Databases } from "../connection/databases.ts";
import { runStatement } from "../reading/query.ts";
import type { Recording } from "../writing/change.ts";

/** What this server records in addition to the rows: `UndoFacts`. */
const facts = z.object({
  columns: z.record(z.string(), z.array(z.string())),
  indexes: z.array(z.string()),
  version: z
    .object({ commits: z.number(), schemas: z.number(), created: z.string().optional() })
    .optional(),
});

/** Undoing a change takes longer than the change, and must not fail for that. */
const UNDO_MS = 600_000;

/**
 * Undoes a recorded change in one transaction, and records that.
 *
 * @throws ToolError `not_found`; `conflict` if something that it changed has changed since; `unavailable` if the undo can't be
 * recorded. Nothing is changed then
 */
export async function undoChange(
  databases: Databases,
  { id, dryRun, database }: { id: string; dryRun: boolean; database: string | undefined },
  { signal }: Pick<Calling, "signal">,
) {
  const place = await databases.place(database);
  const recording = await databases.recording(place);
  const found = await databases.options.changes.find(databases.identityOf(place), id);
  const { path, tables: changed } = found;
  const job = { place, id, path, facts: facts.parse(found.facts), tables: changed, dryRun };
  const { version: then = { commits: 0, schemas: 0, created: undefined } } = job.facts;
  const { commits, schemas, created = then.created } = databases.versionOf(place) ?? then;
  // The change itself was one more.
  const isOlder = then.commits > 0 && commits > 0 && commits <= then.commits;
  const isNew = then.created !== undefined && created !== then.created;
  if (isOlder || isNew || schemas < then.schemas)
    throw new ToolError(
      "conflict",
      `Change ${id} was not undone: ${JSON.stringify(place.file)} now has the content of another or an older database.`,
      { hint: "Nothing was changed. Restore rows with your own statements." },
    );
  const timeoutMs = Math.max(databases.limits().timeoutMs, UNDO_MS);
  const attempt = (how: Recording) =>
    runStatement(databases, "undo", { ...job, recording: how }, { sql: "", signal, timeoutMs });
  let answer = await attempt(recording);
  // What an undo removes that only added rows is in the record of the change, or in the file of an import.
  const isAddition = changed.every(({ updated, deleted }) => updated + deleted === 0);
  const isUnrecorded = "unrecorded" in answer && answer.unrecorded === TOO_LARGE && isAddition;
  if (isUnrecorded) answer = await attempt({ reason: TOO_LARGE });
  if ("unrecorded" in answer)
    throw new ToolError(
      "unavailable",
      `Change ${id} was not undone, because ${answer.unrecorded}.`,
      {
        hint: "Nothing was changed. An undo is always recorded, so that it can be undone too; check --undo-dir and its disk.",
      },
    );
  if (!("obstacle" in answer)) {
    const { committed, tables, changeId } = answer;
    const note = isUnrecorded
      ? { note: "This undo is too large to be recorded, so it can't be undone." }
      : {};
    const recorded = changeId === undefined ? {} : { change_id: changeId };
    return { undone: id, committed, tables, ...recorded, ...note };
  }
  const { obstacle } = answer;
  if ("message" in obstacle)
    throw new ToolError("conflict", `Change ${id} was not undone. ${obstacle.message}`, {
      hint: obstacle.hint,
    });
  if (found.isPending && obstacle.isAsBefore)
    throw new ToolError(
      "conflict",
      `Change ${id} was never committed, so there is nothing to undo.`,
      {
        hint: "The server ended before the commit; all its rows are as before.",
      },
    );
  throw changedSince(id, obstacle.rows, obstacle.count);
}
