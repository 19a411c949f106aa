import { cursorsOf, grouped } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import { type Counts, type EntityRow, idsOf, type Relation } from "../types.ts";
import { byAge, byRelations, type Listed, type Listing, type Order } from "./listing.ts";
import { didYouMean, entityNamed, quoteAll, unknownEntities } from "./names.ts";
import { naturals, Page, type ShownEntity } from "./page.ts";
import { nearestFirst, walk } from "./related.ts";

/** Where a list of entities, followed by their relations, continues. */
interface Position {
  /** 1 if all entities were returned. */
  readonly relations: number;
  readonly at: number;
  readonly after: number;
}

const position = naturals("relations", "at", "after");

/** Where a listing continues, with the relations among the entities already listed; entities by their places. */
interface GraphPosition {
  /** The last entity that was returned with all its observations. */
  readonly at: number;
  /** The last returned observation of the next entity. */
  readonly after: number;
  /** The first and the last entity whose relations were not all returned. */
  readonly first: number;
  readonly last: number;
  /** The last returned relation of these. */
  readonly relation: number;
}

const graphPosition = naturals("at", "after", "first", "last", "relation");
const START: GraphPosition = { at: 0, after: 0, first: 0, last: 0, relation: 0 };

/** Part of the budget for everything outside the lists. */
const FRAME = 600;
/** How many entities of a large graph are listed before the relations among them and those before. */
const ENTITY_BATCH = 50;
/** Maximum number of entities that `depth` adds. */
const MAX_NEIGHBORS = 500;

/** Where a page continues, and how many characters of JSON it may have. */
type PageRequest = { readonly cursor?: string | undefined; readonly budget: number };

interface GraphPage {
  readonly entities: ShownEntity[];
  readonly relations: Relation[];
  readonly total?: Counts;
  readonly not_found?: string[] | undefined;
  readonly note?: string | undefined;
  readonly next_cursor?: string | undefined;
}

/**
 * The whole graph, in the official server's form, if it fits the budget. Otherwise pages with names, types and counts
 * (`concise`) or everything (`full`), by age or the best connected first, each page with the relations among its entities and
 * those of earlier pages.
 */
export async function readGraph(
  store: Store,
  {
    detail,
    order = "created",
    limit,
    cursor,
    budget,
  }: PageRequest & { detail: "concise" | "full"; order?: Order; limit: number },
): Promise<GraphPage> {
  const cursors = cursorsOf("read_graph", [detail, order], graphPosition);
  const start = cursors.decode(cursor);
  return store.read(async (reader) => {
    const total = await reader.counts();
    if (start === undefined && total.entities <= limit) {
      const whole = new Page(budget - FRAME);
      // In one batch, so that relations are in the order of their creation.
      const fill = { listing: byAge(reader), detail: "full", limit, batch: limit } as const;
      if ((await fillGraph(reader, whole, START, fill)) === undefined)
        return { entities: whole.entities, relations: whole.relations };
    }
    const page = new Page(budget - FRAME);
    const from = start ?? START;
    // One more than this page can have, to know whether there are more.
    const listing =
      order === "created" ? byAge(reader) : await byRelations(reader, from.at + limit + 1);
    const next = await fillGraph(reader, page, from, {
      listing,
      detail,
      limit,
      batch: ENTITY_BATCH,
    });
    return {
      entities: page.entities,
      relations: page.relations,
      total,
      note: next && graphNote(page, total, detail, order),
      next_cursor: next && cursors.encode({ ...next }),
    };
  });
}

function graphNote(
  { entities, relations }: Page,
  total: Counts,
  detail: string,
  order: Order,
): string {
  const what = `${order === "connected" ? ", best connected first" : ""}${detail === "concise" ? ", without their observations" : ""}`;
  const shown = [
    `${grouped(entities.length)} of ${grouped(total.entities)} entities${what}`,
    `${grouped(relations.length)} of ${grouped(total.relations)} relations`,
  ].filter((part) => !part.startsWith("0 "));
  return `${shown.join(", and ")}. Continue with cursor, or search with search_nodes; open_nodes returns full entities.`;
}

type Fill = {
  readonly listing: Listing;
  readonly detail: "concise" | "full";
  readonly limit: number;
  readonly batch: number;
};

