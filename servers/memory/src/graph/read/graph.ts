import { cursorsOf, grouped } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import { type Counts, idsOf, type ObservationRow, type Relation } from "../types.ts";
import { naturals, Page, type ShownEntity, shownEntity, shownRelation } from "./page.ts";

/** Where a page continues, and how many characters of JSON it may have. */
export type PageRequest = { readonly cursor?: string | undefined; readonly budget: number };

export interface GraphPage {
  readonly entities: ShownEntity[];
  readonly relations: Relation[];
  readonly total?: Counts;
  readonly not_found?: string[] | undefined;
  readonly note?: string | undefined;
  readonly next_cursor?: string | undefined;
}

/** Part of the budget for everything outside the lists. */
export const FRAME = 600;
/** How many entities are read at once. */
const BATCH = 50;
/** The JSON of an entity, an observation or a relation has at least this many characters. */
const MIN_ITEM = 10;

/** Where a listing continues: at this entity, after an observation of it, or if all are shown, after a relation. */
interface Position {
  readonly entity: number;
  readonly isTold: number;
  readonly after: number;
}

const START: Position = { entity: 1, isTold: 0, after: 0 };

/**
 * The whole graph, in the official server's form, if it fits the budget. Otherwise pages with names, types and counts
 * (`concise`) or everything (`full`), by age; each entity is followed by its relations with those before it.
 */
export async function readGraph(
  store: Store,
  { detail, limit, cursor, budget }: PageRequest & { detail: "concise" | "full"; limit: number },
): Promise<GraphPage> {
  const check = naturals("entity", "isTold", "after");
  const cursors = cursorsOf("read_graph", [detail], check);
  const start = cursors.decode(cursor);
  return store.read(async (reader) => {
    const total = await reader.counts();
    const items = total.entities + total.observations + total.relations;
    if (start === undefined && total.entities <= limit && items * MIN_ITEM < budget) {
      const graph = await wholeGraph(reader, items);
      if (JSON.stringify(graph).length <= budget) return graph;
    }
    const page = new Page(budget - FRAME);
    const next = await fillGraph(reader, page, start ?? START, detail === "concise", limit);
    return {
      entities: page.entities,
      relations: page.relations,
      total,
      note: next && graphNote(page, total, detail === "concise"),
      next_cursor: next && cursors.encode(next),
    };
  });
}

async function wholeGraph(reader: Reader, limit: number): Promise<GraphPage> {
  const rows = await reader.entityPage(0, limit);
  const facts = new Map<number, ObservationRow[]>(rows.map(({ id }) => [id, []]));
  for (const row of await reader.observationsOf(idsOf(rows))) facts.get(row.entityId)?.push(row);
  const relations = await reader.relationPage(0, limit);
  return {
    entities: rows.map((row) => shownEntity(row, facts.get(row.id) ?? [])),
    relations: relations.map(shownRelation),
  };
}

function graphNote({ entities, relations }: Page, total: Counts, isConcise: boolean): string {
  const what = isConcise ? ", without their observations" : "";
  const shown = [
    `${grouped(entities.length)} of ${grouped(total.entities)} entities${what}`,
    `${grouped(relations.length)} of ${grouped(total.relations)} relations`,
  ].filter((part) => !part.startsWith("0 "));
  return `${shown.join(", and ")}. Continue with cursor, or search with search_nodes; open_nodes returns full entities.`;
}

/** Fills a page from a position; returns where the next one continues. */
async function fillGraph(
  reader: Reader,
  page: Page,
  start: Position,
  isConcise: boolean,
  limit: number,
): Promise<Position | undefined> {
  let position = start;
  for (;;) {
    const rows = await reader.entityPage(position.entity - 1, BATCH);
    if (rows.length === 0) return undefined;
    const counts = isConcise ? await reader.observationCounts(idsOf(rows)) : undefined;
    for (const row of rows) {
      // Another entity, if that of the cursor was deleted since.
      if (row.id !== position.entity) position = { ...START, entity: row.id };
      if (position.isTold === 0) {
        if (page.entities.length >= limit) return position;
        const count = counts && (counts.get(row.id) ?? 0);
        const rest =
          count === undefined
            ? await page.addEntity(reader, row, position.after)
            : addCounted(page, { name: row.name, entityType: row.type, observation_count: count });
        if (rest !== undefined) return { ...position, after: rest };
        position = { entity: row.id, isTold: 1, after: 0 };
      }
      const earlier = (after: number, limit: number) =>
        reader.relationsToEarlier(row.id, after, limit);
      const after = await page.addRelations(earlier, position.after);
      if (after !== undefined) return { ...position, after };
      position = { ...START, entity: row.id + 1 };
    }
  }
}

/** Adds an entity without observations; 0 if it does not fit. */
function addCounted(page: Page, entity: ShownEntity): number | undefined {
  if (!page.reserve(entity)) return 0;
  page.entities.push(entity);
  return undefined;
}
