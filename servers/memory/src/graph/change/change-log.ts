import type { Store, Writer } from "../store/store.ts";
import {
  type ChangeItem,
  type ItemOp,
  idsOf,
  type Kind,
  type NewObservation,
  type NewRelation,
} from "../types.ts";

/** The tool and source of a change. */
export interface ChangeFacts {
  /** The tool, for example `create_entities`. */
  readonly action: string;
  /** Where the facts come from, in the caller's words. */
  readonly source?: string | undefined;
  /** The change that is undone. */
  readonly undoes?: number;
  /** Rows are erased permanently. */
  readonly hard?: boolean;
}

/** A row and the entities it belongs to. */
interface Place {
  readonly id: number;
  readonly entityId: number;
  readonly otherId: number | null;
}

/** An entity, an observation, a relation or an item of the journal. */
type Row =
  | { readonly id: number }
  | { readonly id: number; readonly entityId: number }
  | { readonly id: number; readonly fromId: number; readonly toId: number }
  | ChangeItem;

/**
 * A change in progress: every row it touches is written and recorded together, so that the journal knows
 * exactly what happened and can undo it.
 */
export class ChangeLog {
  readonly writer: Writer;
  /** The time of the change, milliseconds since 1970. */
  readonly at: number;
  readonly #facts: ChangeFacts;
  readonly #items: ChangeItem[] = [];
  readonly #touched = new Set<number>();
  /** Entities of this change that already have its time. */
  readonly #fresh = new Set<number>();
  #id: number | undefined;

  constructor(writer: Writer, facts: ChangeFacts) {
    this.writer = writer;
    this.#facts = facts;
    this.at = Date.now();
  }

  /** The change's id; the first call adds it to the journal. */
  async id(): Promise<number> {
    this.#id ??= await this.writer.insertChange({
      at: this.at,
      action: this.#facts.action,
      source: this.#facts.source ?? null,
      undoes: this.#facts.undoes ?? null,
      hard: this.#facts.hard ?? false,
    });
    return this.#id;
  }

  async addEntities(rows: readonly { name: string; type: string }[]): Promise<number[]> {
    const ids = await this.writer.insertEntities(rows, this.at);
    const places = ids.map((id) => placeOf({ id }));
    this.#note("entity", "add", places);
    for (const id of ids) this.#fresh.add(id);
    return ids;
  }

  async addObservations(rows: readonly NewObservation[]): Promise<void> {
    const ids = await this.writer.insertObservations(rows, this.at);
    const places = rows.map((row, index) => placeOf({ ...row, id: ids[index] ?? 0 }));
    this.#note("observation", "add", places);
  }

  async addRelations(rows: readonly NewRelation[]): Promise<void> {
    const ids = await this.writer.insertRelations(rows, this.at);
    const places = rows.map((row, index) => placeOf({ ...row, id: ids[index] ?? 0 }));
    this.#note("relation", "add", places);
  }

  /** Deletes rows of one kind, given directly or as in the journal. */
  async remove(kind: Kind, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const places = rows.map(placeOf);
    await this.writer.remove(kind, idsOf(places), await this.id());
    this.#note(kind, "remove", places);
  }

  /** Restores rows of one kind that a change in the journal deleted. */
  async restoreItems(kind: Kind, items: readonly ChangeItem[]): Promise<void> {
    await this.writer.restore(kind, rowIdsOf(items));
    this.#note(kind, "restore", items.map(placeOf));
  }

  async rename(entity: { id: number; name: string }, name: string): Promise<void> {
    await this.writer.rename(entity.id, name);
    this.#note("entity", "rename", [placeOf(entity)], entity.name, name);
  }

  async retype(entity: { id: number; type: string }, type: string): Promise<void> {
    await this.writer.retype(entity.id, type);
    this.#note("entity", "retype", [placeOf(entity)], entity.type, type);
  }

  async moveObservation(id: number, from: number, to: number): Promise<void> {
    await this.writer.moveObservation(id, to);
    this.#note("observation", "move", [{ id, entityId: to, otherId: from }], String(from), String(to));
  }

  /** @param from and `to` are pairs of entity ids: where the relation begins and where it ends. */
  async moveRelation(
    id: number,
    from: readonly [number, number],
    to: readonly [number, number],
  ): Promise<void> {
    await this.writer.moveRelation(id, ...to);
    this.#note("relation", "move", [{ id, entityId: to[0], otherId: to[1] }], from.join(" "), to.join(" "));
  }

  /** Writes the recorded items; undefined if nothing changed, in which case the journal has no entry. */
  async finish(): Promise<number | undefined> {
    if (this.#items.length === 0) return this.#id;
    const id = await this.id();
    await this.writer.insertItems(id, this.#items);
    await this.writer.touch(
      [...this.#touched].filter((entityId) => !this.#fresh.has(entityId)),
      this.at,
    );
    return id;
  }

  #note(
    kind: Kind,
    op: ItemOp,
    places: readonly Place[],
    before: string | null = null,
    after: string | null = null,
  ): void {
    for (const { id, entityId, otherId } of places) {
      this.#items.push({ kind, op, rowId: id, entityId, otherId, before, after });
      this.#touched.add(entityId);
      if (otherId !== null) this.#touched.add(otherId);
    }
  }
}

function placeOf(row: Row): Place {
  if ("rowId" in row) return { id: row.rowId, entityId: row.entityId, otherId: row.otherId };
  if ("fromId" in row) return { id: row.id, entityId: row.fromId, otherId: row.toId };
  return { id: row.id, entityId: "entityId" in row ? row.entityId : row.id, otherId: null };
}

/** The rows that journal items refer to. */
export function rowIdsOf(items: readonly ChangeItem[]): number[] {
  return items.map(({ rowId }) => rowId);
}

const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 200;

/** Removes changes older than some days from the journal, and erases what they deleted. */
export async function prune(store: Store, days: number): Promise<void> {
  const before = Date.now() - days * DAY_MS;
  while ((await store.write((writer) => writer.forgetChanges(before, PRUNED_AT_ONCE))) === PRUNED_AT_ONCE);
}

/**
 * Writes one change, or nothing if `work` throws.
 *
 * @returns what `work` returns, and the change's id if anything changed.
 */
export function change<Value>(
  store: Store,
  facts: ChangeFacts,
  work: (log: ChangeLog) => Promise<Value>,
): Promise<{ value: Value; changeId: number | undefined }> {
  return store.write(async (writer) => {
    const log = new ChangeLog(writer, facts);
    const value = await work(log);
    return { value, changeId: await log.finish() };
  });
}
