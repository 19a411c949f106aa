import { ToolError } from "@refmcp/boundary/answer";
import type { Store } from "../store/store.ts";
import type { Entity, EntityRow, NewObservation, Relation } from "../types.ts";
import { type ChangeFacts, type ChangeLog, change } from "./change-log.ts";
import { checkedText, quote, unknownEntities } from "./checks.ts";

/** What to do with an entity whose name exists. */
export type OnConflict = "skip" | "merge" | "error";

type AddedObservations = {
  readonly entityName: string;
  readonly addedObservations: string[];
  /** Those that it already had. */
  readonly duplicates?: string[];
};

/**
 * Creates entities with their observations.
 *
 * @returns those it created, the names that existed and were left unchanged, and what was added to existing entities.
 * @throws ToolError `invalid` for an empty or overlong text, `conflict` for an existing name with `error`.
 */
export async function createEntities(
  store: Store,
  given: readonly Entity[],
  options: { on_conflict: OnConflict } & ChangeFacts,
) {
  const wanted = given.map(checkedEntity);
  const { value, changeId } = await change(store, options, (log) =>
    addEntities(log, wanted, options.on_conflict, options.source),
  );
  return {
    entities: value.entities,
    skipped: value.skipped.length === 0 ? undefined : value.skipped,
    merged: value.merged.length === 0 ? undefined : value.merged,
    change_id: changeId,
  };
}

/** Inserts entities whose names are new, each name once; `onConflict` says what happens to the others. */
export async function addEntities(
  log: ChangeLog,
  wanted: readonly Entity[],
  onConflict: OnConflict,
  source: string | undefined,
): Promise<{ entities: Entity[]; skipped: string[]; merged: AddedObservations[] }> {
  const existing = await log.writer.entitiesNamed(wanted.map(({ name }) => name));
  const fresh = new Map<string, { entity: Entity; contents: Set<string> }>();
  const merging: { name: string; contents: readonly string[] }[] = [];
  const skipped: string[] = [];
  for (const entity of wanted) {
    const twin = fresh.get(entity.name);
    if (twin === undefined && !existing.has(entity.name)) {
      fresh.set(entity.name, { entity, contents: new Set(entity.observations) });
    } else if (onConflict === "error") {
      throw conflict(entity.name, existing.get(entity.name));
    } else if (onConflict === "skip") {
      skipped.push(entity.name);
    } else if (twin !== undefined) {
      for (const content of entity.observations) twin.contents.add(content);
    } else {
      merging.push({ name: entity.name, contents: entity.observations });
    }
  }
  const entities = [...fresh.values()].map(({ entity, contents }) => ({
    ...entity,
    observations: [...contents],
  }));
  await insertEntities(log, entities, source);
  return { entities, skipped, merged: await addTo(log, merging, existing, source) };
}

function checkedEntity(entity: Entity, index: number): Entity {
  return {
    name: checkedText("name", entity.name, `entities.${index}.name`),
    entityType: checkedText("type", entity.entityType, `entities.${index}.entityType`),
    observations: entity.observations.map((text, at) =>
      checkedText("observation", text, `entities.${index}.observations.${at}`),
    ),
  };
}

function conflict(name: string, existing: EntityRow | undefined): ToolError {
  const what =
    existing === undefined
      ? `The entity ${quote(name)} occurs twice in the call.`
      : `The entity ${quote(name)} already exists, with type ${quote(existing.type)}.`;
  return new ToolError("conflict", `${what} Nothing was created.`, {
    hint: "Call add_observations to add to it, update_entities to change it, or pass on_conflict merge or skip.",
    code: "exists",
  });
}

/** Inserts entities that do not exist, with their observations. */
async function insertEntities(
  log: ChangeLog,
  entities: readonly Entity[],
  source: string | undefined,
): Promise<Map<string, number>> {
  const ids = await log.addEntities(entities.map(({ name, entityType }) => ({ name, type: entityType })));
  const observations = entities.flatMap((entity, index) =>
    entity.observations.map((content) => ({ entityId: ids[index] ?? 0, content, source: source ?? null })),
  );
  await log.addObservations(observations);
  return new Map(entities.map(({ name }, index) => [name, ids[index] ?? 0]));
}

/** Adds new observations to existing entities; returns the new and the existing ones for each. */
async function addTo(
  log: ChangeLog,
  additions: readonly { name: string; contents: readonly string[] }[],
  existing: ReadonlyMap<string, { id: number }>,
  source: string | undefined,
): Promise<AddedObservations[]> {
  const rows: NewObservation[] = [];
  const results: AddedObservations[] = [];
  const known = new Map<number, Set<string>>();
  for (const { name, contents } of additions) {
    const id = existing.get(name)?.id;
    if (id === undefined) continue;
    const had = known.get(id) ?? new Set<string>();
    known.set(id, had);
    for (const { content } of await log.writer.observationsMatching(id, contents)) had.add(content);
    const added: string[] = [];
    const duplicates: string[] = [];
    for (const content of contents) {
      (had.has(content) ? duplicates : added).push(content);
      had.add(content);
    }
    rows.push(...added.map((content) => ({ entityId: id, content, source: source ?? null })));
    const again = duplicates.length === 0 ? {} : { duplicates };
    results.push({ entityName: name, addedObservations: added, ...again });
  }
  await log.addObservations(rows);
  return results;
}

