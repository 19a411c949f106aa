import { batches } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import type { EntityRow, RelationRow } from "../types.ts";

/** The orders in which `read_graph` lists entities: by age, or by the number of their relations. */
export type Order = "created" | "connected";

/** An entity in a listing. Places increase from 1. */
export interface Listed {
  readonly place: number;
  readonly row: EntityRow;
}

/** All entities in an order, for pages. */
export interface Listing {
  /** Entities after a place. */
  entities(after: number, limit: number): Promise<Listed[]>;
  /** Relations of consecutive entities with each other and with those listed before them, after an id. */
  relations(of: readonly Listed[], after: number, limit: number): Promise<RelationRow[]>;
}

const RELATION_BATCH = 1_000;

/** Entities in the order of their creation; an entity's place is its id. */
export function byAge(reader: Reader): Listing {
  return {
    entities: async (after, limit) =>
      (await reader.entityPage(after, limit)).map((row) => ({ place: row.id, row })),
    relations: (of, after, limit) =>
      reader.relationsToEarlier(
        of.map(({ place }) => place),
        after,
        limit,
      ),
  };
}

/**
 * Entities by the number of their relations, the best connected first; an entity's place is its rank.
 *
 * @param count how many can be listed
 */
export async function byRelations(reader: Reader, count: number): Promise<Listing> {
  const ids = (await reader.degrees(count)).map(({ entityId }) => entityId);
  return {
    async entities(after, limit) {
      const part = ids.slice(after, after + limit);
      const rows = await reader.entitiesById(part);
      return part.flatMap((id, index) => {
        const row = rows.get(id);
        return row === undefined ? [] : [{ place: after + index + 1, row }];
      });
    },
    relations: (of, after, limit) =>
      relationsAmong(
        reader,
        of.map(({ row }) => row.id),
        new Set(ids.slice(0, of.at(-1)?.place)),
        { after, limit },
      ),
  };
}

/** Relations of entities whose other end is known too, in the order of their creation. */
async function relationsAmong(
  reader: Reader,
  ids: readonly number[],
  known: ReadonlySet<number>,
  { after, limit }: { after: number; limit: number },
): Promise<RelationRow[]> {
  const found: RelationRow[] = [];
  const page = (after: number, limit: number) => reader.relationsOf(ids, { after, limit });
  for await (const rows of batches(page, RELATION_BATCH, after)) {
    found.push(...rows.filter(({ fromId, toId }) => known.has(fromId) && known.has(toId)));
    if (found.length >= limit) return found.slice(0, limit);
  }
  return found;
}
