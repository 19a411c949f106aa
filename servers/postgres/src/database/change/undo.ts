import { oneLine, ToolError } from "@refmcp/boundary/answer";
import {
  LATER_FIRST,
  type RecordedChange,
  readRows,
  type Settling,
  type Undone,
  type Work,
} from "@refmcp/sql";
import * as z from "zod";
import type { Session, Sessions } from "../driver/sessions.ts";
import { Unrecordable, writerFor, written } from "./record.ts";
import { type ChangedRow, restore, type Table } from "./restore.ts";
import { commit } from "./settle.ts";
import { factsOf, type TableFacts, transactionOf } from "./tables.ts";

const texts = z.array(z.string());
const recorded = z.object({
  xid: z.string(),
  skipped: texts,
  facts: z.array(z.object({ id: z.string(), name: z.string(), columns: texts, key: texts })),
});
const recordedRow = z.object({
  table: z.string(),
  key: z.tuple([z.string()]).rest(z.string()),
  before: z.string().optional(),
  after: z.string().optional(),
});

/** What PostgreSQL did with a change whose process ended before it knew. */
async function outcomeOf(session: Session, { facts }: RecordedChange): Promise<string | undefined> {
  const { xid } = recorded.parse(facts);
  if (xid === "") return undefined;
  const [row] = await session.rows<{ status: string | null }>(
    `SELECT CASE WHEN $1::text::xid8 < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
       THEN pg_catalog.pg_xact_status($1::text::xid8) END AS status`,
    [xid],
  );
  return row?.status ?? undefined;
}

/** The changes without those that PostgreSQL did not commit. */
export async function settled(
  sessions: Sessions,
  changes: RecordedChange[],
  { signal }: Work,
): Promise<RecordedChange[]> {
  if (!changes.some(({ isPending }) => isPending)) return changes;
  return await sessions.work({ signal }, async (session) => {
    const remaining: RecordedChange[] = [];
    for (const change of changes) {
      const outcome = change.isPending ? await outcomeOf(session, change) : "committed";
      if (outcome !== "aborted") remaining.push({ ...change, isPending: outcome !== "committed" });
    }
    return remaining;
  });
}

/**
 * Restores the rows of a recorded change as they were, in one transaction, if they are all still as it left them. Triggers of
 * users are off during that where this role owns the table.
 *
 * @throws ToolError `conflict` if rows were changed since, or if the rows can't be restored exactly; nothing is changed then
 */
export async function undo(
  sessions: Sessions,
  identity: string,
  change: RecordedChange,
  { dryRun, record, signal }: Omit<Settling, "agree">,
): Promise<Undone> {
  const { id, path, isPending } = change;
  const { facts, skipped } = recorded.parse(change.facts);
  const undoing = sessions.change({ signal, times: 10 }, async (session) => {
    if (isPending && (await outcomeOf(session, change)) === "aborted")
      throw new ToolError(
        "conflict",
        `Change ${id} was never committed: there is nothing to undo.`,
      );
    const ids = facts.map((table) => table.id);
    const now = await factsOf(session, ids);
    const tables = new Map<string, Table>();
    for (const table of facts) tables.set(table.name, { facts: current(id, table, now), rows: [] });
    for (const row of readRows(path)) {
      const { table, key, before, after } = recordedRow.parse(row);
      tables.get(table)?.rows.push({ key: key[0], place: key[1], before, after });
    }
    const all = [...tables.values()];
    const counts = await restore(session, id, all);
    const writer = writerFor(await record());
    try {
      for (const { facts: table, rows } of all)
        for (const { key, place, before, after } of rows)
          written(() => writer.add(swapped(table.name, { key, place, before, after })));
      const xid = await transactionOf(session);
      const statements = [`undo of ${id}`];
      const undone = { facts, skipped: [], xid };
      if (!dryRun)
        written(() => writer.finish({ database: identity, statements, undoes: id, facts: undone }));
      const changeId = dryRun ? undefined : await commit(session, writer);
      const rest = `Rows inserted into ${skipped.join(", ")} remain: only the rows that its statements name are undone.`;
      return { tables: counts, changeId, ...(skipped.length === 0 ? {} : { note: rest }) };
    } finally {
      writer.discard();
    }
  });
  return await undoing.catch((error: unknown) => {
    if (error instanceof Unrecordable)
      throw new ToolError(
        "unavailable",
        `The undo can't be recorded, so nothing was changed: ${oneLine(error.message)}.`,
        { hint: "Make the state directory writable (--undo-dir), with free space." },
      );
    // What was added since is in the way, or what the change needs is gone.
    if (!(error instanceof ToolError) || !/^(?!42501)(23|42|2B)/.test(error.code ?? ""))
      throw error;
    throw new ToolError("conflict", `Change ${id} was not undone: ${error.message}`, {
      code: error.code,
      hint: `${LATER_FIRST}, or restore rows with your own statements.`,
    });
  });
}

/** A row of the record of an undo: what was before is after. */
const swapped = (table: string, { key, place, before, after }: ChangedRow) => ({
  table,
  key: [key, ...(place === undefined ? [] : [place])],
  ...(after === undefined ? {} : { before: after }),
  ...(before === undefined ? {} : { after: before }),
});

/** The current state of a table, with the key of the record. @throws ToolError if it no longer has the same columns */
function current(
  id: string,
  { name, columns, key, ...then }: Pick<TableFacts, "id" | "name" | "columns" | "key">,
  tables: readonly TableFacts[],
): TableFacts {
  const now = tables.find((table) => table.id === then.id);
  const isSame = now?.columns.join() === columns.join();
  const problem =
    now === undefined
      ? `the table ${name} no longer exists`
      : now.reason !== null
        ? `${now.name}: ${now.reason}`
        : `the columns of ${now.name} have changed since`;
  if (now !== undefined && now.reason === null && isSame) return { ...now, key };
  throw new ToolError("conflict", `Change ${id} can't be undone: ${problem}.`, {
    hint: "Undo the later changes first (newest first), or restore rows with your own statements.",
  });
}
