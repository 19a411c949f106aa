import { fold, foldedName, spaced } from "../text.ts";
import {
  type ChangeFacts,
  type ChangeItem,
  type EntityRow,
  type ItemOp,
  idsOf,
  type Kind,
  type ObservationRow,
} from "../types.ts";
import { batches, type IndexRow, TABLES, type Value } from "./connection.ts";
import { KINDS, readItems, writeItems } from "./items.ts";
import { Reader } from "./reader.ts";
import { contentKey, digest } from "./tables.ts";

/** How many rows are indexed at once. */
const INDEX_BATCH = 500;

/**
 * An observation to add. Without a time and a source it has those of the change; with `supersededAt` it is history from the
 * start (an import), otherwise current.
 */
export type NewObservation = {
  readonly entityId: number;
  readonly content: string;
  readonly source?: string | null | undefined;
  readonly createdAt?: number | undefined;
  readonly supersededAt?: number | undefined;
  /** The id of the observation that replaced it, if it is known. */
  readonly supersededBy?: number | undefined;
};
export type NewRelation = { readonly fromId: number; readonly toId: number; readonly type: string };

/** When an observation was replaced, and by which; 0 if that is unknown. */
export type Superseded = { readonly at: number; readonly by: number };

/** The kinds of rows that belong to an entity, and the columns that name it. */
const ATTACHED = [
  ["observation", "entity_id"],
  ["relation", "from_id"],
  ["relation", "to_id"],
] as const;

/** An entity, an observation, a relation or an item of the journal. */
type Row =
  | { readonly id: number }
  | { readonly id: number; readonly entityId: number }
  | { readonly id: number; readonly fromId: number; readonly toId: number }
  | ChangeItem;

/** A row, and the entities that it is or belongs to. */
type Touched = Pick<ChangeItem, "rowId" | "entityId" | "otherId">;

/**
 * A write of which all is kept or nothing. With `startChange` it is a change: every row it touches is also recorded, so that the
 * journal knows exactly what happened and can undo it.
 */
