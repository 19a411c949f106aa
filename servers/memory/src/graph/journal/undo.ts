import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { quote } from "../read/names.ts";
import { parts } from "../store/connection.ts";
import type { Columns } from "../store/reader.ts";
import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts, ChangeRow, JournalRow } from "../types.ts";
import { change } from "../write/change.ts";

/** How many rows of the journal are undone at once. */
const BATCH = 500;

/**
 * Undoes a whole change by walking its part of the journal backwards: each row gets the columns that it had before; one
 * that was added is deleted. Undoing is itself a change, so it can be undone.
 *
 * @throws ToolError `not_found` for an unknown id; `conflict` if it was already undone, was a hard deletion, or is
 *   prevented by later changes.
 */
export async function undoChange(store: Store, id: number, facts: ChangeFacts) {
  const { row, changeId } = await change(store, { ...facts, undoes: id }, async (writer) => {
    const row = await undoable(writer, id);
    const changeId = await writer.changeId();
    const entities = new Set<number>();
    const attached = new Set<number>();
    for (let before: number | undefined; ; ) {
      const page = await writer.journal(id, BATCH, before);
      if (page.length === 0 && before === undefined)
        throw cannotUndo(row, "everything it affected was erased permanently");
      for (const group of groups(page)) await revert(writer, row, group);
      for (const { kind, entityId, otherId } of page) {
        (kind === "entity" ? entities : attached).add(entityId);
        if (otherId !== null) attached.add(otherId);
      }
      if (page.length < BATCH) break;
      before = page.at(-1)?.id;
    }
    await checkHosts(writer, row, entities, attached);
    await writer.setUndone(id, changeId);
    return { row, changeId };
  });
  return {
    undone: id,
    change_id: changeId,
    message: `Undid change ${id} (${row.summary}). To redo it, call undo_memory_change with change_id ${changeId}.`,
  };
}

async function undoable(writer: Writer, id: number): Promise<ChangeRow> {
  const row = await writer.change(id);
  if (row === undefined) {
    const [latest] = await writer.changes(undefined, 1);
    const range =
      latest === undefined ? "Nothing has been changed yet." : `The latest change is ${latest.id}.`;
    throw new ToolError("not_found", `There is no change ${id}. ${range}`, {
      hint: "recent_changes lists them with their ids.",
    });
  }
  if (row.hard)
    throw new ToolError(
      "conflict",
      `Change ${id} permanently erased rows (hard); they cannot be restored.`,
      { hint: "Add the facts again with create_entities or add_observations." },
    );
  if (row.undoneBy !== null)
    throw new ToolError("conflict", `Change ${id} was already undone by change ${row.undoneBy}.`, {
      hint: `To redo it, undo change ${row.undoneBy}.`,
    });
  return row;
}

/** Adjacent rows of one kind with the same change, so that a change of 50,000 rows is undone in few steps. */
function groups(rows: readonly JournalRow[]): Group[] {
  const runs: [JournalRow, ...JournalRow[]][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    const [{ kind, before, after }] = last ?? [row];
    if (last !== undefined && row.kind === kind && row.before === before && row.after === after)
      last.push(row);
    else runs.push([row]);
  }
  return runs;
}

type Group = readonly [JournalRow, ...JournalRow[]];

async function revert(writer: Writer, row: ChangeRow, group: Group): Promise<void> {
  const [{ kind, before, after }] = group;
  const ids = group.map(({ rowId }) => rowId);
  const expected: Columns = JSON.parse(after);
  const states = await writer.states(kind, ids, Object.keys(expected));
  for (const id of ids) {
    const state = states.get(id);
    if (state === undefined) throw cannotUndo(row, `a ${kind} that it changed was erased since`);
    const isSame = Object.entries(expected).every(([name, value]) => state.columns[name] === value);
    if (!isSame) throw cannotUndo(row, `a ${kind} that it changed was changed or deleted since`);
  }
  const columns: Columns =
    before === null ? { removed_by: await writer.changeId() } : JSON.parse(before);
  if (kind === "entity") await checkNames(writer, row, ids, columns);
  try {
    await writer.set(kind, ids, columns);
  } catch (error) {
    // A unique index refused the row: SQLite's code or PostgreSQL's `unique_violation`.
    const isDuplicate = ["SQLITE_CONSTRAINT_UNIQUE", "23505"].includes(errorCode(error) ?? "");
    throw isDuplicate ? cannotUndo(row, "the same was added again since") : error;
  }
}

/** @throws ToolError `conflict` if another entity has a name that one of these would get again. */
async function checkNames(
  writer: Writer,
  row: ChangeRow,
  ids: readonly number[],
  { name, removed_by: removedBy }: Columns,
): Promise<void> {
  if (name === undefined && removedBy !== null) return;
  const entities = await writer.entitiesById(ids);
  const names = [...entities.values()].map((entity) =>
    name === undefined ? entity.name : `${name}`,
  );
  for (const { id, name: usedName } of (await writer.entitiesNamed(names)).values())
    if (!ids.includes(id)) throw cannotUndo(row, `another entity is now named ${quote(usedName)}`);
}

/**
 * Checks that nothing is left without its entity.
 *
 * @param entities those that the undo changed
 * @param attached those whose observations or relations it changed
 * @throws ToolError `conflict`
 */
async function checkHosts(
  writer: Writer,
  row: ChangeRow,
  entities: ReadonlySet<number>,
  attached: ReadonlySet<number>,
): Promise<void> {
  for (const ids of parts([...new Set([...entities, ...attached])], BATCH)) {
    const hosts = await writer.entitiesById(ids);
    const removedIds = ids.filter((id) => hosts.get(id)?.removedBy !== null);
    const [holder] = (await writer.observationCounts(removedIds, "kept")).keys();
    const [relation] = await writer.relationsOf(removedIds, { limit: 1 });
    const isEnd = relation !== undefined && removedIds.includes(relation.fromId);
    const id = holder ?? (isEnd ? relation.fromId : relation?.toId);
    if (id === undefined) continue;
    const name = quote(hosts.get(id)?.name ?? "");
    throw entities.has(id)
      ? cannotUndo(row, `${name} has gained observations or relations since`)
      : cannotUndo(row, `the entity ${name} no longer exists`);
  }
}

function cannotUndo(row: ChangeRow, why: string): ToolError {
  return new ToolError(
    "conflict",
    `Change ${row.id} cannot be undone: ${why}. Nothing was changed.`,
    { hint: "Undo later changes first, starting with the newest; recent_changes lists them." },
  );
}
