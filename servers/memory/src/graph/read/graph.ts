import { cursorsOf, digits, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Reader, Store } from "../store/store.ts";
import { type Counts, idsOf, type ObservationRow, type Relation } from "../types.ts";
import { natural, Page, type ShownEntity, shownEntity, shownRelation } from "./page.ts";

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
/** The JSON of an entity, an observation or a relation has at least this many characters. */
const MIN_ITEM = 10;

/** The entities after `first` until `last` were returned, with those relations to each other and to earlier ones. */
const POSITION = z.object({ first: natural, last: natural, relation: natural });

/**
 * The whole graph, in the official server's form, if it fits the budget. Otherwise pages with names, types and counts of
 * entities, by age, and their relations to each other and to earlier ones.
 */
export async function readGraph(
  store: Store,
  { limit, cursor, budget }: PageRequest & { limit: number },
): Promise<GraphPage> {
  const cursors = cursorsOf("read_graph", [], POSITION);
  const start = cursors.decode(cursor);
  return store.read(async (reader) => {
    const total = await reader.counts();
    const items = total.entities + total.observations + total.relations;
    if (start === undefined && total.entities <= limit && items * MIN_ITEM < budget) {
      const graph = await wholeGraph(reader, items);
      if (JSON.stringify(graph).length <= budget) return graph;
    }
    const page = new Page(budget - FRAME);
    const next = await fillGraph(reader, page, start ?? { first: 0, last: 0, relation: 0 }, limit);
    return {
      entities: page.entities,
      relations: page.relations,
      total,
      note: next && graphNote(page, total),
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

/** Fills a page from a position: half of it with entities, if there are more. Returns where the next one continues. */
async function fillGraph(
  reader: Reader,
  page: Page,
  { first, last, relation }: z.output<typeof POSITION>,
  limit: number,
): Promise<z.output<typeof POSITION> | undefined> {
  let end = last;
  if (first === last) {
    const rows = await reader.entityPage(first, limit);
    const counts = await reader.observationCounts(idsOf(rows));
    const entities = rows.map(({ id, name, type }) => ({
      name,
      entityType: type,
      observation_count: counts.get(id) ?? 0,
    }));
    const fits = fitCount(entities, page.left / 2);
    for (const entity of entities.slice(0, fits)) page.add(entity);
    end = rows[fits - 1]?.id ?? first;
  }
  const rest = await page.addRelations(
    (after, max) => reader.relationsWithin(first, end, after, max),
    relation,
  );
  if (rest !== undefined) return { first, last: end, relation: rest };
  const isMore = (await reader.entityPage(end, 1)).length > 0;
  return isMore ? { first: end, last: end, relation: 0 } : undefined;
}

function graphNote({ entities, relations }: Page, total: Counts): string {
  const counts = [
    `${digits(entities.length)} of ${digits(total.entities)} entities, without their observations`,
    `${digits(relations.length)} of ${digits(total.relations)} relations`,
  ].filter((part) => !part.startsWith("0 "));
  return `${counts.join(", and ")}. Continue with cursor, or search with search_nodes; open_nodes returns full entities.`;
}
