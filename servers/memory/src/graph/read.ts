import { cursorsOf, grouped } from "@refmcp/core/answer";
import { batches } from "./batches.ts";
import { didYouMean, entityNamed, quoteAll, unknownEntities } from "./checks.ts";
import { naturals, Page, type Position, type ShownEntity } from "./page.ts";
import type { Reader, Store } from "./store.ts";
import { type Counts, type EntityRow, idsOf, type Relation } from "./types.ts";
import { nearestFirst, walk } from "./walk.ts";

const position = naturals("relations", "at", "after");

/** Part of the budget for everything outside the lists. */
const FRAME = 600;
const ENTITY_BATCH = 200;
/** Maximum number of entities that `depth` adds. */
const MAX_NEIGHBORS = 500;

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
 * (`concise`) or everything (`full`): first entities, then relations.
 */
export async function readGraph(
  store: Store,
  {
    detail,
    limit,
    cursor,
    budget,
  }: { detail: "concise" | "full"; limit: number; cursor?: string | undefined; budget: number },
): Promise<GraphPage> {
  const cursors = cursorsOf("read_graph", [detail], position);
  const start = cursors.decode(cursor);
  return store.read(async (reader) => {
    const total = await reader.counts();
    if (start === undefined && total.entities <= limit) {
      const whole = new Page(budget - FRAME);
      if ((await fillGraph(reader, whole, { relations: 0, at: 0, after: 0 }, "full", limit)) === undefined)
        return { entities: whole.entities, relations: whole.relations };
    }
    const page = new Page(budget - FRAME);
    const next = await fillGraph(reader, page, start ?? { relations: 0, at: 0, after: 0 }, detail, limit);
    return {
      entities: page.entities,
      relations: page.relations,
      total,
      note: next && graphNote(page, total, detail),
      next_cursor: next && cursors.encode(next),
    };
  });
}

function graphNote(page: Page, total: Counts, detail: string): string {
  const shown =
    page.relations.length === 0
      ? `${grouped(page.entities.length)} of ${grouped(total.entities)} entities${detail === "concise" ? ", without their observations" : ""}`
      : `${grouped(page.entities.length)} entities and ${grouped(page.relations.length)} of ${grouped(total.relations)} relations`;
  return `${shown}. Continue with cursor, or search with search_nodes; open_nodes returns full entities.`;
}

/** Fills a page from a position; here `at` is the id of the last entity already returned. */
async function fillGraph(
  reader: Reader,
  page: Page,
  start: Position,
  detail: "concise" | "full",
  limit: number,
): Promise<Position | undefined> {
  if (start.relations === 1) return page.addRelations(reader, undefined, start.after);
  let { at, after } = start;
  for await (const batch of batches((from, size) => reader.entityPage(from, size), ENTITY_BATCH, at)) {
    const counts = detail === "concise" ? await reader.observationCounts(idsOf(batch)) : undefined;
    for (const row of batch) {
      if (page.entities.length >= limit) return { relations: 0, at, after };
      if (counts !== undefined) {
        const shown = { name: row.name, entityType: row.type, observation_count: counts.get(row.id) ?? 0 };
        if (!page.reserve(shown)) return { relations: 0, at, after: 0 };
        page.entities.push(shown);
      } else {
        const rest = await page.addEntity(reader, row, after);
        if (rest !== undefined) return { relations: 0, at, after: rest };
      }
      at = row.id;
      after = 0;
    }
  }
  return page.addRelations(reader, undefined, 0);
}

/**
 * Entities by exact name with all observations, and their relations; with `depth`, also the entities around them.
 *
 * @throws ToolError `not_found` if none of the names exists.
 */
export async function openNodes(
  store: Store,
  {
    names,
    depth,
    cursor,
    budget,
  }: { names: readonly string[]; depth: number; cursor?: string | undefined; budget: number },
): Promise<GraphPage> {
  const wanted = [...new Set(names.map((name) => name.toWellFormed()))];
  const cursors = cursorsOf("open_nodes", [wanted, depth], position);
  const start = cursors.decode(cursor) ?? { relations: 0, at: 0, after: 0 };
  return store.read(async (reader) => {
    const known = await reader.entitiesNamed(wanted);
    const missing = wanted.filter((name) => !known.has(name));
    if (known.size === 0 && wanted.length > 0) throw await unknownEntities(reader, missing);
    const named = wanted.flatMap((name) => known.get(name) ?? []);
    const { rows, isCut } = await around(reader, named, depth);
    const page = new Page(budget - FRAME);
    page.reserve(missing, true);
    const next = await fillNodes(reader, page, rows, start);
    const notes = [
      ...(missing.length === 0 ? [] : [await missingNote(reader, missing)]),
      ...(isCut ? [`Only the nearest ${grouped(MAX_NEIGHBORS)} entities around them are included.`] : []),
    ];
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
): Promise<Position | undefined> {
  const ids = idsOf(rows);
  if (start.relations === 1) return page.addRelations(reader, ids, start.after);
  let after = start.after;
  for (const [index, row] of rows.slice(start.at).entries()) {
    const at = start.at + index;
    const rest = await page.addEntity(reader, row, after);
    if (rest !== undefined) return { relations: 0, at, after: rest };
    after = 0;
  }
  return page.addRelations(reader, ids, 0);
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
    const observations = await reader.observationPage(entity.id, 0, MAX_ROWS + 1);
    const relations = await reader.relationsTouching([entity.id], 0, MAX_ROWS + 1);
    return {
      name,
      entityType: entity.type,
      created_at: new Date(entity.createdAt).toISOString(),
      updated_at: new Date(entity.updatedAt).toISOString(),
      observations: observations.slice(0, MAX_ROWS).map(({ content, createdAt, source }) => ({
        content,
        at: new Date(createdAt).toISOString(),
        source: source ?? undefined,
      })),
      relations: relations.slice(0, MAX_ROWS).map(({ from, to, type }) => ({ from, to, relationType: type })),
      is_cut: observations.length > MAX_ROWS || relations.length > MAX_ROWS || undefined,
    };
  });
}

/** Names that begin with a text, ignoring case and accents, for completion. */
export function namesBeginning(store: Store, foldedPrefix: string, max: number): Promise<string[]> {
  return store.read(async (reader) => (await reader.namesFrom(foldedPrefix, max)).map(({ name }) => name));
}

/** The entities that changed last. */
export function latestEntities(store: Store, max: number): Promise<{ name: string; type: string }[]> {
  return store.read((reader) => reader.recentEntities({ before: undefined, limit: max }));
}
