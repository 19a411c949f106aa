import { grouped } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import type { Direction, EntityRow, Relation, RelationRow } from "../types.ts";
import { unknownEntities } from "./names.ts";
import { Page } from "./page.ts";

const FRAME = 600;
/** Maximum number of entities in one walk. */
const MAX_VISITED = 20_000;
const BATCH = 1_000;

/** Which relations a graph traversal follows, and how far. */
interface Walk {
  readonly depth: number;
  readonly direction: Direction;
  readonly types: readonly string[] | undefined;
  /** Stops before the next step after visiting more than this many entities. */
  readonly enough?: number;
}

/** How an entity was first reached. */
interface Step {
  readonly distance: number;
  readonly via?: RelationRow;
  readonly from?: number;
}

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
  const names = [query.name, query.to].flatMap((name) => name?.toWellFormed() ?? []);
  return store.read(async (reader) => {
    const known = await reader.entitiesNamed(names);
    const [start, end] = names.map((name) => known.get(name));
    const missing = names.filter((name) => !known.has(name));
    if (start === undefined || missing.length > 0) throw await unknownEntities(reader, missing);
    return end === undefined ? neighborhood(reader, start, query) : path(reader, start, end, query);
  });
}

async function neighborhood(
  reader: Reader,
  start: EntityRow,
  query: RelatedQuery,
): Promise<Related> {
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
    if (
      !page.reserve(shown, entities.length === 0) ||
      JSON.stringify(entities).length > query.budget / 2
    )
      break;
    entities.push(shown);
  }
  const inside = new Set(kept.slice(0, entities.length));
  const outgoing = { direction: "out", types: query.types, limit: 5_000 } as const;
  const relations = await reader.relationsOf([...inside], outgoing);
  const between = relations.filter(({ toId }) => inside.has(toId));
  const fits = between.every((relation) => page.addRelation(relation));
  const missing = steps.size - entities.length;
  const more = isCut ? " or more" : "";
  const notes = [
    missing > 0
      ? `${grouped(missing)}${more} further entities within this depth are not shown.`
      : "",
    fits ? "" : "Not all relations between them are shown.",
    missing > 0 || !fits ? "Narrow with depth, direction or relation_types, or raise limit." : "",
  ].filter((note) => note !== "");
  return { entities, relations: page.relations, note: notes.join(" ") || undefined };
}

async function path(
  reader: Reader,
  start: EntityRow,
  end: EntityRow,
  query: RelatedQuery,
): Promise<Related> {
  const { steps, isCut } = await walk(reader, [start.id], query, end.id);
  if (!steps.has(end.id)) {
    const steps = query.depth === 1 ? "step" : "steps";
    const toward = query.direction === "both" ? "" : ` in direction ${query.direction}`;
    const typed = query.types === undefined ? "" : " using these relation types";
    const why = isCut
      ? `No path was found among the nearest ${grouped(MAX_VISITED)} entities.`
      : `There is no path within ${query.depth} ${steps}${toward}${typed}.`;
    const note = `${why} Try a larger depth, direction both or other relation_types.`;
    return { entities: [], relations: [], note };
  }
  const ids: number[] = [];
  const relations: Relation[] = [];
  for (let id: number | undefined = end.id; id !== undefined; id = steps.get(id)?.from) {
    ids.unshift(id);
    const via = steps.get(id)?.via;
    if (via !== undefined)
      relations.unshift({ from: via.from, to: via.to, relationType: via.type });
  }
  const rows = await reader.entitiesById(ids);
  const entities = ids.flatMap((id, distance) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ name: row.name, entityType: row.type, distance }];
  });
  return { entities, relations, path: entities.map(({ name }) => name) };
}

/** Walks breadth first from some entities; stops at `until`, at `depth`, or after too many entities. */
export async function walk(
  reader: Reader,
  start: readonly number[],
  { direction, types, depth, enough = MAX_VISITED }: Walk,
  until?: number,
): Promise<{ steps: Map<number, Step>; isCut: boolean }> {
  const steps = new Map<number, Step>(start.map((id) => [id, { distance: 0 }]));
  let edge = start;
  for (let distance = 1; distance <= depth && edge.length > 0 && steps.size <= enough; distance++) {
    const next: number[] = [];
    for (let at = 0; at < edge.length; at += BATCH) {
      const ids = edge.slice(at, at + BATCH);
      const inBatch = new Set(ids);
      for (const via of await reader.relationsOf(ids, {
        direction,
        types,
        limit: MAX_VISITED + 1,
      })) {
        const ends: (readonly [number, number])[] = [];
        if (direction !== "in" && inBatch.has(via.fromId)) ends.push([via.fromId, via.toId]);
        if (direction !== "out" && inBatch.has(via.toId)) ends.push([via.toId, via.fromId]);
        for (const [from, id] of ends) {
          if (steps.has(id)) continue;
          steps.set(id, { distance, via, from });
          if (id === until) return { steps, isCut: false };
          if (steps.size > MAX_VISITED) return { steps, isCut: true };
          next.push(id);
        }
      }
    }
    edge = next;
  }
  return { steps, isCut: false };
}

/** The ids of the visited entities, by distance, then in order of creation. */
export function nearestFirst(steps: ReadonlyMap<number, Step>): number[] {
  const order = [...steps].sort(([a, x], [b, y]) => x.distance - y.distance || a - b);
  return order.map(([id]) => id);
}
