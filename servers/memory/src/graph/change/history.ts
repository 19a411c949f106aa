import { errorCode } from "@refmcp/boundary";
import { cursorsOf, fitting, ToolError } from "@refmcp/boundary/answer";
import { counted, NOUNS, quote } from "../read/names.ts";
import { naturals } from "../read/page.ts";
import type { Reader, Store, Writer } from "../store/store.ts";
import type { ChangeFacts, ChangeItem, ChangeRow } from "../types.ts";
import { change } from "./change.ts";

const NAMES = 5;
const FRAME = 300;

/** The journal, newest first. */
export async function recentChanges(
  store: Store,
  { limit, cursor, budget }: { limit: number; cursor?: string | undefined; budget: number },
) {
  const cursors = cursorsOf("recent_changes", [], naturals("before"));
  const before = cursors.decode(cursor)?.before;
  return store.read(async (reader) => {
    const rows = await reader.changes(before, limit + 1);
    const all = await showChanges(reader, rows.slice(0, limit));
    const changes = all.slice(0, fitting(all, budget - FRAME));
    const last = changes.at(-1);
    return {
      changes,
      next_cursor:
        last === undefined || rows.length <= changes.length
          ? undefined
          : cursors.encode({ before: last.change_id }),
    };
  });
}

async function showChanges(reader: Reader, rows: readonly ChangeRow[]) {
  const shown = [];
  for (const row of rows) {
    const items = await reader.itemsOf(row.id);
    const touched = [...new Set(items.map(({ entityId }) => entityId))].slice(0, NAMES);
    const entities = await reader.entitiesById(touched);
    shown.push({
      change_id: row.id,
      at: new Date(row.at).toISOString(),
      action: row.action,
      summary:
        describeItems(items) || (row.hard ? "erased permanently" : "nothing left to restore"),
      // Some of the entities that it affected.
      names: touched.flatMap((id) => entities.get(id)?.name.slice(0, 200).toWellFormed() ?? []),
      source: row.source ?? undefined,
      undone_by: row.undoneBy ?? undefined,
      undoes: row.undoes ?? undefined,
      permanent: row.hard || undefined,
    });
  }
  return shown;
}

/**
 * Undoes a whole change: removes what it added, restores what it deleted, and reverts what it renamed or moved. Undoing is
 * itself a change, so it can be undone.
 *
 * @throws ToolError `not_found` for an unknown id; `conflict` if it was already undone, was a hard deletion, or is prevented by
 *   later changes.
 */
export async function undoChange(store: Store, id: number, facts: ChangeFacts) {
  const { items, changeId } = await change(store, { ...facts, undoes: id }, async (writer) => {
    const row = await undoable(writer, id);
    const items = await writer.itemsOf(id);
    if (items.length === 0) throw cannotUndo(row, "everything it affected was erased permanently");
    // In reverse order: what was added last is removed first, what was deleted last is restored first.
    try {
      for (const group of groups([...items].reverse()))
        await OPERATIONS[group[0].op].revert(writer, row, group);
    } catch (error) {
      // A unique index refused the row: SQLite's code or PostgreSQL's `unique_violation`.
      const isDuplicate = ["SQLITE_CONSTRAINT_UNIQUE", "23505"].includes(errorCode(error) ?? "");
      throw isDuplicate ? cannotUndo(row, "the same was added again since") : error;
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
      {
        hint: "Add the facts again with create_entities or add_observations.",
      },
    );
  if (row.undoneBy !== null)
    throw new ToolError("conflict", `Change ${id} was already undone by change ${row.undoneBy}.`, {
      hint: `To redo it, undo change ${row.undoneBy}.`,
    });
  return row;
}

/** Groups adjacent items of the same kind and operation, so that a change of 50,000 rows is undone in few steps. */
function groups(items: readonly ChangeItem[]): Items[] {
  const found: [ChangeItem, ...ChangeItem[]][] = [];
  for (const item of items) {
    const last = found.at(-1);
    if (last?.[0].kind === item.kind && last[0].op === item.op) last.push(item);
    else found.push([item]);
  }
  return found;
}

type Revert = (writer: Writer, row: ChangeRow, items: Items) => Promise<void>;
/** Rows of one kind that a change affected in the same way. */
type Items = readonly [ChangeItem, ...ChangeItem[]];

const each =
  (revert: (writer: Writer, row: ChangeRow, item: ChangeItem) => Promise<void>): Revert =>
  async (writer, row, items) => {
    for (const item of items) await revert(writer, row, item);
  };

/** How each operation is undone, and what it did in a summary. */
const OPERATIONS: Readonly<
  Record<ChangeItem["op"], { readonly done: string; readonly revert: Revert }>
> = {
  add: { done: "added", revert: removeAdded },
  remove: { done: "deleted", revert: restoreDeleted },
  restore: { done: "restored", revert: removeAdded },
  rename: { done: "renamed", revert: each(resetText) },
  retype: { done: "retyped", revert: each(resetText) },
  move: { done: "moved", revert: each(moveBack) },
  supersede: { done: "superseded", revert: each(resetSuperseded) },
  revive: { done: "made current again", revert: each(resetSuperseded) },
};

async function removeAdded(writer: Writer, row: ChangeRow, items: Items): Promise<void> {
  const [{ kind }] = items;
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
      throw cannotUndo(
        row,
        `${quote(holder?.name ?? "")} has gained observations or relations since`,
      );
    }
  }
  await writer.remove(kind, items);
}

