import type { Reader } from "../store/store.ts";
import type { Direction, RelationRow } from "../types.ts";

/** Maximum number of entities in one walk. */
export const MAX_VISITED = 20_000;
const BATCH = 1_000;

/** Which relations a graph traversal follows, and how far. */
export interface Walk {
  readonly depth: number;
  readonly direction: Direction;
  readonly types: readonly string[] | undefined;
  /** Stops before the next step after visiting more than this many entities. */
  readonly enough?: number;
}

/** How an entity was first reached. */
interface Step {
  readonly distance: number;
  readonly via: RelationRow | undefined;
  readonly from: number | undefined;
}

/** Walks breadth first from some entities; stops at `until`, at `depth`, or after too many entities. */
export async function walk(
  reader: Reader,
  start: readonly number[],
  { direction, types, depth, enough = MAX_VISITED }: Walk,
  until?: number,
): Promise<{ steps: Map<number, Step>; isCut: boolean }> {
  const steps = new Map<number, Step>(
    start.map((id) => [id, { distance: 0, via: undefined, from: undefined }]),
  );
  let edge = start;
  for (let distance = 1; distance <= depth && edge.length > 0 && steps.size <= enough; distance++) {
    const next: number[] = [];
    for (let at = 0; at < edge.length; at += BATCH) {
      const ids = edge.slice(at, at + BATCH);
      const inBatch = new Set(ids);
      for (const via of await reader.relationsOf(ids, { direction, types, limit: MAX_VISITED + 1 })) {
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
