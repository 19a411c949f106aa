import { counted } from "../counts.ts";
import { fold, foldedName, spaced } from "../text.ts";
import {
  type ChangeFacts,
  type EntityRow,
  idsOf,
  type Kind,
  type ObservationRow,
} from "../types.ts";
import { batches, type IndexRow, parts, type Value } from "./connection.ts";
import { type Columns, Reader, type State } from "./reader.ts";
import { contentKey, digest, TABLES, type Table } from "./tables.ts";

/** How many rows are changed or indexed at once. */
const BATCH = 500;

/** An observation to add. Without a time and a source it has those of the change. */
export type NewObservation = {
  readonly entityId: number;
  readonly content: string;
  readonly source?: string | null | undefined;
  readonly createdAt?: number | undefined;
};
export type NewRelation = { readonly fromId: number; readonly toId: number; readonly type: string };

/**
 * A write that is kept as a whole or not at all. Every row that it adds or changes is also recorded with its columns before
 * and after, so that the journal knows exactly what happened and can undo it.
 */
export class Writer extends Reader {
  /** The time of the write, milliseconds since 1970. */
  readonly at = Date.now();
  #facts: ChangeFacts = { action: "" };
  #changeId: number | undefined;
  /** Entities whose time of change is to be set, and those that this write created with it. */
  readonly #touched = new Set<number>();
  readonly #fresh = new Set<number>();
  /** How many rows were added, deleted and so on: by the verb. */
  readonly #done = new Map<string, Partial<Record<Table, number>>>();
  /** Rows of the search index that differ from the tables, by their ids there. */
  readonly #stale = new Set<number>();

  startChange(facts: ChangeFacts): void {
    this.#facts = facts;
  }