async function restoreDeleted(writer: Writer, row: ChangeRow, items: Items): Promise<void> {
  const [{ kind }] = items;
  const ids = items.map(({ rowId }) => rowId);
  const states = await writer.rows(kind, ids);
  if (ids.some((id) => states.get(id) !== row.id))
    throw cannotUndo(row, `a deleted ${kind} was erased or restored since`);
  const hosts = await writer.entitiesById(
    items.flatMap(({ entityId, otherId }) => (otherId === null ? [entityId] : [entityId, otherId])),
  );
  const isLive = (id: number | null) => id === null || hosts.get(id)?.removedBy === null;
  if (kind === "entity") {
    const names = [...hosts.values()].map(({ name }) => name);
    const [taken] = (await writer.entitiesNamed(names)).keys();
    if (taken !== undefined) throw cannotUndo(row, `another entity is now named ${quote(taken)}`);
  } else if (items.some(({ entityId, otherId }) => !isLive(entityId) || !isLive(otherId))) {
    throw cannotUndo(row, `the entity of a deleted ${kind} no longer exists`);
  }
  await writer.restore(kind, items);
}

async function resetText(writer: Writer, row: ChangeRow, item: ChangeItem): Promise<void> {
  const entity = (await writer.entitiesById([item.rowId])).get(item.rowId);
  const current = item.op === "rename" ? entity?.name : entity?.type;
  if (entity?.removedBy !== null || current !== item.after || item.before === null)
    throw cannotUndo(row, `${quote(item.after ?? "")} was changed or deleted since`);
  if (item.op === "retype") return writer.alter(entity, "retype", item.before);
  if ((await writer.entitiesNamed([item.before])).has(item.before))
    throw cannotUndo(row, `another entity is now named ${quote(item.before)}`);
  await writer.alter(entity, "rename", item.before);
}

/** A superseded observation becomes current again, or one that was made current is superseded again. */
async function resetSuperseded(writer: Writer, row: ChangeRow, item: ChangeItem): Promise<void> {
  const [fact] = await writer.observationsById([item.rowId], "kept");
  const current =
    fact?.supersededAt === null ? null : `${fact?.supersededAt ?? ""} ${fact?.supersededBy ?? 0}`;
  if (fact === undefined || current !== item.after)
    throw cannotUndo(row, "an observation that it replaced was changed or deleted since");
  const [at, by = 0] = (item.before ?? "").split(" ").map(Number);
  await writer.setSuperseded(
    fact,
    item.before === null || at === undefined ? undefined : { at, by },
  );
}

async function moveBack(writer: Writer, row: ChangeRow, item: ChangeItem): Promise<void> {
  const states = await writer.rows(item.kind, [item.rowId]);
  if (states.get(item.rowId) !== null)
    throw cannotUndo(row, `a moved ${item.kind} was deleted since`);
  const [from = 0, fromEnd = 0] = (item.before ?? "").split(" ").map(Number);
  const [to = 0, toEnd = 0] = (item.after ?? "").split(" ").map(Number);
  const hosts = await writer.entitiesById(item.kind === "relation" ? [from, fromEnd] : [from]);
  if ([...hosts.values()].some(({ removedBy }) => removedBy !== null))
    throw cannotUndo(row, `the original entity of a moved ${item.kind} no longer exists`);
  if (item.kind === "observation") await writer.moveObservation(item.rowId, to, from);
  else await writer.moveRelation(item.rowId, [to, toEnd], [from, fromEnd]);
}

function cannotUndo(row: ChangeRow, why: string): ToolError {
  return new ToolError(
    "conflict",
    `Change ${row.id} cannot be undone: ${why}. Nothing was changed.`,
    {
      hint: "Undo later changes first, starting with the newest; recent_changes lists them.",
    },
  );
}

/** What a change did, for people: "2 entities, 3 observations added; 1 relation deleted". */
function describeItems(items: readonly ChangeItem[]): string {
  const counts = new Map<string, number>();
  for (const { op, kind } of items)
    counts.set(`${op} ${kind}`, (counts.get(`${op} ${kind}`) ?? 0) + 1);
  return Object.entries(OPERATIONS)
    .flatMap(([op, { done }]) => {
      const what = counted(
        Object.fromEntries(NOUNS.map(([many, kind]) => [many, counts.get(`${op} ${kind}`)])),
      );
      return what === "" ? [] : [`${what} ${done}`];
    })
    .join("; ");
}
