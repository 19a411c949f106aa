import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { quote } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts, ChangeItem, ChangeRow, Counts, Kind } from "../types.ts";
import { change } from "./change.ts";
import { counted } from "./remove.ts";

/**
 * Undoes a whole change: removes what it added, restores what it deleted, and reverts what it renamed or moved. Undoing is
 * itself a change, so it can be undone.
 *
 * @throws ToolError `not_found` for an unknown id; `conflict` if it was already undone, was a hard deletion, or is prevented by
 *   later changes.
 */
export async function undoChange(store: Store, id: number, facts: ChangeFacts) {
  const { items, changeId } = await change(store, { ...facts, undoes: id }, async (writer) => {
    const row = await writer.change(id);
    if (row === undefined) throw await unknownChange(writer, id);
    checkUndoable(row);
    const items = await writer.itemsOf(id);
    if (items.length === 0) throw cannotUndo(row, "everything it affected was erased permanently");
    // In reverse order: what was added last is removed first, what was deleted last is restored first.
    try {
      for (const group of groups([...items].reverse())) await revert(writer, row, group);
    } catch (error) {
      throw isDuplicate(error) ? cannotUndo(row, "the same was added again since") : error;
    }
    const changeId = await writer.changeId();
    await writer.setUndone(id, changeId);
    return { items, changeId };
  });
  return {
    undone: id,
    change_id: changeId,
    message: `Undid change ${id} (${describeItems(items)}). To redo it, call undo_memory_change with change_id ${changeId}.`,
  };
}

async function unknownChange(writer: Writer, id: number): Promise<ToolError> {
  const [latest] = await writer.changes(undefined, 1);
  const range = latest === undefined ? "Nothing has been changed yet." : `The latest change is ${latest.id}.`;
  return new ToolError("not_found", `There is no change ${id}. ${range}`, {
    hint: "recent_changes lists them with their ids.",
  });
}

function checkUndoable(row: ChangeRow): void {
  if (row.hard)
    throw new ToolError(
      "conflict",
      `Change ${row.id} permanently erased rows (hard); they cannot be restored.`,
      {
        hint: "Add the facts again with create_entities or add_observations.",
      },
    );
  if (row.undoneBy !== null)
    throw new ToolError("conflict", `Change ${row.id} was already undone by change ${row.undoneBy}.`, {
      hint: `To redo it, undo change ${row.undoneBy}.`,
    });
}

/** Groups adjacent items of the same kind and operation, so that a change of 50,000 rows is undone in few steps. */
function groups(items: readonly ChangeItem[]): ChangeItem[][] {
  const found: ChangeItem[][] = [];
  for (const item of items) {
    const last = found.at(-1);
    if (last?.[0]?.kind === item.kind && last[0].op === item.op) last.push(item);
    else found.push([item]);
  }
  return found;
}

async function revert(writer: Writer, row: ChangeRow, items: readonly ChangeItem[]): Promise<void> {
  const [first] = items;
  switch (first?.op) {
    case "add":
    case "restore":
      return removeAdded(writer, row, first.kind, items);
    case "remove":
      return restoreDeleted(writer, row, first.kind, items);
    case "rename":
    case "retype":
      for (const item of items) await resetText(writer, row, item);
      return;
    case "move":
      for (const item of items) await moveBack(writer, row, item);
  }
}

async function removeAdded(
  writer: Writer,
  row: ChangeRow,
  kind: Kind,
  items: readonly ChangeItem[],
): Promise<void> {
  const ids = items.map(({ rowId }) => rowId);
  const states = await writer.rows(kind, ids);
  if (ids.some((id) => states.get(id) !== null))
    throw cannotUndo(row, `a ${kind} that it added was deleted since`);
  if (kind === "entity") {
    const attached = [...(await writer.observationCounts(ids)).keys()];
    const relations = await writer.relationsOf(ids, { limit: 1 });
    const [entityId = relations[0]?.fromId] = attached;
    if (entityId !== undefined) {
      const holder = (await writer.entitiesById(ids)).get(
        ids.includes(entityId) ? entityId : (relations[0]?.toId ?? 0),
      );
      throw cannotUndo(row, `${quote(holder?.name ?? "")} has gained observations or relations since`);
    }
  }
  await writer.remove(kind, items);
}

