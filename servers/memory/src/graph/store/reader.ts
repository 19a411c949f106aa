import { storable } from "../text.ts";
import {
  type ChangeRow,
  type Counts,
  type EntityRow,
  idsOf,
  type JournalRow,
  type Kind,
  type ObservationRow,
  type RelationRow,
  type Which,
  type Within,
} from "../types.ts";
import type { Connection, Parameter, Value } from "./connection.ts";
import { contentKey, digest, TABLES } from "./tables.ts";

const ENTITY = `e.id, e.name, e.type, e.created_at AS "createdAt", e.updated_at AS "updatedAt",
  e.removed_by AS "removedBy"`;
const OBSERVATION = `o.id, o.entity_id AS "entityId", o.content, o.source,
  o.created_at AS "createdAt", o.removed_by AS "removedBy", o.superseded_at AS "supersededAt",
  o.superseded_by AS "supersededBy"`;
const RELATION = `r.id, r.from_id AS "fromId", r.to_id AS "toId", f.name AS "from", t.name AS "to",
  r.type, r.removed_by AS "removedBy"`;
const RELATIONS =
  "relations r JOIN entities f ON f.id = r.from_id JOIN entities t ON t.id = r.to_id";
const CHANGE = `c.id, c.at, c.action, c.source, c.undoes, c.undone_by AS "undoneBy", c.hard,
  c.summary`;
const JOURNAL = `j.id, j.kind, j.row_id AS "rowId", j.entity_id AS "entityId",
  j.other_id AS "otherId", j.before, j.after`;

/** The columns with the entities that a row is or belongs to. */
const HOSTS: Readonly<Record<Kind, string>> = {
  entity: `id AS "entityId", NULL AS "otherId"`,
  observation: `entity_id AS "entityId", NULL AS "otherId"`,
  relation: `from_id AS "entityId", to_id AS "otherId"`,
};

/** No limit. */
const ALL = 2 ** 31 - 1;

/** The condition on observations, beginning with AND. */
const WHICH: Readonly<Record<Which, string>> = {
  current: " AND o.removed_by IS NULL AND o.superseded_at IS NULL",
  kept: " AND o.removed_by IS NULL",
  all: "",
};

/** Which relations of some entities are wanted; by default all that are not deleted. */
interface RelationQuery {
  readonly column?: "from_id" | "to_id";
  /** Only those with a higher id. */
  readonly after?: number;
  readonly limit?: number;
  /** Includes softly deleted ones. */
  readonly alsoRemoved?: boolean;
}

/** The values of columns, by their names. */
export type Columns = Readonly<Record<string, Value>>;

/** A row with some of its columns, and the entities that it is or belongs to. */
export type State = { readonly id: number; readonly entityId: number } & {
  readonly otherId: number | null;
  readonly columns: Columns;
};

/**
 * The queries of a store in one consistent snapshot, in the SQL that SQLite and PostgreSQL share. Lists are in the
 * order of their ids, that is, of creation, if nothing else is said.
 */
export class Reader {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async entitiesNamed(names: readonly string[]): Promise<Map<string, EntityRow>> {
    const where = "e.name_key {in} AND e.removed_by IS NULL";
    const rows = await this.#entities(where, names.map(digest));
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** Deleted entities with these names, the latest last. */
  removedNamed(names: readonly string[]): Promise<EntityRow[]> {
    const where = "e.name_key {in} AND e.removed_by IS NOT NULL ORDER BY e.id";
    return this.#entities(where, names.map(digest));
  }

  /** Includes deleted entities. */
  async entitiesById(ids: readonly number[]): Promise<Map<number, EntityRow>> {
    const rows = await this.#entities("e.id {in}", ids);
    return new Map(rows.map((row) => [row.id, row]));
  }

  entityPage(after: number, limit: number): Promise<EntityRow[]> {
    const where = "e.id > ? AND e.removed_by IS NULL ORDER BY e.id LIMIT ?";
    return this.#entities(where, after, limit);
  }

  /** Entities changed within the times, newest first. */
  recentEntities({ since, until, types = [] }: Within, limit: number): Promise<EntityRow[]> {
    const from = since === undefined ? "" : " AND e.updated_at >= ?";
    const to = until === undefined ? "" : " AND e.updated_at <= ?";
    const typed = types.length === 0 ? "" : ` AND e.type IN (${types.map(() => "?").join(", ")})`;
    const where = `e.removed_by IS NULL${from}${to}${typed}`;
    const params = [since, until, ...types.map(storable)].filter((value) => value !== undefined);
    const newest = `${where} ORDER BY e.updated_at DESC, e.id DESC LIMIT ?`;
    return this.#entities(newest, ...params, limit);
  }

