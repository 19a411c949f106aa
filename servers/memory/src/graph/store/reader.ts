import {
  type ChangeItem,
  type ChangeRow,
  type Counts,
  type Direction,
  type EntityRow,
  type Kind,
  type ObservationRow,
  type RelationRow,
  rarityOf,
  type WeightedWord,
  type Which,
  type Within,
} from "../types.ts";
import {
  type Connection,
  type Indexed,
  MAX_COUNTED,
  type Parameter,
  TABLES,
  type Value,
} from "./connection.ts";
import { readItems } from "./items.ts";
import { contentKey, digest } from "./tables.ts";

const ENTITY = `e.id, e.name, e.type, e.created_at AS "createdAt", e.updated_at AS "updatedAt", e.removed_by AS "removedBy"`;
const OBSERVATION = `o.id, o.entity_id AS "entityId", o.content, o.source, o.created_at AS "createdAt", o.removed_by AS "removedBy", o.superseded_at AS "supersededAt", o.superseded_by AS "supersededBy"`;
const RELATION = `r.id, r.from_id AS "fromId", r.to_id AS "toId", f.name AS "from", t.name AS "to", r.type, r.removed_by AS "removedBy"`;
const RELATIONS =
  "relations r JOIN entities f ON f.id = r.from_id JOIN entities t ON t.id = r.to_id";
const CHANGE = `c.id, c.at, c.action, c.source, c.undoes, c.undone_by AS "undoneBy", c.hard`;

/** How many observations are read ahead. */
const MAX_AHEAD = 1_000;
/** Weight of a word that is only similar to the one in the query. */
const NEAR_WEIGHT = 0.7;

/** No limit. */
const ALL = 2 ** 31 - 1;

/** The condition that rows of a table are not softly deleted, unless those are wanted too. */
const live = (alias: string, alsoRemoved = false) =>
  alsoRemoved ? "" : ` AND ${alias}.removed_by IS NULL`;

/** The condition on observations, beginning with AND. */
const WHICH: Readonly<Record<Which, string>> = {
  current: " AND o.removed_by IS NULL AND o.superseded_at IS NULL",
  kept: " AND o.removed_by IS NULL",
  all: "",
};

/** The condition that a column has one of some types; always true if there are none. */
const typed = (column: string, types: readonly string[]) =>
  types.length === 0 ? "" : ` AND ${column} IN (${types.map(() => "?").join(", ")})`;

/** The conditions of a search, beginning with AND, and their parameters. */
function conditions({ since, until, types = [] }: Within): { where: string; params: Value[] } {
  const from = since === undefined ? "" : " AND e.updated_at >= ?";
  const to = until === undefined ? "" : " AND e.updated_at <= ?";
  return {
    where: `${from}${to}${typed("e.type", types)}`,
    params: [since, until, ...types].filter((value) => value !== undefined),
  };
}

/** Which relations of some entities are wanted; by default all that are not deleted. */
interface RelationQuery {
  readonly direction?: Direction;
  readonly types?: readonly string[] | undefined;
  /** Only those with a higher id. */
  readonly after?: number;
  readonly limit?: number;
  /** Includes softly deleted ones. */
  readonly alsoRemoved?: boolean;
}

/**
 * The queries of a store in one consistent snapshot, in the SQL that SQLite and PostgreSQL share. Lists are in the order of
 * their ids, that is, of creation.
 */