export class Writer extends Reader {
  /** The time of the write, milliseconds since 1970. */
  readonly #at = Date.now();
  #facts: ChangeFacts = { action: "" };
  #changeId: number | undefined;
  readonly #items: ChangeItem[] = [];
  /** Entities whose time of change is to be set, and those that were created with it. */
  readonly #touched = new Set<number>();
  readonly #fresh = new Set<number>();
  /** Rows of the search index that differ from the tables, by their ids there. */
  readonly #stale = new Set<number>();
  readonly #counted = {
    entity: { live: 0, removed: 0 },
    observation: { live: 0, removed: 0 },
    relation: { live: 0, removed: 0 },
  };

  startChange(facts: ChangeFacts): void {
    this.#facts = facts;
  }

  /** The change's id; the first call adds it to the journal. */
  async changeId(): Promise<number> {
    if (this.#changeId !== undefined) return this.#changeId;
    const { action, source = null, undoes = null, hard = false } = this.#facts;
    const columns = ["at", "action", "source", "undoes", "hard", "items"];
    const row = [this.#at, action, source, undoes, hard ? 1 : 0, "[]"];
    [this.#changeId] = await this.connection.insert("changes", columns, [row]);
    if (this.#changeId === undefined) throw new TypeError("the store returned no id for a change");
    return this.#changeId;
  }

  /** Writes the recorded items; undefined if nothing changed, in which case the journal has no entry. */
  async finishChange(): Promise<number | undefined> {
    if (this.#items.length === 0) return this.#changeId;
    const id = await this.changeId();
    await this.#writeItems(id, this.#items);
    const older = [...this.#touched].filter((entityId) => !this.#fresh.has(entityId));
    await this.#set("entity", older, { updated_at: this.#at });
    return id;
  }

  /** Updates the search index and the counters, as the last step before the commit. */
  async finish(): Promise<void> {
    for (const [index, kind] of KINDS.entries()) {
      const { live, removed } = this.#counted[kind];
      const update = "UPDATE counters SET live = live + ?, removed = removed + ? WHERE kind = ?";
      if (live !== 0 || removed !== 0) await this.connection.all(update, live, removed, index);
    }
    const ids = [...this.#stale];
    for (let at = 0; at < ids.length; at += INDEX_BATCH)
      await this.#index(ids.slice(at, at + INDEX_BATCH));
  }

  /** @returns the ids, in the given order */
  async addEntities(rows: readonly { name: string; type: string }[]): Promise<number[]> {
    const ids = await this.#insert(
      "entity",
      ["name", "name_key", "folded", "type", "created_at", "updated_at"],
      rows.map(({ name, type }) => [
        name,
        digest(name),
        foldedName(name),
        type,
        this.#at,
        this.#at,
      ]),
    );
    this.#record("entity", "add", idRows(ids));
    for (const id of ids) this.#fresh.add(id);
    this.#changed("entity", ids);
    return ids;
  }

  /** @returns the ids, in the given order */
  async addObservations(rows: readonly NewObservation[]): Promise<number[]> {
    const from = this.#facts.source ?? null;
    const ids = await this.#insert(
      "observation",
      [
        "entity_id",
        "content",
        "content_key",
        "source",
        "created_at",
        "superseded_at",
        "superseded_by",
      ],
      rows.map(
        ({
          entityId,
          content,
          source = from,
          createdAt = this.#at,
          supersededAt = null,
          supersededBy = null,
        }) => [
          entityId,
          content,
          contentKey(content),
          source,
          createdAt,
          supersededAt,
          supersededBy,
        ],
      ),
    );
    const old = rows.filter(({ supersededAt }) => supersededAt !== undefined).length;
    this.#count("observation", -old, 0);
    this.#record("observation", "add", idRows(ids, rows));
    this.#changed("observation", ids);
    return ids;
  }

  /** Marks current observations as replaced by others at the time of this change. */
  async supersede(
    pairs: readonly { readonly old: ObservationRow; readonly by: number }[],
  ): Promise<void> {
    for (const { old, by } of pairs) await this.setSuperseded(old, { at: this.#at, by });
  }

  /** Marks an observation as superseded, or without `to` as current again. */
  async setSuperseded(row: ObservationRow, to: Superseded | undefined): Promise<void> {
    const { id, supersededAt: at, supersededBy } = row;
    await this.#set("observation", [id], {
      superseded_at: to?.at ?? null,
      superseded_by: to?.by || null,
    });
    this.#count("observation", to === undefined ? 1 : -1, 0);
    const value = to === undefined ? `${at} ${supersededBy ?? 0}` : `${to.at} ${to.by}`;
    const touched = [touchedBy(row)];
    if (to === undefined) this.#record("observation", "revive", touched, value);
    else this.#record("observation", "supersede", touched, null, value);
    this.#changed("observation", [id]);
  }

  async addRelations(rows: readonly NewRelation[]): Promise<void> {
    const ids = await this.#insert(
      "relation",
      ["from_id", "to_id", "type", "created_at"],
      rows.map(({ fromId, toId, type }) => [fromId, toId, type, this.#at]),
    );
    this.#record("relation", "add", idRows(ids, rows));
  }

  /** Marks live rows as deleted by this change; they are rows or items of the journal. */
  async remove(kind: Kind, rows: readonly Row[]): Promise<void> {
    if (rows.length > 0) await this.#mark(kind, "remove", rows, await this.changeId());
  }

  /** Restores rows that a change in the journal deleted. */
  restore(kind: Kind, items: readonly ChangeItem[]): Promise<void> {
    return this.#mark(kind, "restore", items, null);
  }

  async #mark(
    kind: Kind,
    op: "remove" | "restore",
    rows: readonly Row[],
    by: number | null,
  ): Promise<void> {
    const touched = rows.map(touchedBy);
    const ids = touched.map(({ rowId }) => rowId);
    await this.#set(kind, ids, { removed_by: by });
    const sign = op === "remove" ? 1 : -1;
    const old = kind === "observation" ? await this.#superseded(ids) : 0;
    this.#count(kind, -sign * (ids.length - old), sign * ids.length);
    this.#changed(kind, ids);
    this.#record(kind, op, touched);
  }

  /** Renames an entity, or changes its type. */
  async alter({ id, name, type }: EntityRow, op: "rename" | "retype", to: string): Promise<void> {
    const names = { name: to, name_key: digest(to), folded: foldedName(to) };
    await this.#set("entity", [id], op === "rename" ? names : { type: to });
    this.#changed("entity", [id]);
    this.#record("entity", op, [touchedBy({ id })], op === "rename" ? name : type, to);
  }

  async moveObservation(id: number, from: number, to: number): Promise<void> {
    await this.#set("observation", [id], { entity_id: to });
    const touched = { rowId: id, entityId: to, otherId: from };
    this.#record("observation", "move", [touched], String(from), String(to));
  }

  /** @param from and `to` are pairs of entity ids: where the relation begins and where it ends. */
  async moveRelation(
    id: number,
    from: readonly number[],
    [fromId, toId]: readonly [number, number],
  ) {
    await this.#set("relation", [id], { from_id: fromId, to_id: toId });
    this.#record(
      "relation",
      "move",
      [touchedBy({ id, fromId, toId })],
      from.join(" "),
      `${fromId} ${toId}`,
    );
  }

  async setUndone(changeId: number, by: number): Promise<void> {
    await this.connection.all("UPDATE changes SET undone_by = ? WHERE id = ?", by, changeId);
  }

  async setMeta(key: string, value: string): Promise<void> {
    const upsert = "ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    await this.connection.all(`INSERT INTO meta (key, value) VALUES (?, ?) ${upsert}`, key, value);
  }

  /**
   * Removes changes made before a time from the journal, at most `limit`, and erases what they deleted; returns their
   * number.
   */
  async forgetChanges(before: number, limit: number): Promise<number> {
    const select = "SELECT id, items FROM changes WHERE at < ? ORDER BY id LIMIT ?";
    const changes = await this.connection.all<{ id: number; items: string }>(select, before, limit);
    const ids = new Set(idsOf(changes));
    const items = changes.flatMap((change) => readItems(change.items));
    for (const kind of KINDS) {
      const touched = items.flatMap((item) => (item.kind === kind ? [item.rowId] : []));
      const states = [...(await this.rows(kind, touched))];
      const gone = states.flatMap(([id, removedBy]) => (ids.has(removedBy ?? 0) ? [id] : []));
      await this.#erase(kind, gone);
    }
    await this.connection.all("DELETE FROM changes WHERE id {in}", [...ids]);
    return ids.size;
  }

  /** Erases rows, their items in the journal, and everything that belongs to erased entities. */
  async purge(kind: Kind, ids: readonly number[]): Promise<void> {
    const erased = await this.#erase(kind, ids);
    const select = "SELECT id, items FROM changes WHERE id > ? ORDER BY id LIMIT ?";
    const page = (after: number, limit: number) =>
      this.connection.all<{ id: number; items: string }>(select, after, limit);
    for await (const changes of batches(page, 100))
      for (const { id, items } of changes) {
        const all = readItems(items);
        const left = all.filter((item) => !erased.get(item.kind)?.has(item.rowId));
        if (left.length < all.length) await this.#writeItems(id, left);
      }
  }

  /** Erases rows and everything that belongs to them; returns all that was erased. */
  async #erase(kind: Kind, ids: readonly number[]): Promise<Map<Kind, Set<number>>> {
    const erased = new Map<Kind, Set<number>>([[kind, new Set(ids)]]);
    for (const [attached, column] of kind === "entity" ? ATTACHED : []) {
      const select = `SELECT id FROM ${TABLES[attached]} WHERE ${column} {in}`;
      const gone = idsOf(await this.connection.all<{ id: number }>(select, ids));
      await this.#erase(attached, gone);
      erased.set(attached, new Set([...(erased.get(attached) ?? []), ...gone]));
    }
    this.#changed(kind, ids);
    const states = await this.rows(kind, ids);
    const live = [...states].flatMap(([id, removedBy]) => (removedBy === null ? [id] : []));
    const old = kind === "observation" ? await this.#superseded(live) : 0;
    this.#count(kind, old - live.length, live.length - states.size);
    await this.connection.all(`DELETE FROM ${TABLES[kind]} WHERE id {in}`, ids);
    return erased;
  }

  /** Writes all entities and current observations to an empty search index. */
  async indexAll(): Promise<void> {
    for await (const rows of batches((after, limit) => this.entityPage(after, limit), INDEX_BATCH))
      await this.connection.index(rows.map(entityIndexRow));
    for await (const rows of batches(
      (after, limit) => this.allObservations(after, limit),
      INDEX_BATCH,
    ))
      await this.connection.index(rows.map(observationIndexRow));
  }

  async #index(ids: readonly number[]): Promise<void> {
    const entities = await this.entitiesById(ids.filter((id) => id < 0).map((id) => -id));
    const observations = await this.observationsById(
      ids.filter((id) => id > 0),
      "current",
    );
    const rows = [
      ...[...entities.values()].filter(({ removedBy }) => removedBy === null).map(entityIndexRow),
      ...observations.map(observationIndexRow),
    ];
    const indexed = new Set(idsOf(rows));
    await this.connection.unindex(ids.filter((id) => !indexed.has(id)));
    await this.connection.index(rows);
  }

  /** Notes that rows of the search index must be written again. */
  #changed(kind: Kind, ids: readonly number[]): void {
    if (kind !== "relation") for (const id of ids) this.#stale.add(kind === "entity" ? -id : id);
  }

  /** How many of these observations are superseded. */
  async #superseded(ids: readonly number[]): Promise<number> {
    const select =
      "SELECT count(*) AS count FROM observations WHERE id {in} AND superseded_at IS NOT NULL";
    const [{ count } = { count: 0 }] = await this.connection.all<{ count: number }>(select, ids);
    return count;
  }

  /** Records what was done to rows of one kind. */
  #record(
    kind: Kind,
    op: ItemOp,
    rows: readonly Touched[],
    before: string | null = null,
    after: string | null = null,
  ): void {
    for (const row of rows) {
      this.#items.push({ kind, op, ...row, before, after });
      this.#touched.add(row.entityId);
      if (row.otherId !== null) this.#touched.add(row.otherId);
    }
  }

  async #writeItems(changeId: number, items: readonly ChangeItem[]): Promise<void> {
    await this.connection.all(
      "UPDATE changes SET items = ? WHERE id = ?",
      writeItems(items),
      changeId,
    );
  }

  #count(kind: Kind, live: number, removed: number): void {
    this.#counted[kind].live += live;
    this.#counted[kind].removed += removed;
  }

  async #insert(
    kind: Kind,
    columns: readonly string[],
    rows: readonly Value[][],
  ): Promise<number[]> {
    this.#count(kind, rows.length, 0);
    return this.connection.insert(TABLES[kind], columns, rows);
  }

  /** Sets columns of rows. */
  async #set(
    kind: Kind,
    ids: readonly number[],
    values: Readonly<Record<string, Value>>,
  ): Promise<void> {
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    const update = `UPDATE ${TABLES[kind]} SET ${columns.join(", ")} WHERE id {in}`;
    await this.connection.all(update, ...Object.values(values), ids);
  }
}

const indexed = (text: string) => spaced(fold(text));

const entityIndexRow = ({ id, name, type }: EntityRow): IndexRow => ({
  id: -id,
  name: indexed(name),
  type: indexed(type),
  content: "",
});

const observationIndexRow = ({ id, content }: ObservationRow): IndexRow => ({
  id,
  name: "",
  type: "",
  content: indexed(content),
});

const idRows = (ids: readonly number[], rows: readonly object[] = []) =>
  ids.map((id, index) => touchedBy({ id, ...rows[index] }));

function touchedBy(row: Row): Touched {
  if ("rowId" in row) return { rowId: row.rowId, entityId: row.entityId, otherId: row.otherId };
  if ("fromId" in row) return { rowId: row.id, entityId: row.fromId, otherId: row.toId };
  return { rowId: row.id, entityId: "entityId" in row ? row.entityId : row.id, otherId: null };
}