  /** Entities whose folded name begins with the folded prefix, by name. */
  namesFrom(foldedPrefix: string, limit: number): Promise<EntityRow[]> {
    const where = "e.folded >= ? AND e.folded < ? AND e.removed_by IS NULL";
    return this.#entities(
      `${where} ORDER BY e.folded, e.id LIMIT ?`,
      foldedPrefix,
      `${foldedPrefix}\u{10ffff}`,
      limit,
    );
  }

  #entities(where: string, ...params: readonly Parameter[]): Promise<EntityRow[]> {
    return this.connection.all(`SELECT ${ENTITY} FROM entities e WHERE ${where}`, ...params);
  }

  /** In the order of their times. */
  observationsOf(
    entityIds: readonly number[],
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    const where = `o.entity_id {in}${WHICH[which]} ORDER BY o.created_at, o.id`;
    return this.#observations(where, entityIds);
  }

  observationsById(ids: readonly number[], which: Which = "all"): Promise<ObservationRow[]> {
    return this.#observations(`o.id {in}${WHICH[which]} ORDER BY o.id`, ids);
  }

  /** Observations of an entity after the one with an id, in the order of their times. */
  observationPage(
    entityId: number,
    after: number,
    limit: number,
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    const start = "coalesce((SELECT s.created_at FROM observations s WHERE s.id = ?), ?)";
    const where = `o.entity_id = ? AND (o.created_at, o.id) > (${start}, ?)${WHICH[which]}`;
    return this.#observations(
      `${where} ORDER BY o.created_at, o.id LIMIT ?`,
      entityId,
      after,
      Number.MIN_SAFE_INTEGER,
      after,
      limit,
    );
  }

  /** Observations of entities with these contents. */
  observationsMatching(
    facts: readonly { readonly entityId: number; readonly content: string }[],
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    const pairs = facts.map(({ entityId, content }) => [entityId, contentKey(content)] as const);
    const where = `(o.entity_id, o.content_key) {pairs}${WHICH[which]} ORDER BY o.id`;
    return this.#observations(where, pairs);
  }

  /** The current observations of an entity, newest first. */
  newestOf(entityId: number, limit: number): Promise<ObservationRow[]> {
    const where = `o.entity_id = ?${WHICH.current} ORDER BY o.created_at DESC, o.id DESC LIMIT ?`;
    return this.#observations(where, entityId, limit);
  }

  /** Current observations after an id, for the search index. */
  allObservations(after: number, limit: number): Promise<ObservationRow[]> {
    return this.#observations(`o.id > ?${WHICH.current} ORDER BY o.id LIMIT ?`, after, limit);
  }

  #observations(where: string, ...params: readonly Parameter[]): Promise<ObservationRow[]> {
    const select = `SELECT ${OBSERVATION} FROM observations o WHERE ${where}`;
    return this.connection.all(select, ...params);
  }

  async observationCounts(
    entityIds: readonly number[],
    which: Which = "current",
  ): Promise<Map<number, number>> {
    const rows = await this.connection.all<{ entityId: number; count: number }>(
      `SELECT o.entity_id AS "entityId", count(*) AS count FROM observations o
       WHERE o.entity_id {in}${WHICH[which]} GROUP BY o.entity_id`,
      entityIds,
    );
    return new Map(rows.map((row) => [row.entityId, row.count]));
  }

  relationPage(after: number, limit: number): Promise<RelationRow[]> {
    return this.#relations("r.id > ? AND r.removed_by IS NULL ORDER BY r.id LIMIT ?", after, limit);
  }

  /**
   * Relations of the entities, each once: those that begin or end at one, or only those that do so in a column. One index
   * lookup per column instead of an OR, for which SQLite would scan. Few rows are sorted here, because SQLite's sorter costs
   * more than to read them.
   */
  async relationsOf(
    ids: readonly number[],
    { column, after = 0, limit = ALL, alsoRemoved = false }: RelationQuery = {},
  ): Promise<RelationRow[]> {
    const live = alsoRemoved ? "" : " AND r.removed_by IS NULL";
    const rows = new Map<number, RelationRow>();
    for (const end of column === undefined ? ["from_id", "to_id"] : [column]) {
      const where = `r.${end} {in}${live} AND r.id > ?`;
      let part = await this.#relations(`${where} LIMIT ?`, ids, after, limit);
      if (part.length === limit)
        part = await this.#relations(`${where} ORDER BY r.id LIMIT ?`, ids, after, limit);
      for (const row of part) rows.set(row.id, row);
    }
    return [...rows.values()].sort((a, b) => a.id - b.id).slice(0, limit);
  }

  /** Relations of entities after `first` until `last` with each other and with earlier ones. */
  relationsWithin(first: number, last: number, after: number, limit: number) {
    const ends = "(r.from_id > ? OR r.to_id > ?) AND r.from_id <= ? AND r.to_id <= ?";
    const where = `${ends} AND r.id > ? AND r.removed_by IS NULL ORDER BY r.id LIMIT ?`;
    return this.#relations(where, first, first, last, last, after, limit);
  }

  /** All relations from one entity to another, for several pairs. */
  relationsBetween(
    ends: readonly { fromId: number; toId: number }[],
    alsoRemoved = false,
  ): Promise<RelationRow[]> {
    return this.#relations(
      `(r.from_id, r.to_id) {pairs}${alsoRemoved ? "" : " AND r.removed_by IS NULL"} ORDER BY r.id`,
      ends.map(({ fromId, toId }) => [fromId, toId]),
    );
  }

  #relations(where: string, ...params: readonly Parameter[]): Promise<RelationRow[]> {
    return this.connection.all(`SELECT ${RELATION} FROM ${RELATIONS} WHERE ${where}`, ...params);
  }

  /** How much there is, without what is deleted or superseded. */
  async counts(): Promise<Counts> {
    const [row] = await this.connection.all<Counts>(
      `SELECT (SELECT count(*) FROM entities WHERE removed_by IS NULL) AS entities,
         (SELECT count(*) FROM observations
           WHERE removed_by IS NULL AND superseded_at IS NULL) AS observations,
         (SELECT count(*) FROM relations WHERE removed_by IS NULL) AS relations`,
    );
    return row ?? { entities: 0, observations: 0, relations: 0 };
  }

  /** About how many entities and observations there are, without counting: the deleted ones are included. */
  async size(): Promise<number> {
    const [row] = await this.connection.all<{ size: number }>(
      `SELECT (SELECT coalesce(max(id), 0) FROM entities)
         + (SELECT coalesce(max(id), 0) FROM observations) AS size`,
    );
    return row?.size ?? 0;
  }

  /** The most frequent types of entities. */
  typeCounts(limit: number): Promise<{ type: string; count: number }[]> {
    return this.connection.all(
      `SELECT type, count(*) AS count FROM entities WHERE removed_by IS NULL
       GROUP BY type ORDER BY count(*) DESC, min(id) LIMIT ?`,
      limit,
    );
  }

  async change(id: number): Promise<ChangeRow | undefined> {
    return (await this.#changes("c.id = ?", id))[0];
  }

  /** The newest first; `before` continues below that id. */
  changes(before: number | undefined, limit: number): Promise<ChangeRow[]> {
    const where = "c.id < ? ORDER BY c.id DESC LIMIT ?";
    return this.#changes(where, before ?? Number.MAX_SAFE_INTEGER, limit);
  }

  async #changes(where: string, ...params: readonly Value[]): Promise<ChangeRow[]> {
    const select = `SELECT ${CHANGE} FROM changes c WHERE ${where}`;
    type Stored = Omit<ChangeRow, "hard"> & { hard: number };
    const rows = await this.connection.all<Stored>(select, ...params);
    return rows.map((row) => ({ ...row, hard: row.hard !== 0 }));
  }

  /** What a change did to rows, the last first; `before` continues below that id. */
  journal(
    changeId: number,
    limit: number,
    before = Number.MAX_SAFE_INTEGER,
  ): Promise<JournalRow[]> {
    return this.connection.all(
      `SELECT ${JOURNAL} FROM journal j WHERE j.change_id = ? AND j.id < ?
       ORDER BY j.id DESC LIMIT ?`,
      changeId,
      before,
      limit,
    );
  }

  /** The names of the entities in the first rows of a change. */
  async touchedNames(changeId: number, rows: number): Promise<string[]> {
    const names = await this.connection.all<{ name: string }>(
      `SELECT e.name FROM (SELECT * FROM journal WHERE change_id = ? ORDER BY id LIMIT ?) j
         JOIN entities e ON e.id = j.entity_id OR e.id = j.other_id
       GROUP BY e.id, e.name ORDER BY min(j.id), e.id`,
      changeId,
      rows,
    );
    return names.map(({ name }) => name);
  }

  /** Rows that exist, deleted or not, with some of their columns. */
  async states(
    kind: Kind,
    ids: readonly number[],
    columns: readonly string[],
  ): Promise<Map<number, State>> {
    type Row = Omit<State, "columns"> & Columns;
    const select = `SELECT id, ${HOSTS[kind]}, ${columns.join(", ")} FROM ${TABLES[kind]}`;
    const rows = await this.connection.all<Row>(`${select} WHERE id {in} ORDER BY id`, ids);
    const states = rows.map((row) => ({
      id: row.id,
      entityId: row.entityId,
      otherId: row.otherId,
      columns: Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
    }));
    return new Map(states.map((state) => [state.id, state]));
  }

  /** The ids of all observations and relations of entities, deleted or not. */
  async attachedTo(ids: readonly number[]): Promise<Record<"observation" | "relation", number[]>> {
    const observations = "SELECT id FROM observations WHERE entity_id {in}";
    const relations = await this.relationsOf(ids, { alsoRemoved: true });
    return {
      observation: idsOf(await this.connection.all<{ id: number }>(observations, ids)),
      relation: idsOf(relations),
    };
  }
}