/** Fills a page from a position; returns where the next one continues. */
async function fillGraph(reader: Reader, page: Page, start: GraphPosition, fill: Fill) {
  const { listing, batch } = fill;
  let position = start;
  let listed: Listed[] = [];
  for (let isFull = false; ; ) {
    const { at, after, first, last } = position;
    if (first !== 0) {
      // The pending relations.
      const around = listed[0]?.place === first ? listed : await listing.entities(first - 1, batch);
      const of = around.filter(({ place }) => place <= last);
      const more = (after: number, limit: number) => listing.relations(of, after, limit);
      const relation = await page.addRelations(more, position.relation);
      if (relation !== undefined) return { ...position, relation };
    }
    if (isFull) return { ...START, at, after };
    listed = await listing.entities(at, batch);
    if (listed.length === 0) return undefined;
    position = await addEntities(reader, page, listed, position, fill);
    isFull = position.at !== listed.at(-1)?.place;
  }
}

/** Adds entities until the page is full; their relations are pending then. */
async function addEntities(
  reader: Reader,
  page: Page,
  listed: readonly Listed[],
  start: GraphPosition,
  { detail, limit }: Fill,
): Promise<GraphPosition> {
  const ids = listed.map(({ row }) => row.id);
  const counts = detail === "concise" ? await reader.observationCounts(ids) : undefined;
  if (counts === undefined) await reader.readAhead(ids);
  let { at, after } = start;
  const pending = () =>
    at === start.at
      ? { ...START, at, after }
      : { at, after, first: listed[0]?.place ?? 0, last: at, relation: 0 };
  for (const { place, row } of listed) {
    if (page.entities.length >= limit) return pending();
    if (counts !== undefined) {
      const shown = {
        name: row.name,
        entityType: row.type,
        observation_count: counts.get(row.id) ?? 0,
      };
      if (!page.reserve(shown)) return pending();
      page.entities.push(shown);
    } else {
      const rest = await page.addEntity(reader, row, after);
      if (rest !== undefined) {
        after = rest;
        return pending();
      }
    }
    at = place;
    after = 0;
  }
  return pending();
}

/**
 * Entities by exact name with all observations, and their relations; with `depth`, also the entities around them, and with
 * `history`, also superseded observations.
 *
 * @throws ToolError `not_found` if none of the names exists.
 */
export async function openNodes(
  store: Store,
  {
    names,
    depth,
    history = false,
    cursor,
    budget,
  }: PageRequest & { names: readonly string[]; depth: number; history?: boolean },
): Promise<GraphPage> {
  const wanted = [...new Set(names.map((name) => name.toWellFormed()))];
  const cursors = cursorsOf("open_nodes", [wanted, depth, history], position);
  const start = cursors.decode(cursor) ?? { relations: 0, at: 0, after: 0 };
  return store.read(async (reader) => {
    const known = await reader.entitiesNamed(wanted);
    const missing = wanted.filter((name) => !known.has(name));
    if (known.size === 0 && wanted.length > 0) throw await unknownEntities(reader, missing);
    const named = wanted.flatMap((name) => known.get(name) ?? []);
    const { rows, isCut } = await around(reader, named, depth);
    const page = new Page(budget - FRAME);
    page.reserve(missing, true);
    const next = await fillNodes(reader, page, rows, start, history);
    const notes = [
      missing.length === 0 ? "" : await missingNote(reader, missing),
      isCut ? `Only the nearest ${grouped(MAX_NEIGHBORS)} entities around them are included.` : "",
    ].filter((note) => note !== "");
    return {
      entities: page.entities,
      relations: page.relations,
      not_found: missing.length === 0 ? undefined : missing,
      note: notes.join(" ") || undefined,
      next_cursor: next && cursors.encode(next),
    };
  });
}

async function missingNote(reader: Reader, missing: readonly string[]): Promise<string> {
  const like = await didYouMean(reader, missing);
  return `Not found: ${quoteAll(missing)}.${like === "" ? "" : ` ${like}`} Names are exact; search_nodes finds them.`;
}

/** The given entities and those within `depth` relations, by distance. */
async function around(
  reader: Reader,
  start: readonly EntityRow[],
  depth: number,
): Promise<{ rows: EntityRow[]; isCut: boolean }> {
  const enough = start.length + MAX_NEIGHBORS;
  const query = { depth, direction: "both", types: undefined, enough } as const;
  const { steps, isCut } = await walk(reader, idsOf(start), query);
  const order = nearestFirst(steps).slice(start.length, enough);
  const found = await reader.entitiesById(order);
  const neighbors = order.flatMap((id) => found.get(id) ?? []);
  return { rows: [...start, ...neighbors], isCut: isCut || steps.size > enough };
}

