import { grouped } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import type { EntityRow, Relation } from "../types.ts";
import { unknownEntities } from "./names.ts";
import { Page } from "./page.ts";
import { MAX_VISITED, nearestFirst, type Walk, walk } from "./walk.ts";

const FRAME = 600;

export interface RelatedQuery extends Walk {
  readonly name: string;
  /** The other end of a path; if omitted, the neighborhood is shown. */
  readonly to: string | undefined;
  readonly limit: number;
  readonly budget: number;
}

interface Related {
  readonly entities: { name: string; entityType: string; distance: number }[];
  readonly relations: Relation[];
  /** The names from one end of the shortest path to the other. */
  readonly path?: string[];
  readonly note?: string | undefined;
}

/**
 * The entities around an entity, nearest first, or the shortest path from it to another one.
 *
 * @throws ToolError `not_found` for an unknown entity.
 */
export async function findRelated(store: Store, query: RelatedQuery): Promise<Related> {
  const names = [query.name, ...(query.to === undefined ? [] : [query.to])].map((name) =>
    name.toWellFormed(),
  );
  return store.read(async (reader) => {
    const known = await reader.entitiesNamed(names);
    const [start, end] = names.map((name) => known.get(name));
    const missing = names.filter((name) => !known.has(name));
    if (start === undefined || missing.length > 0) throw await unknownEntities(reader, missing);
    return end === undefined ? neighborhood(reader, start, query) : path(reader, start, end, query);
  });
}

async function neighborhood(reader: Reader, start: EntityRow, query: RelatedQuery): Promise<Related> {
  const { steps, isCut } = await walk(reader, [start.id], query);
  const kept = nearestFirst(steps).slice(0, query.limit + 1);
  const rows = await reader.entitiesById(kept);
  const page = new Page(query.budget - FRAME);
  const entities: Related["entities"] = [];
  for (const id of kept) {
    const row = rows.get(id);
    if (row === undefined) continue;
    const shown = { name: row.name, entityType: row.type, distance: steps.get(id)?.distance ?? 0 };
    // Half of the budget is for the relations.
    if (!page.reserve(shown, entities.length === 0) || JSON.stringify(entities).length > query.budget / 2)
      break;
    entities.push(shown);
  }
  const inside = new Set(kept.slice(0, entities.length));
  const relations = await reader.relationsOf([...inside], {
    direction: "out",
    types: query.types,
    limit: 5_000,
  });
  const between = relations.filter(({ toId }) => inside.has(toId));
  const fits = between.every((relation) => page.addRelation(relation));
  const missing = steps.size - entities.length;
  const notes = [
    ...(missing > 0
      ? [`${grouped(missing)}${isCut ? " or more" : ""} further entities within this depth are not shown.`]
      : []),
    ...(fits ? [] : ["Not all relations between them are shown."]),
    ...(missing > 0 || !fits ? ["Narrow with depth, direction or relation_types, or raise limit."] : []),
  ];
  return { entities, relations: page.relations, note: notes.join(" ") || undefined };
}

async function path(reader: Reader, start: EntityRow, end: EntityRow, query: RelatedQuery): Promise<Related> {
  const { steps, isCut } = await walk(reader, [start.id], query, end.id);
  if (!steps.has(end.id)) {
    const why = isCut
      ? `No path was found among the nearest ${grouped(MAX_VISITED)} entities.`
      : `There is no path within ${query.depth} ${query.depth === 1 ? "step" : "steps"}${query.direction === "both" ? "" : ` in direction ${query.direction}`}${query.types === undefined ? "" : " using these relation types"}.`;
    return {
      entities: [],
      relations: [],
      note: `${why} Try a larger depth, direction both or other relation_types.`,
    };
  }
  const ids: number[] = [];
  const relations: Relation[] = [];
  for (let id: number | undefined = end.id; id !== undefined; id = steps.get(id)?.from) {
    ids.unshift(id);
    const via = steps.get(id)?.via;
    if (via !== undefined) relations.unshift({ from: via.from, to: via.to, relationType: via.type });
  }
  const rows = await reader.entitiesById(ids);
  const entities = ids.flatMap((id, distance) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ name: row.name, entityType: row.type, distance }];
  });
  return { entities, relations, path: entities.map(({ name }) => name) };
}