export class Reader {
  protected readonly connection: Connection;
  /** What `readAhead` read. */
  #ahead = new Map<number, ObservationRow[]>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async entitiesNamed(names: readonly string[]): Promise<Map<string, EntityRow>> {
    const rows = await this.#entities(
      "e.name_key {in} AND e.removed_by IS NULL",
      names.map(digest),
    );
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** Deleted entities with these names, the latest last. */
  removedNamed(names: readonly string[]): Promise<EntityRow[]> {
    return this.#entities(
      "e.name_key {in} AND e.removed_by IS NOT NULL ORDER BY e.id",
      names.map(digest),
    );
  }

  /** Includes deleted entities. */
  async entitiesById(ids: readonly number[]): Promise<Map<number, EntityRow>> {
    const rows = await this.#entities("e.id {in}", ids);
    return new Map(rows.map((row) => [row.id, row]));
  }

  entityPage(after: number, limit: number): Promise<EntityRow[]> {
    return this.#entities("e.id > ? AND e.removed_by IS NULL ORDER BY e.id LIMIT ?", after, limit);
  }

  /** Entities changed within the times, newest first. */
  recentEntities(within: Within, limit: number): Promise<EntityRow[]> {
    const { where, params } = conditions(within);
    const newest = `e.removed_by IS NULL${where} ORDER BY e.updated_at DESC, e.id DESC LIMIT ?`;
    return this.#entities(newest, ...params, limit);
  }

  /** Entities whose folded name begins with the folded prefix, by name. */
  namesFrom(foldedPrefix: string, limit: number): Promise<EntityRow[]> {
    return this.#entities(
      "e.folded >= ? AND e.folded < ? AND e.removed_by IS NULL ORDER BY e.folded, e.id LIMIT ?",
      foldedPrefix,
      `${foldedPrefix}\u{10ffff}`,
      limit,
    );
  }

  #entities(where: string, ...params: readonly Parameter[]): Promise<EntityRow[]> {
    return this.connection.all(`SELECT ${ENTITY} FROM entities e WHERE ${where}`, ...params);
  }

  observationsOf(
    entityIds: readonly number[],
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    return this.#observations(
      `o.entity_id {in}${WHICH[which]} ORDER BY o.created_at, o.id`,
      entityIds,
    );
  }

  /** Includes superseded and softly deleted ones, unless `which` says otherwise. */
  observationsById(ids: readonly number[], which: Which = "all"): Promise<ObservationRow[]> {
    return this.#observations(`o.id {in}${WHICH[which]} ORDER BY o.id`, ids);
  }

  /** The current observations of entities, in the order of their times. */
  async textsOf(entityIds: readonly number[]): Promise<Map<number, string[]>> {
    const texts = new Map<number, string[]>(entityIds.map((id) => [id, []]));
    for (const { entityId, content } of await this.observationsOf(entityIds))
      texts.get(entityId)?.push(content);
    return texts;
  }

  /**
   * Reads the current observations of entities at once, for `observationPage`: a query for each is most of the cost of listing a
   * small graph. Entities whose observations do not fit are left to it.
   */
  async readAhead(entityIds: readonly number[]): Promise<void> {
    const where = `o.entity_id {in}${WHICH.current} ORDER BY o.entity_id, o.created_at, o.id LIMIT ${MAX_AHEAD}`;
    const rows = await this.#observations(where, entityIds);
    const cut = rows.length === MAX_AHEAD ? (rows.at(-1)?.entityId ?? 0) : Number.POSITIVE_INFINITY;
    this.#ahead = new Map(entityIds.filter((id) => id < cut).map((id) => [id, []]));
    for (const row of rows) this.#ahead.get(row.entityId)?.push(row);
  }

  /** Observations of an entity after the one with an id, in the order of their times. */
  async observationPage(
    entityId: number,
    after: number,
    limit: number,
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    const ahead = which === "current" && after === 0 ? this.#ahead.get(entityId) : undefined;
    if (ahead !== undefined) return ahead.slice(0, limit);
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

  /** Observations of one entity with these contents. */
  observationsMatching(
    entityId: number,
    contents: readonly string[],
    which: Which = "current",
  ): Promise<ObservationRow[]> {
    const where = `o.content_key {in} AND o.entity_id = ?${WHICH[which]} ORDER BY o.id`;
    return this.#observations(where, contents.map(contentKey), entityId);
  }

  #observations(where: string, ...params: readonly Parameter[]): Promise<ObservationRow[]> {
    return this.connection.all(
      `SELECT ${OBSERVATION} FROM observations o WHERE ${where}`,
      ...params,
    );
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
   * Relations of the entities, each once: those that begin at one (`out`), end at one (`in`), or both. One index lookup per
   * column instead of an OR, for which SQLite would scan.
   *
   * @param condition another one in SQL, starting with AND
   */
  async relationsOf(
    ids: readonly number[],
    { direction = "both", types = [], after = 0, limit = ALL, alsoRemoved }: RelationQuery = {},
    condition = "",
  ): Promise<RelationRow[]> {
    const columns = { out: ["from_id"], in: ["to_id"], both: ["from_id", "to_id"] }[direction];
    const wanted = `${condition}${live("r", alsoRemoved)} AND r.id > ?${typed("r.type", types)}`;
    const found = new Map<number, RelationRow>();
    for (const column of columns) {
      const where = `r.${column} {in}${wanted} ORDER BY r.id LIMIT ?`;
      for (const row of await this.#relations(where, ids, after, ...types, limit))
        found.set(row.id, row);
    }
    return [...found.values()].sort((a, b) => a.id - b.id).slice(0, limit);
  }

  /**
   * Relations of the entities with entities that are not newer. In a list of all entities by age, each relation then comes once,
   * when both its ends are known.
   */
  async relationsToEarlier(
    ids: readonly number[],
    after: number,
    limit: number,
  ): Promise<RelationRow[]> {
    const page = { after, limit };
    const from = await this.relationsOf(
      ids,
      { ...page, direction: "out" },
      " AND r.to_id <= r.from_id",
    );
    const to = await this.relationsOf(
      ids,
      { ...page, direction: "in" },
      " AND r.from_id < r.to_id",
    );
    return [...from, ...to].sort((a, b) => a.id - b.id).slice(0, limit);
  }

  /** All relations from one entity to another, for several pairs. */
  relationsBetween(
    ends: readonly { fromId: number; toId: number }[],
    alsoRemoved = false,
  ): Promise<RelationRow[]> {
    return this.#relations(
      `(r.from_id, r.to_id) {pairs}${live("r", alsoRemoved)} ORDER BY r.id`,
      ends.map(({ fromId, toId }) => [fromId, toId]),
    );
  }

  #relations(where: string, ...params: readonly Parameter[]): Promise<RelationRow[]> {
    return this.connection.all(`SELECT ${RELATION} FROM ${RELATIONS} WHERE ${where}`, ...params);
  }

  /** Entities by the number of their relations, the best connected first. */
  degrees(limit: number): Promise<{ entityId: number; degree: number }[]> {
    return this.connection.all(
      `SELECT e.id AS "entityId", coalesce(d.degree, 0) AS degree FROM entities e LEFT JOIN (
         SELECT id, count(*) AS degree FROM (
           SELECT from_id AS id FROM relations WHERE removed_by IS NULL
           UNION ALL SELECT to_id FROM relations WHERE removed_by IS NULL
         ) ends GROUP BY id
       ) d ON d.id = e.id
       WHERE e.removed_by IS NULL ORDER BY coalesce(d.degree, 0) DESC, e.id LIMIT ?`,
      limit,
    );
  }

  /** Current observations after an id, for the search index. */
  allObservations(after: number, limit: number): Promise<ObservationRow[]> {
    return this.#observations(`o.id > ?${WHICH.current} ORDER BY o.id LIMIT ?`, after, limit);
  }

  /** Rows that exist, each with the change that deleted it, if any. */
  async rows(kind: Kind, ids: readonly number[]): Promise<Map<number, number | null>> {
    const rows = await this.connection.all<{ id: number; removedBy: number | null }>(
      `SELECT id, removed_by AS "removedBy" FROM ${TABLES[kind]} WHERE id {in} ORDER BY id`,
      ids,
    );
    return new Map(rows.map(({ id, removedBy }) => [id, removedBy]));
  }

  /** See `Connection.lookUp`; with the word's weight in a rank. */
  async lookUp(word: string): Promise<WeightedWord | undefined> {
    const { entities, observations } = await this.counts();
    const found = await this.connection.lookUp(word, entities + observations);
    if (found === undefined) return undefined;
    const total = Math.max(entities, observations);
    const { count, as } = found;
    const rarity = rarityOf(count, total);
    return {
      ...found,
      weight: as === "near" ? NEAR_WEIGHT * rarity : rarity,
      isCommon: as !== "sign" && count >= Math.max(1_000, Math.min(MAX_COUNTED, total / 4)),
    };
  }

  /**
   * The entities or the current observations that have words. If there are more than `limit`, they are the best ones, newer ones
   * among equals.
   */
  async matches(
    kind: Indexed,
    words: readonly WeightedWord[],
    within: Within,
    limit: number,
  ): Promise<{ id: number; score: number }[]> {
    if (words.length === 0) return [];
    const { select, params } = this.connection.matches(kind, words, limit);
    const { where, params: more } = conditions(within);
    const id = kind === "entities" ? "-m.id" : "m.id";
    const join =
      kind === "entities"
        ? "JOIN entities e ON e.id = -m.id"
        : "JOIN observations o ON o.id = m.id JOIN entities e ON e.id = o.entity_id";
    return this.connection.all(
      `SELECT ${id} AS id, m.score FROM (${select}) m ${where === "" ? "" : `${join} WHERE true${where}`}
       ORDER BY m.score DESC, ${id} DESC LIMIT ?`,
      ...params,
      ...more,
      limit,
    );
  }

  async counts(column: "live" | "removed" = "live"): Promise<Counts> {
    const rows = await this.connection.all<{ kind: number; count: number }>(
      `SELECT kind, ${column} AS count FROM counters ORDER BY kind`,
    );
    const [entities = 0, observations = 0, relations = 0] = rows.map(({ count }) => count);
    return { entities, observations, relations };
  }

  typeCounts(
    kind: "entity" | "relation",
    limit: number,
  ): Promise<{ type: string; count: number }[]> {
    return this.connection.all(
      `SELECT type, count(*) AS count FROM ${TABLES[kind]} WHERE removed_by IS NULL
       GROUP BY type ORDER BY count(*) DESC, min(id) LIMIT ?`,
      limit,
    );
  }

  /** Entities without any relation. */
  async orphans(limit: number): Promise<{ count: number; names: string[] }> {
    const where = `e.removed_by IS NULL
      AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.from_id = e.id AND r.removed_by IS NULL)
      AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.to_id = e.id AND r.removed_by IS NULL)`;
    const total = `SELECT count(*) AS count FROM entities e WHERE ${where}`;
    const [{ count } = { count: 0 }] = await this.connection.all<{ count: number }>(total);
    const rows = await this.#entities(`${where} ORDER BY e.id LIMIT ?`, limit);
    return { count, names: rows.map(({ name }) => name) };
  }

  async change(id: number): Promise<ChangeRow | undefined> {
    return (await this.#changes("c.id = ?", id))[0];
  }

  /** The newest first; `before` continues below that id. */
  changes(before: number | undefined, limit: number): Promise<ChangeRow[]> {
    return this.#changes(
      "c.id < ? ORDER BY c.id DESC LIMIT ?",
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
  }

  changesSince(id: number, limit: number): Promise<ChangeRow[]> {
    return this.#changes("c.id > ? ORDER BY c.id LIMIT ?", id, limit);
  }

  async #changes(where: string, ...params: readonly Value[]): Promise<ChangeRow[]> {
    const select = `SELECT ${CHANGE} FROM changes c WHERE ${where}`;
    const rows = await this.connection.all<Omit<ChangeRow, "hard"> & { hard: number }>(
      select,
      ...params,
    );
    return rows.map((row) => ({ ...row, hard: row.hard !== 0 }));
  }

  async itemsOf(changeId: number): Promise<ChangeItem[]> {
    const select = "SELECT items FROM changes WHERE id = ?";
    const rows = await this.connection.all<{ items: string }>(select, changeId);
    return rows.flatMap(({ items }) => readItems(items));
  }

  async meta(key: string): Promise<string | undefined> {
    const [row] = await this.connection.all<{ value: string }>(
      "SELECT value FROM meta WHERE key = ?",
      key,
    );
    return row?.value;
  }
}
