import type { Store } from "../store/store.ts";
import { entityNamed } from "./names.ts";
import { shownRelation } from "./page.ts";

/** Maximum number of observations and of relations in one record. */
const MAX_ROWS = 5_000;

const isoOf = (time: number) => new Date(time).toISOString();

/**
 * Everything stored about one entity, with times (ISO 8601) and sources, up to 5,000 observations and relations;
 * open_nodes pages through all.
 *
 * @throws ToolError `not_found` for an unknown entity.
 */
export function entityRecord(store: Store, name: string) {
  return store.read(async (reader) => {
    const entity = await entityNamed(reader, name.toWellFormed());
    const observations = await reader.observationPage(entity.id, 0, MAX_ROWS + 1, "kept");
    const relations = await reader.relationsOf([entity.id], { limit: MAX_ROWS + 1 });
    return {
      name: entity.name,
      entityType: entity.type,
      created_at: isoOf(entity.createdAt),
      updated_at: isoOf(entity.updatedAt),
      observations: observations.slice(0, MAX_ROWS).map((row) => ({
        content: row.content,
        at: isoOf(row.createdAt),
        source: row.source ?? undefined,
        until: row.supersededAt === null ? undefined : isoOf(row.supersededAt),
      })),
      relations: relations.slice(0, MAX_ROWS).map(shownRelation),
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

/** The key of the store's note about the file that it was imported from. */
export const IMPORTED = "imported_from";

/** That note. */
export type ImportNote = {
  readonly path: string;
  readonly at: string;
  /** The size of the file at that time. */
  readonly bytes: number;
  readonly entities: number;
  readonly relations: number;
  readonly rejected: number;
};

const MAX_TYPES = 20;

/** Counts, the location, and the file that the memory was imported from. */
export async function memoryStats(store: Store, space: string) {
  return store.read(async (reader) => {
    const [latest] = await reader.changes(undefined, 1);
    const note = await reader.meta(IMPORTED);
    const imported: ImportNote | undefined = note && JSON.parse(note);
    return {
      store: store.kind,
      location: store.location,
      space,
      total: await reader.counts(),
      // Soft-deleted rows, which undo can restore.
      deleted: await reader.counts("removed"),
      entity_types: await reader.typeCounts("entity", MAX_TYPES),
      relation_types: await reader.typeCounts("relation", MAX_TYPES),
      last_change: latest && { change_id: latest.id, at: isoOf(latest.at) },
      imported_from: imported,
    };
  });
}
