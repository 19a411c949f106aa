import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Calling, type RecordedChange, readRows as recordedRows } from "@refmcp/sql";
import * as z from "zod";
import type { Database, Session } from "../connection/database.ts";
import type { Row } from "../driver/values.ts";
import { type Recorded, transactionOf, Unrecordable, written } from "./record.ts";
import { countsOf, findRows, pairsOf, restoreRows, type Table } from "./restore-rows.ts";
import { commit } from "./settle.ts";
import { factsOf, keyOf, type TableFacts } from "./tables.ts";

const texts = z.array(z.string());
const recorded = z.object({
  xid: z.string(),
  skipped: texts,
  facts: z.array(z.object({ id: z.string(), name: z.string(), columns: texts, key: texts })),
});

function rowOf(value: unknown): Row | undefined {
  const isCell = (cell: unknown) => cell === null || typeof cell === "string";
  const isRow = (row: unknown): row is Row => Array.isArray(row) && row.every(isCell);
  if (value === undefined || isRow(value)) return value;
  throw damaged();
}

const damaged = () => new ToolError("unavailable", "The record of this change is damaged.");

/** What PostgreSQL did with a change whose process ended before it knew. */
async function outcomeOf(session: Session, { facts }: RecordedChange): Promise<string | undefined> {
  const { xid } = recorded.pick({ xid: true }).parse(facts);
  if (xid === "") return undefined;
  const [found] = await session.rows<{ status: string | null }>(
    `SELECT CASE WHEN $1::text::xid8 < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) THEN pg_catalog.pg_xact_status($1::text::xid8) END AS status`,
    [xid],
  );
  return found?.status ?? undefined;
}

/**
 * Restores the rows of a recorded change as they were, in one transaction, if they are all still as it left them. Triggers of
 * users are off during that where this role owns the table, since what they did is in the record too.
 *
 * @throws ToolError `conflict` if rows were changed since, or if the rows can't be restored exactly; nothing is changed then
 */
export async function undoChange(
  database: Database,
  { id, dryRun }: { readonly id: string; readonly dryRun: boolean },
  call: Pick<Calling, "signal">,
) {
  const change = await database.changes?.find(database.identity, id);
  if (change === undefined) throw new ToolError("not_found", "There is no record of changes.");
  const { facts, skipped } = recorded.parse(change.facts);
  const undoing = database.change({ signal: call.signal, times: 10 }, async (session) => {
    if (change.isPending && (await outcomeOf(session, change)) === "aborted")
      throw new ToolError(
        "conflict",
        `Change ${id} was never committed: there is nothing to undo.`,
      );
    const now = await factsOf(
      session,
      facts.map((one) => one.id),
    );
    const none = () => ({ deleted: [], updated: [], inserted: [], added: [] });
    const tables = facts.map((then): Table => ({ facts: current(id, then, now), ...none() }));
    const byName = new Map(facts.map(({ name }, at) => [name, tables[at]]));
    for (const { table, key, before, after, range } of recordedRows(change.path)) {
      const of = byName.get(table);
      if (of === undefined) throw damaged();
      const kind = after === undefined ? "deleted" : before === undefined ? "inserted" : "updated";
      if (range === undefined) of[kind].push({ before: rowOf(before), after: rowOf(after) });
      else of.added.push({ xid: String(key), rows: range.rows, digest: String(after) });
    }
    const isRecorded = tables.every(({ added }) => added.length === 0);
    await findRows(session, id, tables);
    await restoreRows(session, id, tables);
    const writer = isRecorded ? await database.startRecord() : undefined;
    if (typeof writer === "string") throw unrecorded(writer);
    try {
      for (const table of tables)
        for (const { before, after } of pairsOf(table)) {
          const key = keyOf(table.facts, before ?? after ?? []);
          const swapped = { ...(after && { before: after }), ...(before && { after: before }) };
          written(() => writer?.add({ table: table.facts.name, key, ...swapped }));
        }
      const undone: Recorded = {
        facts: tables.map((one) => one.facts),
        skipped: [],
        xid: await transactionOf(session),
      };
      const statements = [`undo of ${id}`];
      if (!dryRun)
        written(() =>
          writer?.finish({ database: database.identity, statements, undoes: id, facts: undone }),
        );
      const notes = [
        ...(skipped.length === 0
          ? []
          : [`Rows inserted into ${skipped.join(", ")} remain: this role can't read them.`]),
        ...(isRecorded ? [] : ["The added rows are not recorded, so this undo can't be undone."]),
      ];
      const answer = {
        undone: id,
        committed: !dryRun,
        tables: tables.flatMap(countsOf),
        ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
      };
      if (dryRun) return answer;
      const change_id = await commit(session, writer);
      return change_id === undefined ? answer : { ...answer, change_id };
    } catch (error) {
      throw error instanceof Unrecordable ? unrecorded(error.message) : error;
    } finally {
      writer?.discard();
    }
  });
  return await undoing.catch((error) => {
    // What was added since is in the way, or what the change needs is gone.
    if (!(error instanceof ToolError) || !/^(?!42501)(23|42|2B)/.test(error.code ?? ""))
      throw error;
    throw new ToolError("conflict", `Change ${id} was not undone: ${error.message}`, {
      code: error.code,
      hint: LATER_FIRST,
    });
  });
}

const LATER_FIRST =
  "Nothing was changed. Undo later changes first (newest first), or restore rows with your own statements.";
const unrecorded = (why: string) =>
  new ToolError(
    "unavailable",
    `The undo can't be recorded, so nothing was changed: ${oneLine(why)}.`,
    {
      hint: "Make the state directory writable (--undo-dir), with free space.",
    },
  );

/** The current state of a table, with the columns of the record. @throws ToolError if it no longer has them */
function current(
  id: string,
  then: Pick<TableFacts, "id" | "name" | "columns" | "key">,
  tables: readonly TableFacts[],
): TableFacts {
  const found = tables.find((table) => table.id === then.id);
  const missing = then.columns.find((column) => found?.columns.includes(column) === false);
  const problem =
    found === undefined
      ? `the table ${then.name} no longer exists`
      : missing === undefined
        ? found.reason && `${found.name}: ${found.reason}`
        : `${found.name} has no column ${missing} any more`;
  if (found === undefined || problem)
    throw new ToolError("conflict", `Change ${id} can't be undone: ${problem}.`, {
      hint: "Undo the later changes first (newest first), or restore rows with your own statements.",
    });
  const places = found.places.map((at) => then.columns.indexOf(found.columns[at] ?? ""));
  return { ...found, places, columns: then.columns, key: then.key };
}

/** The changes of a database, newest first; without those that PostgreSQL did not commit. */
export async function changesOf(
  database: Database,
  signal: AbortSignal,
): Promise<RecordedChange[]> {
  const changes = (await database.changes?.list(database.identity)) ?? [];
  if (!changes.some(({ isPending }) => isPending)) return changes;
  return await database.work({ signal }, async (session) => {
    const known: RecordedChange[] = [];
    for (const change of changes) {
      const outcome = change.isPending ? await outcomeOf(session, change) : "committed";
      if (outcome !== "aborted") known.push({ ...change, isPending: outcome !== "committed" });
    }
    return known;
  });
}