async function restoreDeleted(
  writer: Writer,
  row: ChangeRow,
  kind: Kind,
  items: readonly ChangeItem[],
): Promise<void> {
  const ids = items.map(({ rowId }) => rowId);
  const states = await writer.rows(kind, ids);
  if (ids.some((id) => states.get(id) !== row.id))
    throw cannotUndo(row, `a deleted ${kind} was erased or restored since`);
  const hosts = await writer.entitiesById(
    items.flatMap(({ entityId, otherId }) => (otherId === null ? [entityId] : [entityId, otherId])),
  );
  if (kind === "entity") {
    const names = [...hosts.values()].map(({ name }) => name);
    const [taken] = (await writer.entitiesNamed(names)).keys();
    if (taken !== undefined) throw cannotUndo(row, `another entity is now named ${quote(taken)}`);
  } else if (items.some(({ entityId, otherId }) => !isLive(hosts, entityId) || !isLive(hosts, otherId))) {
    throw cannotUndo(row, `the entity of a deleted ${kind} no longer exists`);
  }
  await writer.restore(kind, items);
}

function isLive(hosts: ReadonlyMap<number, { removedBy: number | null }>, id: number | null): boolean {
  return id === null || hosts.get(id)?.removedBy === null;
}

/** A unique index refused the row: SQLite's code or PostgreSQL's `unique_violation`. */
function isDuplicate(error: unknown): boolean {
  return ["SQLITE_CONSTRAINT_UNIQUE", "23505"].includes(errorCode(error) ?? "");
}

async function resetText(writer: Writer, row: ChangeRow, item: ChangeItem): Promise<void> {
  const entity = (await writer.entitiesById([item.rowId])).get(item.rowId);
  const current = item.op === "rename" ? entity?.name : entity?.type;
  if (entity?.removedBy !== null || current !== item.after || item.before === null)
    throw cannotUndo(row, `${quote(item.after ?? "")} was changed or deleted since`);
  if (item.op === "retype") return writer.retype(entity, item.before);
  if ((await writer.entitiesNamed([item.before])).has(item.before))
    throw cannotUndo(row, `another entity is now named ${quote(item.before)}`);
  await writer.rename(entity, item.before);
}

async function moveBack(writer: Writer, row: ChangeRow, item: ChangeItem): Promise<void> {
  const states = await writer.rows(item.kind, [item.rowId]);
  if (states.get(item.rowId) !== null) throw cannotUndo(row, `a moved ${item.kind} was deleted since`);
  const [from = 0, fromEnd = 0] = (item.before ?? "").split(" ").map(Number);
  const [to = 0, toEnd = 0] = (item.after ?? "").split(" ").map(Number);
  const hosts = await writer.entitiesById(item.kind === "relation" ? [from, fromEnd] : [from]);
  if ([...hosts.values()].some(({ removedBy }) => removedBy !== null))
    throw cannotUndo(row, `the original entity of a moved ${item.kind} no longer exists`);
  if (item.kind === "observation") await writer.moveObservation(item.rowId, to, from);
  else await writer.moveRelation(item.rowId, [to, toEnd], [from, fromEnd]);
}

function cannotUndo(row: ChangeRow, why: string): ToolError {
  return new ToolError("conflict", `Change ${row.id} cannot be undone: ${why}. Nothing was changed.`, {
    hint: "Undo later changes first, starting with the newest; recent_changes lists them.",
  });
}

const DONE: Readonly<Record<ChangeItem["op"], string>> = {
  add: "added",
  remove: "deleted",
  restore: "restored",
  rename: "renamed",
  retype: "retyped",
  move: "moved",
};
const PLURAL = { entity: "entities", observation: "observations", relation: "relations" } as const;

/** What a change did, for people: "2 entities, 3 observations added; 1 relation deleted". */
export function describeItems(items: readonly Pick<ChangeItem, "kind" | "op">[]): string {
  return Object.entries(DONE)
    .flatMap(([op, done]) => {
      const counts: Partial<Record<keyof Counts, number>> = {};
      for (const item of items)
        if (item.op === op) counts[PLURAL[item.kind]] = (counts[PLURAL[item.kind]] ?? 0) + 1;
      const what = counted(counts);
      return what === "" ? [] : [`${what} ${done}`];
    })
    .join("; ");
}
