import type { Reader } from "../store/store.ts";
import type { EntityRow } from "../types.ts";

/** Relations that are read for one step. */
const MAX_RELATIONS = 20_000;

/**
 * The entities within `depth` relations of some entities, by distance, then in order of creation.
 *
 * @returns at most `max` of them, and whether there are more
 */
export async function neighbors(
  reader: Reader,
  start: readonly number[],
  depth: number,
  max: number,
): Promise<{ entities: EntityRow[]; isCut: boolean }> {
  const seen = new Set(start);
  const found: number[] = [];
  let edge: readonly number[] = start;
  for (let step = 0; step < depth && edge.length > 0 && found.length <= max; step++) {
    const relations = await reader.relationsOf(edge, { limit: MAX_RELATIONS });
    const ends = new Set(relations.flatMap(({ fromId, toId }) => [fromId, toId]));
    edge = [...ends].filter((id) => !seen.has(id)).sort((a, b) => a - b);
    for (const id of edge) seen.add(id);
    found.push(...edge);
  }
  const ids = found.slice(0, max);
  const rows = await reader.entitiesById(ids);
  return { entities: ids.flatMap((id) => rows.get(id) ?? []), isCut: found.length > max };
}
