import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { ChangeJob } from "../database.ts";
import type { Databases } from "../databases.ts";
import { type Loss, lossAction, lossText } from "./loss.ts";

/** What a changing tool's work needs of its call. */
export interface Calling {
  readonly signal: AbortSignal;
  /** Characters of the answer. */
  readonly budget: number;
  /** Asks the user about a loss; throws if the user declines or can't be asked. */
  confirm(loss: string, action?: string): Promise<void>;
}

/** Asks the user about a loss, if there is one. */
export const asking =
  (call: Pick<Calling, "confirm">) =>
  async (loss: Loss): Promise<void> => {
    const text = lossText(loss);
    if (text !== undefined) await call.confirm(text, lossAction(loss));
  };

/**
 * Runs changes in one transaction, all or none, and returns their effect as `changeOutput`. They are recorded, so that they can
 * be undone; a loss that can't be recorded needs confirmation, with the exact row count.
 *
 * @throws ToolError what the database and the user refuse; nothing is changed then
 */
export async function runChanges(
  databases: Databases,
  {
    statements,
    ...job
  }: Pick<ChangeJob, "statements" | "dryRun"> & { database?: string | undefined },
  call: Calling,
) {
  const at = await databases.at(job.database);
  const { committed, results, tables, loss, changeId, ...rest } = await at.change({
    statements,
    dryRun: job.dryRun,
    // The rest of the answer takes less than this.
    rowChars: Math.max(0, call.budget - 1_000 - 20 * statements.length),
    record: () => databases.changes.slot(at.identity),
    agree: asking(call),
    signal: call.signal,
  });
  const { lastRowId, truncatedBy, notices = [] } = rest;
  const lost = loss === undefined ? undefined : lossText(loss);
  return {
    committed,
    results,
    ...(tables.length === 0 ? {} : { tables: tables.map((counts) => ({ ...counts })) }),
    ...(lastRowId === undefined ? {} : { last_insert_rowid: lastRowId }),
    ...(lost === undefined ? {} : { loss: lost }),
    ...recorded(databases, changeId),
    truncated: truncatedBy !== undefined,
    ...(truncatedBy === undefined ? {} : { truncated_by: truncatedBy }),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
}

/** For the answer about a change that was recorded. */
export const recorded = ({ changes }: Databases, changeId: string | undefined) =>
  changeId === undefined ? {} : { change_id: changeId, note: changes.copyNote };

/**
 * Undoes a recorded change in one transaction, and records that.
 *
 * @throws ToolError `not_found`; `conflict` if something that it changed has changed since. Nothing is changed then
 */
export async function undoChange(
  databases: Databases,
  { id, dryRun, database }: { id: string; dryRun: boolean; database?: string | undefined },
  { signal }: Pick<Calling, "signal">,
) {
  const at = await databases.at(database);
  const change = await databases.changes.find(at.identity, id);
  const { tables, changeId, note } = await at.undo(change, {
    dryRun,
    record: () => databases.changes.slot(at.identity),
    signal,
  });
  return {
    undone: id,
    committed: !dryRun,
    tables: tables.map((counts) => ({ ...counts })),
    ...(changeId === undefined ? {} : { change_id: changeId }),
    ...(note === undefined ? {} : { note }),
  };
}

const MAX_KEYS = 5;

/**
 * The error of an undo that finds rows changed since.
 *
 * @param rows what is different: the first few keys by table, as text
 * @param count how many there are
 */
export function changedSince(id: string, rows: readonly string[], count: number): ToolError {
  const more = count > MAX_KEYS ? ` and ${count - MAX_KEYS} more` : "";
  const keys = rows.slice(0, MAX_KEYS).map(oneLine).join(", ");
  return new ToolError(
    "conflict",
    `Change ${id} was not undone: ${count} of its rows ${count === 1 ? "is" : "are"} not as it left them: ${keys}${more}.`,
    { hint: `${LATER_FIRST}, or restore rows with your own statements.` },
  );
}

export const LATER_FIRST =
  "Nothing was changed. Undo the later changes of these rows first (newest first)";
