import { failure } from "../errors.ts";
import { quote } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts, Entity } from "../types.ts";
import { change, checkedText, unlessEmpty } from "./change.ts";
import { addNew } from "./observations.ts";

/** What to do with an entity whose name exists. */
type OnConflict = "skip" | "merge" | "error";

/**
 * Creates entities with their observations. Blanks around names are removed.
 *
 * @returns those it created, the names that existed and were left unchanged, and what was added to existing entities.
 * @throws ToolError `invalid` for an empty or overlong text, `conflict` for an existing name with `error`.
 */
export async function createEntities(
  store: Store,
  entities: readonly Entity[],
  { on_conflict, ...facts }: { on_conflict: OnConflict } & ChangeFacts,
) {
  const checkedEntities = entities.map(({ name, entityType, observations }, index) => ({
    name: checkedText("name", name, `entities.${index}.name`).trim(),
    entityType: checkedText("type", entityType, `entities.${index}.entityType`),
    observations: observations.map((text, at) =>
      checkedText("observation", text, `entities.${index}.observations.${at}`),
    ),
  }));
  return change(store, facts, async (writer) => {
    const created = await addEntities(writer, checkedEntities, on_conflict);
    return {
      entities: created.entities,
      skipped: unlessEmpty(created.skipped),
      merged: unlessEmpty(created.merged),
    };
  });
}

/** Inserts entities whose names are new, each name once; `onConflict` says what happens to the others. */
export async function addEntities(
  writer: Writer,
  wanted: readonly Entity[],
  onConflict: OnConflict,
) {
  const existing = await writer.entitiesNamed(wanted.map(({ name }) => name));
  const fresh = new Map<string, { entity: Entity; contents: Set<string> }>();
  const merging: Entity[] = [];
  const skipped: string[] = [];
  for (const entity of wanted) {
    const { name, observations } = entity;
    const twin = fresh.get(name);
    const type = existing.get(name)?.type;
    if (twin === undefined && type === undefined) {
      fresh.set(name, { entity, contents: new Set(observations) });
    } else if (onConflict === "error") {
      const what =
        type === undefined
          ? "occurs twice in the call"
          : `already exists, with type ${quote(type)}`;
      throw failure("exists", `The entity ${quote(name)} ${what}. Nothing was created.`, {
        hint: "Call add_observations to add to it, update_entities to change it, or pass on_conflict merge or skip.",
      });
    } else if (onConflict === "skip") skipped.push(name);
    else if (twin === undefined) merging.push(entity);
    else for (const content of observations) twin.contents.add(content);
  }
  const entities = [...fresh.values()].map(({ entity, contents }) => ({
    ...entity,
    observations: [...contents],
  }));
  await insertEntities(writer, entities);
  const additions = merging.map(({ name, observations }) => ({
    name,
    facts: observations.map((content) => ({ content })),
  }));
  return { entities, skipped, merged: await addNew(writer, additions, existing) };
}

/** Inserts entities that do not exist, with their observations; returns their ids in order. */
export async function insertEntities(
  writer: Writer,
  entities: readonly Entity[],
): Promise<number[]> {
  const ids = await writer.addEntities(
    entities.map(({ name, entityType }) => ({ name, type: entityType })),
  );
  const contents = entities.flatMap(({ observations }, index) =>
    observations.map((content) => ({ entityId: ids[index] ?? 0, content })),
  );
  await writer.addObservations(contents);
  return ids;
}
