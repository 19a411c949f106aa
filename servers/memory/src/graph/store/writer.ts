import { fold, foldedName, spaced } from "../text.ts";
import {
  type ChangeItem,
  type ChangeRow,
  idsOf,
  type Kind,
  type NewObservation,
  type NewRelation,
} from "../types.ts";
import { batches } from "./batches.ts";
import { TABLES, type Table } from "./connection.ts";
import { KINDS, Reader, readItems, writeItems } from "./reader.ts";
import { contentKey, digest } from "./tables.ts";

/** How many entities are indexed at once. */
const INDEX_BATCH = 500;

/** The key of `meta` that is set if there is a table of vectors. */
const HAS_VECTORS = "has_vectors";

/** The kinds of rows that belong to an entity, and the columns that name it. */
const ATTACHED = [
  ["observation", "entity_id"],
  ["relation", "from_id"],
  ["relation", "to_id"],
] as const;

/** The changes in one write, of which all are kept or none. Inserted ids are returned in the given order. */
export class Writer extends Reader {
  /** Entities whose texts differ from those in the search index. */
  readonly #stale = new Set<number>();
  readonly #counted = KINDS.map(() => ({ live: 0, removed: 0 }));

  /** Updates the search index and the counters, as the last step before the commit. */
  async finish(): Promise<void> {
    for (const [kind, { live, removed }] of this.#counted.entries())
      if (live !== 0 || removed !== 0)
        await this.session.run(
          "UPDATE counters SET live = live + ?, removed = removed + ? WHERE kind = ?",
          live,
          removed,
          kind,
        );
    const ids = [...this.#stale];
    for (let at = 0; at < ids.length; at += INDEX_BATCH) await this.#index(ids.slice(at, at + INDEX_BATCH));
  }

  /**
   * Removes changes made before a time from the journal, at most `limit`, and erases what they deleted; returns their
   * number.
   */
  async forgetChanges(before: number, limit: number): Promise<number> {
    const changes = await this.session.all<{ id: number; items: string }>(
      "SELECT id, items FROM changes WHERE at < ? ORDER BY id LIMIT ?",
      before,
      limit,
    );
    const ids = new Set(idsOf(changes));
    const items = changes.flatMap((change) => readItems(change.items));
    for (const kind of KINDS) {
      const touched = items.flatMap((item) => (item.kind === kind ? [item.rowId] : []));
      const gone = [...(await this.rows(kind, touched))].filter(([, removedBy]) => ids.has(removedBy ?? 0));
      await this.#erase(
        kind,
        gone.map(([id]) => id),
      );
    }
    await this.session.all("DELETE FROM changes WHERE id {in}", [...ids]);
    return ids.size;
  }

  /** Writes all live entities to an empty search index. */
  async indexAll(): Promise<void> {
    const page = (after: number, limit: number) => this.entityPage(after, limit);
    for await (const rows of batches(page, INDEX_BATCH)) await this.#index(idsOf(rows));
  }

  async #index(ids: readonly number[]): Promise<void> {
    const rows = [...(await this.entitiesById(ids)).values()].filter(({ removedBy }) => removedBy === null);
    const texts = await this.textsOf(idsOf(rows));
    const indexed = (text: string) => spaced(fold(text));
    await this.session.unindex(ids.filter((id) => !texts.has(id)));
    await this.session.index(
      rows.map(({ id, name, type }) => ({
        id,
        name: indexed(name),
        type: indexed(type),
        content: indexed((texts.get(id) ?? []).join("\n")),
      })),
    );
  }

  /** Removes all vectors, and creates their table if missing. */
  async dropVectors(): Promise<void> {
    await this.session.run("DROP TABLE IF EXISTS vectors");
    await this.session.run("CREATE TABLE vectors (observation_id bigint PRIMARY KEY, vector bytea NOT NULL)");
    await this.setMeta(HAS_VECTORS, "yes");
  }

  async insertVectors(rows: readonly { id: number; vector: Int8Array }[]): Promise<void> {
    for (const { id, vector } of rows)
      await this.session.run(
        "INSERT INTO vectors (observation_id, vector) VALUES (?, ?) ON CONFLICT (observation_id) DO NOTHING",
        id,
        Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
      );
  }

