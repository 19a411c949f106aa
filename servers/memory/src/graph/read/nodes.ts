import { cursorsOf, digits } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Reader, Store } from "../store/store.ts";
import { storable } from "../text.ts";
import { type EntityRow, idsOf } from "../types.ts";
import { FRAME, type GraphPage, type PageRequest } from "./graph.ts";
import { didYouMean, quoteAll, unknownEntities } from "./names.ts";
import { natural, Page } from "./page.ts";

/** Maximum number of entities that `depth` adds, and of relations that are read for one step. */
const [MAX_NEIGHBORS, MAX_RELATIONS] = [500, 20_000];

/** The index of an entity with the last observation of it, or the number of entities with the last relation. */
const POSITION = z.object({ at: natural, after: natural });

/**
 * Entities by exact name with all observations, and their relations; with `depth`, also the entities around them, and
 * with `history`, also superseded observations.
 *
 * @throws ToolError `not_found` if none of the names exists.
 */
export async function openNodes(
  store: Store,
  {
    names,
    depth = 0,
    history = false,
    cursor,
    budget,
  }: PageRequest & { names: readonly string[]; depth?: number; history?: boolean },
): Promise<GraphPage> {
  const uniqueNames = [...new Set(names.map(storable))];
  const cursors = cursorsOf("open_nodes", [uniqueNames, depth, history], POSITION);
  const start = cursors.decode(cursor) ?? { at: 0, after: 0 };
  return store.read(async (reader) => {
    const entities = await reader.entitiesNamed(uniqueNames);
    const missing = uniqueNames.filter((name) => !entities.has(name));
    if (entities.size === 0 && uniqueNames.length > 0) throw await unknownEntities(reader, missing);
    const named = uniqueNames.flatMap((name) => entities.get(name) ?? []);
    const around = await neighbors(reader, idsOf(named), depth);
    const page = new Page(budget - FRAME);
    page.reserve(missing, true);
    const next = await fill(reader, page, [...named, ...around.entities], start, history);
    const notes = [
      missing.length === 0 ? "" : await missingNote(reader, missing),
      around.isCut
        ? `Only the nearest ${digits(MAX_NEIGHBORS)} entities around them are included.`
        : "",
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

/** Fills a page from a position; returns where the next one continues. */
async function fill(
  reader: Reader,
  page: Page,
  rows: readonly EntityRow[],
  start: z.output<typeof POSITION>,
  history: boolean,
): Promise<z.output<typeof POSITION> | undefined> {
  let { at, after } = start;
  for (const row of rows.slice(at)) {
    const rest = await page.addEntity(reader, row, after, history ? "history" : "sources");
    if (rest !== undefined) return { at, after: rest };
    [at, after] = [at + 1, 0];
  }
  const ids = idsOf(rows);
  const rest = await page.addRelations(
    (last, limit) => reader.relationsOf(ids, { after: last, limit }),
    after,
  );
  return rest === undefined ? undefined : { at, after: rest };
}

/** The entities within `depth` relations of some entities, by distance, then in order of creation. */
async function neighbors(
  reader: Reader,
  start: readonly number[],
  depth: number,
): Promise<{ entities: EntityRow[]; isCut: boolean }> {
  const seen = new Set(start);
  let edge: readonly number[] = start;
  for (let step = 0; step < depth && seen.size <= start.length + MAX_NEIGHBORS; step++) {
    const relations = await reader.relationsOf(edge, { limit: MAX_RELATIONS });
    const ends = new Set(relations.flatMap(({ fromId, toId }) => [fromId, toId]));
    edge = [...ends].filter((id) => !seen.has(id)).sort((a, b) => a - b);
    for (const id of edge) seen.add(id);
  }
  const around = [...seen].slice(start.length);
  const ids = around.slice(0, MAX_NEIGHBORS);
  const rows = await reader.entitiesById(ids);
  return { entities: ids.flatMap((id) => rows.get(id) ?? []), isCut: around.length > ids.length };
}