  /** The change's id; the first call adds it to the list of changes. */
  async changeId(): Promise<number> {
    if (this.#changeId !== undefined) return this.#changeId;
    const { action, source = null, undoes = null, hard = false } = this.#facts;
    const columns = ["at", "action", "source", "undoes", "hard", "summary"];
    const row = [this.at, action, source, undoes, hard ? 1 : 0, ""];
    [this.#changeId] = await this.connection.insert("changes", columns, [row]);
    if (this.#changeId === undefined) throw new TypeError("the store returned no id for a change");
    return this.#changeId;
  }

  /** Completes the change and the search index, as the last step before the commit. @returns the change's id */
  async finish(): Promise<number | undefined> {
    const summary = [...this.#done]
      .map(([verb, counts]) => `${counted(counts)} ${verb}`)
      .join("; ");
    const update = "UPDATE changes SET summary = ? WHERE id = ?";
    if (summary !== "") await this.connection.all(update, summary, await this.changeId());
    const older = [...this.#touched].filter((id) => !this.#fresh.has(id));
    for (const ids of parts(older, BATCH))
      await this.#update("entity", ids, { updated_at: this.at });
    for (const ids of parts([...this.#stale], BATCH)) await this.#index(ids);
    return this.#changeId;
  }

  /** @returns the ids, in the given order */
  async addEntities(rows: readonly { name: string; type: string }[]): Promise<number[]> {
    const times = { created_at: this.at, updated_at: this.at };
    const values = rows.map(({ name, type }) => ({ ...named(name), type, ...times }));
    const ids = await this.#add("entity", values);
    for (const id of ids) this.#fresh.add(id);
    return ids;
  }

  /** @returns the ids, in the given order */
  addObservations(rows: readonly NewObservation[]): Promise<number[]> {
    const values = rows.map((row) => ({
      entity_id: row.entityId,
      content: row.content,
      content_key: contentKey(row.content),
      source: row.source === undefined ? (this.#facts.source ?? null) : row.source,
      created_at: row.createdAt ?? this.at,
    }));
    return this.#add("observation", values);
  }

  async addRelations(rows: readonly NewRelation[]): Promise<void> {
    const values = rows.map(({ fromId, toId, type }) => ({
      from_id: fromId,
      to_id: toId,
      type,
      created_at: this.at,
    }));
    await this.#add("relation", values);
  }

  async #add(kind: Kind, rows: readonly Columns[]): Promise<number[]> {
    const columns = Object.keys(rows[0] ?? {});
    const ids = await this.connection.insert(
      TABLES[kind],
      columns,
      rows.map((row) => Object.values(row)),
    );
    const added = ids.map((id, at) => {
      const { entity_id: host, from_id: from, to_id: to } = rows[at] ?? {};
      return { id, entityId: Number(host ?? from ?? id), otherId: to ? Number(to) : null };
    });
    await this.#record(kind, added, { removed_by: null });
    return ids;
  }

  /** Sets columns of rows, the same for all of them. */
  async set(kind: Kind, ids: readonly number[], values: Columns): Promise<void> {
    for (const part of parts(ids, BATCH)) {
      const before = [...(await this.states(kind, part, Object.keys(values))).values()];
      await this.#update(
        kind,
        part,
        "name" in values ? { ...values, ...named(values.name) } : values,
      );
      const movedTo = values.entity_id;
      const movedStates = before.map((state) =>
        typeof movedTo === "number"
          ? { ...state, entityId: movedTo, otherId: state.entityId }
          : state,
      );
      await this.#record(kind, movedStates, values);
    }
  }

  /** Marks live rows as deleted by this change. */
  async remove(kind: Kind, rows: readonly { readonly id: number }[]): Promise<void> {
    if (rows.length > 0) await this.set(kind, idsOf(rows), { removed_by: await this.changeId() });
  }

  async setUndone(changeId: number, by: number): Promise<void> {
    await this.connection.all("UPDATE changes SET undone_by = ? WHERE id = ?", by, changeId);
  }

  /** Erases rows with their part of the journal, and everything that belongs to erased entities. */
  async erase(kind: Kind, ids: readonly number[]): Promise<void> {
    await this.changeId();
    if (kind === "entity") {
      const attached = await this.attachedTo(ids);
      await this.erase("observation", attached.observation);
      await this.erase("relation", attached.relation);
    }
    this.#changed(kind, ids);
    await this.connection.all("DELETE FROM journal WHERE kind = ? AND row_id {in}", kind, ids);
    await this.connection.all(`DELETE FROM ${TABLES[kind]} WHERE id {in}`, ids);
  }

  /** Writes all entities and current observations to an empty search index. */
  async indexAll(): Promise<void> {
    for await (const rows of batches((after, limit) => this.entityPage(after, limit), BATCH))
      await this.connection.index(rows.map(entityIndexRow));
    for await (const rows of batches((after, limit) => this.allObservations(after, limit), BATCH))
      await this.connection.index(rows.map(observationIndexRow));
  }

  async #index(ids: readonly number[]): Promise<void> {
    const entities = await this.entitiesById(ids.flatMap((id) => (id < 0 ? [-id] : [])));
    const observations = await this.observationsById(
      ids.filter((id) => id > 0),
      "current",
    );
    const live = [...entities.values()].filter(({ removedBy }) => removedBy === null);
    const rows = [...live.map(entityIndexRow), ...observations.map(observationIndexRow)];
    const indexed = new Set(idsOf(rows));
    await this.connection.unindex(ids.filter((id) => !indexed.has(id)));
    await this.connection.index(rows);
  }

  /** Notes that rows of the search index must be written again. */
  #changed(kind: Kind, ids: readonly number[]): void {
    if (kind !== "relation") for (const id of ids) this.#stale.add(kind === "entity" ? -id : id);
  }

  /** Records what was done to rows of one kind; those that were added have no columns from before. */
  async #record(
    kind: Kind,
    rows: readonly (Omit<State, "columns"> & Partial<State>)[],
    after: Columns,
  ): Promise<void> {
    if (rows.length === 0) return;
    const change = await this.changeId();
    const json = JSON.stringify(after);
    const values = rows.map(({ id, entityId, otherId, columns: before }) => ({
      change_id: change,
      kind,
      row_id: id,
      entity_id: entityId,
      other_id: otherId,
      verb: verbOf(before, after),
      before: before === undefined ? null : JSON.stringify(before),
      after: json,
    }));
    await this.connection.insert(
      "journal",
      Object.keys(values[0] ?? {}),
      values.map(Object.values),
    );
    for (const { verb } of values) {
      const counts = this.#done.get(verb) ?? {};
      counts[TABLES[kind]] = (counts[TABLES[kind]] ?? 0) + 1;
      this.#done.set(verb, counts);
    }
    for (const { entityId, otherId } of rows) {
      this.#touched.add(entityId);
      if (otherId !== null) this.#touched.add(otherId);
    }
    this.#changed(kind, idsOf(rows));
  }

  async #update(kind: Kind, ids: readonly number[], values: Columns): Promise<void> {
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    const update = `UPDATE ${TABLES[kind]} SET ${columns.join(", ")} WHERE id {in}`;
    await this.connection.all(update, ...Object.values(values), ids);
  }
}

/** What a change did, in the words of a summary, from the columns that it changed. */
function verbOf(before: Columns | undefined, after: Columns): string {
  if (before === undefined) return "added";
  if ("removed_by" in after) return after.removed_by === null ? "restored" : "deleted";
  if ("superseded_at" in after)
    return after.superseded_at === null ? "made current again" : "superseded";
  if ("name" in after) return "renamed";
  return "type" in after ? "retyped" : "moved";
}

/** The columns that hold a name. */
function named(value: Value | undefined) {
  const name = String(value);
  return { name, name_key: digest(name), folded: foldedName(name) };
}

const indexed = (text: string) => spaced(fold(text));

const entityIndexRow = ({ id, name, type }: EntityRow): IndexRow => ({
  id: -id,
  text: indexed(`${name}\n${type}`),
});

const observationIndexRow = ({ id, content }: ObservationRow): IndexRow => ({
  id,
  text: indexed(content),
});
