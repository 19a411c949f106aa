import type { NewObservation, NewRelation, Writer } from "../store.ts";
import { foldedName } from "../text.ts";
import type { ChangeItem, Kind } from "../types.ts";
import { digest } from "./digest.ts";
import { SqlReader } from "./reader.ts";
import { TABLES, type Table } from "./session.ts";

/** The writing half of a store, in the SQL that SQLite and PostgreSQL share. */
export class SqlWriter extends SqlReader implements Writer {
  async insertChange(change: {
    at: number;
    action: string;
    source: string | null;
    undoes: number | null;
    hard: boolean;
  }): Promise<number> {
    const [id] = await this.session.insert(
      "changes",
      ["at", "action", "source", "undoes", "hard"],
      [[change.at, change.action, change.source, change.undoes, change.hard ? 1 : 0]],
    );
    if (id === undefined) throw new TypeError("the store gave a change no id");
    return id;
  }

  async insertItems(changeId: number, items: readonly ChangeItem[]): Promise<void> {
    await this.session.insert(
      "change_items",
      ["change_id", "seq", "kind", "op", "row_id", "entity_id", "other_id", "before_value", "after_value"],
      items.map((item, seq) => [
        changeId,
        seq,
        item.kind,
        item.op,
        item.rowId,
        item.entityId,
        item.otherId,
        item.before,
        item.after,
      ]),
    );
  }

  async insertEntities(rows: readonly { name: string; type: string }[], at: number): Promise<number[]> {
    const ids = await this.session.insert(
      "entities",
      ["name", "name_key", "folded", "type", "created_at", "updated_at"],
      rows.map(({ name, type }) => [name, digest(name), foldedName(name), type, at, at]),
    );
    await this.session.index(
      rows.map(({ name, type }, index) => ({ kind: "entity", id: ids[index] ?? 0, name, type })),
    );
    return ids;
  }

  async insertObservations(rows: readonly NewObservation[], at: number): Promise<number[]> {
    const ids = await this.session.insert(
      "observations",
      ["entity_id", "content", "content_key", "source", "created_at"],
      rows.map(({ entityId, content, source }) => [entityId, content, digest(content), source, at]),
    );
    await this.session.index(
      rows.map(({ entityId, content }, index) => ({
        kind: "observation",
        id: ids[index] ?? 0,
        entityId,
        content,
      })),
    );
    return ids;
  }

  insertRelations(rows: readonly NewRelation[], at: number): Promise<number[]> {
    return this.session.insert(
      "relations",
      ["from_id", "to_id", "type", "created_at"],
      rows.map(({ fromId, toId, type }) => [fromId, toId, type, at]),
    );
  }

  async remove(kind: Kind, ids: readonly number[], changeId: number): Promise<void> {
    await this.#set(TABLES[kind], "removed_by", changeId, ids);
    await this.session.unindex(kind, ids);
  }

  async restore(kind: Kind, ids: readonly number[]): Promise<void> {
    await this.#set(TABLES[kind], "removed_by", null, ids);
    if (kind === "entity") {
      const rows = await this.entitiesById(ids);
      await this.session.index(
        [...rows.values()].map(({ id, name, type }) => ({ kind: "entity", id, name, type })),
      );
    } else if (kind === "observation") {
      const rows = await this.session.among<{ id: number; entityId: number; content: string }>(
        `SELECT id, entity_id AS "entityId", content FROM observations WHERE id {in}`,
        ids,
      );
      await this.session.index(rows.map((row) => ({ kind: "observation", ...row })));
    }
  }

  async purge(kind: Kind, ids: readonly number[]): Promise<void> {
    if (kind === "entity") {
      const attached = async (from: string) =>
        (await this.session.among<{ id: number }>(`SELECT id FROM ${from} {in}`, ids)).map(({ id }) => id);
      await this.purge("observation", await attached("observations WHERE entity_id"));
      await this.purge("relation", await attached("relations WHERE from_id"));
      await this.purge("relation", await attached("relations WHERE to_id"));
    }
    await this.session.unindex(kind, ids);
    await this.session.among(`DELETE FROM change_items WHERE row_id {in} AND kind = ?`, ids, kind);
    await this.session.among(`DELETE FROM ${TABLES[kind]} WHERE id {in}`, ids);
  }

  async rename(entityId: number, name: string): Promise<void> {
    await this.session.run(
      "UPDATE entities SET name = ?, name_key = ?, folded = ? WHERE id = ?",
      name,
      digest(name),
      foldedName(name),
      entityId,
    );
    await this.#reindex(entityId);
  }

  async retype(entityId: number, type: string): Promise<void> {
    await this.session.run("UPDATE entities SET type = ? WHERE id = ?", type, entityId);
    await this.#reindex(entityId);
  }

  async moveObservation(id: number, entityId: number): Promise<void> {
    await this.session.run("UPDATE observations SET entity_id = ? WHERE id = ?", entityId, id);
    const rows = await this.session.all<{ content: string }>(
      "SELECT content FROM observations WHERE id = ?",
      id,
    );
    await this.session.unindex("observation", [id]);
    await this.session.index(rows.map(({ content }) => ({ kind: "observation", id, entityId, content })));
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

  async #reindex(entityId: number): Promise<void> {
    await this.session.unindex("entity", [entityId]);
    const rows = await this.entitiesById([entityId]);
    await this.session.index(
      [...rows.values()].map(({ id, name, type }) => ({ kind: "entity", id, name, type })),
    );
  }

  /** Sets one value in many rows. */
  async #set(table: Table, column: string, value: number | null, ids: readonly number[]): Promise<void> {
    await this.session.among(`UPDATE ${table} SET ${column} = ? WHERE id {in}`, ids, value);
  }
}