/** Fills a page; here `at` is the index in the list of entities. */
async function fillNodes(
  reader: Reader,
  page: Page,
  rows: readonly EntityRow[],
  start: Position,
  history: boolean,
): Promise<Position | undefined> {
  const ids = idsOf(rows);
  const touching = async (start: number) => {
    const after = await page.addRelations(
      (after, limit) => reader.relationsOf(ids, { after, limit }),
      start,
    );
    return after === undefined ? undefined : { relations: 1, at: 0, after };
  };
  if (start.relations === 1) return touching(start.after);
  let after = start.after;
  for (const [index, row] of rows.slice(start.at).entries()) {
    const at = start.at + index;
    const rest = await page.addEntity(reader, row, after, history);
    if (rest !== undefined) return { relations: 0, at, after: rest };
    after = 0;
  }
  return touching(0);
}

/** Maximum number of observations and of relations in one record. */
const MAX_ROWS = 5_000;

/**
 * Everything stored about one entity, with times (ISO 8601) and sources, up to 5,000 observations and
 * relations; open_nodes pages through all.
 *
 * @throws ToolError `not_found` for an unknown entity.
 */
export function entityRecord(store: Store, given: string) {
  const name = given.toWellFormed();
  return store.read(async (reader) => {
    const entity = await entityNamed(reader, name);
    const observations = await reader.observationPage(entity.id, 0, MAX_ROWS + 1, "kept");
    const relations = await reader.relationsOf([entity.id], { limit: MAX_ROWS + 1 });
    return {
      name,
      entityType: entity.type,
      created_at: new Date(entity.createdAt).toISOString(),
      updated_at: new Date(entity.updatedAt).toISOString(),
      observations: observations
        .slice(0, MAX_ROWS)
        .map(({ content, createdAt, source, supersededAt }) => ({
          content,
          at: new Date(createdAt).toISOString(),
          source: source ?? undefined,
          until: supersededAt === null ? undefined : new Date(supersededAt).toISOString(),
        })),
      relations: relations
        .slice(0, MAX_ROWS)
        .map(({ from, to, type }) => ({ from, to, relationType: type })),
      is_cut: observations.length > MAX_ROWS || relations.length > MAX_ROWS || undefined,
    };
  });
}

/** Names that begin with a text, ignoring case and accents, for completion. */
export function namesBeginning(store: Store, foldedPrefix: string, max: number): Promise<string[]> {
  return store.read(async (reader) =>
    (await reader.namesFrom(foldedPrefix, max)).map(({ name }) => name),
  );
}

/** The entities that changed last. */
export function latestEntities(
  store: Store,
  max: number,
): Promise<{ name: string; type: string }[]> {
  return store.read((reader) => reader.recentEntities({}, max));
}

/** The store's note about the file that it was imported from. */
export type ImportNote = {
  readonly path: string;
  readonly at: string;
  /** The size of the file at that time. */
  readonly bytes: number;
  readonly entities: number;
  readonly relations: number;
  readonly rejected: number;
};

/** The key of the stored note. */
export const IMPORTED = "imported_from";
const TYPES = 20;
const ORPHANS = 10;

/** Counts, the location, and the file that the memory was imported from. */
export async function memoryStats(store: Store, space: string) {
  const size = await store.size();
  return store.read(async (reader) => {
    const [latest] = await reader.changes(undefined, 1);
    const note = await reader.meta(IMPORTED);
    const imported: ImportNote | undefined = note && JSON.parse(note);
    const orphans = await reader.orphans(ORPHANS);
    return {
      store: store.kind,
      location: store.location,
      space,
      size_bytes: size,
      total: await reader.counts(),
      // Soft-deleted rows, which undo can restore.
      deleted: await reader.counts("removed"),
      entity_types: await reader.typeCounts("entity", TYPES),
      relation_types: await reader.typeCounts("relation", TYPES),
      orphans: {
        count: orphans.count,
        names: orphans.names.map((name) => name.slice(0, 200).toWellFormed()),
      },
      last_change: latest && { change_id: latest.id, at: new Date(latest.at).toISOString() },
      imported_from: imported,
    };
  });
}