/**
 * Adds observations to entities.
 *
 * @throws ToolError `not_found` if an entity does not exist; nothing is added then.
 */
export async function addObservations(
  store: Store,
  given: readonly { entityName: string; contents: readonly string[] }[],
  facts: ChangeFacts,
): Promise<{ results: AddedObservations[]; change_id: number | undefined }> {
  const additions = given.map(({ entityName, contents }, index) => ({
    name: entityName.toWellFormed(),
    contents: contents.map((text, at) =>
      checkedText("observation", text, `observations.${index}.contents.${at}`),
    ),
  }));
  const { value, changeId } = await change(store, facts, async (log) => {
    const existing = await log.writer.entitiesNamed(additions.map(({ name }) => name));
    const missing = additions.map(({ name }) => name).filter((name) => !existing.has(name));
    if (missing.length > 0) throw await unknownEntities(log.writer, [...new Set(missing)]);
    return addTo(log, additions, existing, facts.source);
  });
  return { results: value, change_id: changeId };
}

/** The type of an entity that was created because a relation names it. */
const UNKNOWN_TYPE = "unknown";

/**
 * Creates relations between entities.
 *
 * @returns those it created, those that existed, and the entities that were created because a relation named them.
 * @throws ToolError `not_found` for an unknown entity with `error`; nothing is created then.
 */
export async function createRelations(
  store: Store,
  given: readonly Relation[],
  options: { on_missing: "error" | "create" } & ChangeFacts,
) {
  const wanted = given.map(checkedRelation);
  const { value, changeId } = await change(store, options, (log) =>
    addRelations(log, wanted, options.on_missing, options.source),
  );
  return {
    relations: value.relations,
    duplicates: value.duplicates.length === 0 ? undefined : value.duplicates,
    created_entities: value.missing.length === 0 ? undefined : value.missing,
    change_id: changeId,
  };
}

function checkedRelation({ from, to, relationType }: Relation, index: number): Relation {
  return {
    from: checkedText("name", from, `relations.${index}.from`),
    to: checkedText("name", to, `relations.${index}.to`),
    relationType: checkedText("type", relationType, `relations.${index}.relationType`),
  };
}

function relationEnd(error: ToolError): ToolError {
  return new ToolError(error.kind, `${error.message} No relation was created.`, {
    hint: `${error.hint ?? ""} Or pass on_missing create.`,
    code: "unknown_entity",
  });
}

/** Inserts the relations that do not exist; `missing` are the entities created for them, if requested. */
export async function addRelations(
  log: ChangeLog,
  wanted: readonly Relation[],
  onMissing: "error" | "create",
  source: string | undefined,
): Promise<{ relations: Relation[]; duplicates: Relation[]; missing: string[] }> {
  const names = [...new Set(wanted.flatMap(({ from, to }) => [from, to]))];
  const ids = new Map([...(await log.writer.entitiesNamed(names))].map(([name, { id }]) => [name, id]));
  const missing = names.filter((name) => !ids.has(name));
  if (missing.length > 0 && onMissing === "error")
    throw relationEnd(await unknownEntities(log.writer, missing));
  const made = missing.map((name) => ({ name, entityType: UNKNOWN_TYPE, observations: [] }));
  for (const [name, id] of await insertEntities(log, made, source)) ids.set(name, id);
  const key = (fromId: number, toId: number, type: string) => JSON.stringify([fromId, toId, type]);
  const ends = wanted.map(({ from, to }) => ({ fromId: ids.get(from) ?? 0, toId: ids.get(to) ?? 0 }));
  const seen = new Set<string>();
  for (const row of await log.writer.relationsBetween(ends)) seen.add(key(row.fromId, row.toId, row.type));
  const relations: Relation[] = [];
  const duplicates: Relation[] = [];
  const rows = [];
  for (const [index, relation] of wanted.entries()) {
    const { fromId, toId } = ends[index] ?? { fromId: 0, toId: 0 };
    const own = key(fromId, toId, relation.relationType);
    (seen.has(own) ? duplicates : relations).push(relation);
    if (!seen.has(own)) rows.push({ fromId, toId, type: relation.relationType });
    seen.add(own);
  }
  await log.addRelations(rows);
  return { relations, duplicates, missing };
}