  #count(kind: Kind, live: number, removed: number): void {
    const counted = this.#counted[KINDS.indexOf(kind)];
    if (counted === undefined) return;
    counted.live += live;
    counted.removed += removed;
  }

  /** Notes that the texts of these rows' entities changed. */
  async #changed(kind: Kind, ids: readonly number[]): Promise<void> {
    if (kind === "entity") for (const id of ids) this.#stale.add(id);
    if (kind !== "observation") return;
    const hosts = await this.session.all<{ id: number }>(
      "SELECT DISTINCT entity_id AS id FROM observations WHERE id {in}",
      ids,
    );
    for (const { id } of hosts) this.#stale.add(id);
  }

  async insertChange(change: Omit<ChangeRow, "id" | "undoneBy">): Promise<number> {
    const [id] = await this.session.insert(
      "changes",
      ["at", "action", "source", "undoes", "hard", "items"],
      [[change.at, change.action, change.source, change.undoes, change.hard ? 1 : 0, "[]"]],
    );
    if (id === undefined) throw new TypeError("the store returned no id for a change");
    return id;
  }

  insertItems(changeId: number, items: readonly ChangeItem[]): Promise<void> {
    return this.session.run("UPDATE changes SET items = ? WHERE id = ?", writeItems(items), changeId);
  }

  async insertEntities(rows: readonly { name: string; type: string }[], at: number): Promise<number[]> {
    const ids = await this.session.insert(
      "entities",
      ["name", "name_key", "folded", "type", "created_at", "updated_at"],
      rows.map(({ name, type }) => [name, digest(name), foldedName(name), type, at, at]),
    );
    for (const id of ids) this.#stale.add(id);
    this.#count("entity", ids.length, 0);
    return ids;
  }

  async insertObservations(rows: readonly NewObservation[], at: number): Promise<number[]> {
    const ids = await this.session.insert(
      "observations",
      ["entity_id", "content", "content_key", "source", "created_at"],
      rows.map(({ entityId, content, source }) => [entityId, content, contentKey(content), source, at]),
    );
    for (const { entityId } of rows) this.#stale.add(entityId);
    this.#count("observation", ids.length, 0);
    return ids;
  }

  async insertRelations(rows: readonly NewRelation[], at: number): Promise<number[]> {
    this.#count("relation", rows.length, 0);
    return this.session.insert(
      "relations",
      ["from_id", "to_id", "type", "created_at"],
      rows.map(({ fromId, toId, type }) => [fromId, toId, type, at]),
    );
  }

  /** Marks live rows as deleted by a change. */
  async remove(kind: Kind, ids: readonly number[], changeId: number): Promise<void> {
    await this.#set(TABLES[kind], "removed_by", changeId, ids);
    this.#count(kind, -ids.length, ids.length);
    await this.#changed(kind, ids);
  }

  /** Restores deleted rows. */
  async restore(kind: Kind, ids: readonly number[]): Promise<void> {
    await this.#set(TABLES[kind], "removed_by", null, ids);
    this.#count(kind, ids.length, -ids.length);
    await this.#changed(kind, ids);
  }

  /** Erases rows, their items in the journal, and everything that belongs to erased entities. */
  async purge(kind: Kind, ids: readonly number[]): Promise<void> {
    const erased = await this.#erase(kind, ids);
    const page = (after: number, limit: number) =>
      this.session.all<{ id: number; items: string }>(
        "SELECT id, items FROM changes WHERE id > ? ORDER BY id LIMIT ?",
        after,
        limit,
      );
    for await (const changes of batches(page, 100))
      for (const { id, items } of changes) {
        const all = readItems(items);
        const left = all.filter((item) => !erased.get(item.kind)?.has(item.rowId));
        if (left.length < all.length) await this.insertItems(id, left);
      }
  }

  /** Erases rows and everything that belongs to them; returns all that was erased. */
  async #erase(kind: Kind, ids: readonly number[]): Promise<Map<Kind, Set<number>>> {
    const erased = new Map<Kind, Set<number>>([[kind, new Set(ids)]]);
    for (const [attached, column] of kind === "entity" ? ATTACHED : []) {
      const rows = await this.session.all<{ id: number }>(
        `SELECT id FROM ${TABLES[attached]} WHERE ${column} {in}`,
        ids,
      );
      const gone = idsOf(rows);
      await this.#erase(attached, gone);
      erased.set(attached, new Set([...(erased.get(attached) ?? []), ...gone]));
    }
    await this.#changed(kind, ids);
    const states = [...(await this.rows(kind, ids)).values()];
    const live = states.filter((removedBy) => removedBy === null).length;
    this.#count(kind, -live, live - states.length);
    await this.session.all(`DELETE FROM ${TABLES[kind]} WHERE id {in}`, ids);
    if (kind === "observation" && (await this.meta(HAS_VECTORS)) !== undefined)
      await this.session.all("DELETE FROM vectors WHERE observation_id {in}", ids);
    return erased;
  }

  async rename(entityId: number, name: string): Promise<void> {
    await this.session.run(
      "UPDATE entities SET name = ?, name_key = ?, folded = ? WHERE id = ?",
      name,
      digest(name),
      foldedName(name),
      entityId,
    );
    this.#stale.add(entityId);
  }

  async retype(entityId: number, type: string): Promise<void> {
    await this.session.run("UPDATE entities SET type = ? WHERE id = ?", type, entityId);
    this.#stale.add(entityId);
  }

  async moveObservation(id: number, entityId: number): Promise<void> {
    await this.#changed("observation", [id]);
    await this.session.run("UPDATE observations SET entity_id = ? WHERE id = ?", entityId, id);
    this.#stale.add(entityId);
  }

  moveRelation(id: number, fromId: number, toId: number): Promise<void> {
    return this.session.run("UPDATE relations SET from_id = ?, to_id = ? WHERE id = ?", fromId, toId, id);
  }

  touch(entityIds: readonly number[], at: number): Promise<void> {
    return this.#set("entities", "updated_at", at, entityIds);
  }

  setUndone(changeId: number, by: number | null): Promise<void> {
    return this.session.run("UPDATE changes SET undone_by = ? WHERE id = ?", by, changeId);
  }

  setMeta(key: string, value: string): Promise<void> {
    return this.session.run(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      key,
      value,
    );
  }

  /** Sets one value in many rows. */
  async #set(table: Table, column: string, value: number | null, ids: readonly number[]): Promise<void> {
    await this.session.all(`UPDATE ${table} SET ${column} = ? WHERE id {in}`, value, ids);
  }
}
