import { entityNamed } from "./checks.ts";
import type { Store } from "./store.ts";

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
