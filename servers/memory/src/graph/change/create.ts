import { nearest, ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { quote, quoteAll, unknownEntities } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { NewObservation, NewRelation } from "../store/writer.ts";
import type { ChangeFacts, Entity, ObservationRow, Relation } from "../types.ts";
import { change, checkedText, unlessEmpty } from "./change.ts";

/** What to do with an entity whose name exists. */
export type OnConflict = "skip" | "merge" | "error";

type AddedObservations = {
  readonly entityName: string;
  readonly addedObservations: string[];
  /** Those that it already had. */
  readonly duplicates?: string[] | undefined;
  /** Those that were replaced, which are history now. */
  readonly superseded?: string[] | undefined;
};

/** Observations for an existing entity. */
type Addition = { readonly name: string; readonly contents: readonly string[] };

/**
 * Creates entities with their observations. Blanks around names are removed.
 *
 * @returns those it created, the names that existed and were left unchanged, and what was added to
 *   existing entities.
 * @throws ToolError `invalid` for an empty or overlong text, `conflict` for an existing name with `error`.
 */
export async function createEntities(
  store: Store,
  given: readonly Entity[],
  { on_conflict, ...facts }: { on_conflict: OnConflict } & ChangeFacts,
) {
  const wanted = given.map(({ name, entityType, observations }, index) => ({
    name: checkedText("name", name, `entities.${index}.name`).trim(),
    entityType: checkedText("type", entityType, `entities.${index}.entityType`),
    observations: observations.map((text, at) =>
      checkedText("observation", text, `entities.${index}.observations.${at}`),
    ),
  }));
  return change(store, facts, async (writer) => {
    const { entities, skipped, merged } = await addEntities(writer, wanted, on_conflict);
    return { entities, skipped: unlessEmpty(skipped), merged: unlessEmpty(merged) };
  });
}

/** Inserts entities whose names are new, each name once; `onConflict` says what happens to the others. */
export async function addEntities(
  writer: Writer,
  wanted: readonly Entity[],
  onConflict: OnConflict,
): Promise<{ entities: Entity[]; skipped: string[]; merged: AddedObservations[] }> {
  const existing = await writer.entitiesNamed(wanted.map(({ name }) => name));
  const fresh = new Map<string, { entity: Entity; contents: Set<string> }>();
  const merging: Addition[] = [];
  const skipped: string[] = [];
  for (const entity of wanted) {
    const twin = fresh.get(entity.name);
    if (twin === undefined && !existing.has(entity.name)) {
      fresh.set(entity.name, { entity, contents: new Set(entity.observations) });
    } else if (onConflict === "error") {
      const type = existing.get(entity.name)?.type;
      const what =
        type === undefined
          ? "occurs twice in the call"
          : `already exists, with type ${quote(type)}`;
      throw failure("exists", `The entity ${quote(entity.name)} ${what}. Nothing was created.`, {
        hint: "Call add_observations to add to it, update_entities to change it, or pass on_conflict merge or skip.",
      });
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
  await insertEntities(writer, entities);
  return { entities, skipped, merged: await addNew(writer, merging, existing) };
}

/** Inserts entities that do not exist, with their observations; returns their ids in order. */
async function insertEntities(writer: Writer, entities: readonly Entity[]): Promise<number[]> {
  const ids = await writer.addEntities(
    entities.map(({ name, entityType }) => ({ name, type: entityType })),
  );
  const contents = entities.flatMap(({ observations }, index) =>
    observations.map((content) => ({ entityId: ids[index] ?? 0, content })),
  );
  await writer.addObservations(contents);
  return ids;
}

/** Adds the observations that are new to existing entities; returns the new and the existing ones for each. */
async function addNew(
  writer: Writer,
  additions: readonly Addition[],
  existing: ReadonlyMap<string, { id: number }>,
): Promise<AddedObservations[]> {
  const rows: NewObservation[] = [];
  const results: AddedObservations[] = [];
  const known = new Map<number, Set<string>>();
  for (const { name, contents } of additions) {
    const entityId = existing.get(name)?.id ?? 0;
    const had = known.get(entityId) ?? new Set<string>();
    known.set(entityId, had);
    for (const { content } of await writer.observationsMatching(entityId, contents))
      had.add(content);
    const added: string[] = [];
    const duplicates: string[] = [];
    for (const content of contents) {
      (had.has(content) ? duplicates : added).push(content);
      had.add(content);
    }
    rows.push(...added.map((content) => ({ entityId, content })));
    results.push({
      entityName: name,
      addedObservations: added,
      duplicates: unlessEmpty(duplicates),
    });
  }
  await writer.addObservations(rows);
  return results;
}

/**
 * Adds observations to entities. Those in `replaces`, given by their text or as `#id`, are superseded: they stay in the history,
 * but no ordinary answer has them.
 *
 * @throws ToolError `not_found` if an entity or a replaced observation does not exist, `invalid` if there is nothing to replace it
 *   with; nothing is added then.
 */
export async function addObservations(
  store: Store,
  given: readonly {
    entityName: string;
    contents: readonly string[];
    replaces?: readonly string[] | undefined;
  }[],
  facts: ChangeFacts,
) {
  const additions = given.map(({ entityName, contents, replaces = [] }, index) => {
    if (replaces.length > 0 && contents.length === 0)
      throw new ToolError(
        "invalid",
        `observations.${index} replaces observations of ${quote(entityName)} with nothing.`,
        {
          hint: "Pass the new fact in contents; to delete a fact, call delete_observations.",
        },
      );
    return {
      name: entityName.toWellFormed(),
      contents: contents.map((text, at) =>
        checkedText("observation", text, `observations.${index}.contents.${at}`),
      ),
      replaces: replaces.map((text) => text.toWellFormed()),
    };
  });
  return change(store, facts, async (writer) => {
    const names = additions.map(({ name }) => name);
    const existing = await writer.entitiesNamed(names);
    const missing = names.filter((name) => !existing.has(name));
    if (missing.length > 0) throw await unknownEntities(writer, [...new Set(missing)]);
    const replaced: ObservationRow[][] = [];
    const seen = new Set<number>();
    for (const { name, replaces } of additions) {
      const rows = await replacedObservations(writer, name, existing.get(name)?.id ?? 0, replaces);
      replaced.push(rows.filter(({ id }) => !seen.has(id)));
      for (const { id } of rows) seen.add(id);
    }
    const results = await addNew(writer, additions, existing);
    for (const [index, { name, contents }] of additions.entries()) {
      const old = replaced[index] ?? [];
      if (old.length === 0) continue;
      const news = await writer.observationsMatching(existing.get(name)?.id ?? 0, contents);
      const byText = new Map(news.map(({ content, id }) => [content, id]));
      const pairs = old.map((row, at) => ({
        old: row,
        by: byText.get(contents[at] ?? contents.at(-1) ?? "") ?? 0,
      }));
      const itself = pairs.find(({ old: row, by }) => row.id === by);
      if (itself !== undefined)
        throw new ToolError(
          "invalid",
          `${quote(itself.old.content)} would replace itself; nothing was changed.`,
          {
            hint: "Pass different texts in contents and replaces.",
          },
        );
      await writer.supersede(pairs);
      results[index] = {
        ...(results[index] ?? { entityName: name, addedObservations: [] }),
        superseded: old.map(({ content }) => content),
      };
    }
    return { results };
  });
}

/** The current observations of an entity with these texts or `#id`s. @throws ToolError `not_found` */
async function replacedObservations(
  writer: Writer,
  name: string,
  entityId: number,
  given: readonly string[],
): Promise<ObservationRow[]> {
  if (given.length === 0) return [];
  const current = await writer.observationsOf([entityId]);
  const found = given.map((text) => {
    const row = current.find(({ id, content }) => content === text || text === `#${id}`);
    if (row !== undefined) return row;
    const like = nearest(
      text,
      current.map(({ content }) => content),
      1,
    );
    throw new ToolError(
      "not_found",
      `${quote(name)} has no current fact ${quote(text)}; nothing was changed.`,
      {
        hint: `${like.length === 0 ? "" : `Did you mean ${quoteAll(like)}? `}Pass the exact text or the id of the fact (#12); search_nodes and open_nodes show them.`,
      },
    );
  });
  return [...new Set(found)];
}

/**
 * Creates relations between entities. Blanks around names are removed, unless an entity has them.
 *
 * @returns those it created, those that existed, and the entities that were created because a relation named them.
 * @throws ToolError `not_found` for an unknown entity with `error`; nothing is created then.
 */
export async function createRelations(
  store: Store,
  given: readonly Relation[],
  { on_missing, ...facts }: { on_missing: "error" | "create" } & ChangeFacts,
) {
  const wanted = given.map(({ from, to, relationType }, index) => ({
    from: checkedText("name", from, `relations.${index}.from`),
    to: checkedText("name", to, `relations.${index}.to`),
    relationType: checkedText("type", relationType, `relations.${index}.relationType`),
  }));
  return change(store, facts, async (writer) => {
    const ends = wanted.flatMap(({ from, to }) => [from, to]);
    const known = await writer.entitiesNamed(ends.filter((name) => name !== name.trim()));
    const end = (name: string) => (known.has(name) ? name : name.trim());
    const trimmed = wanted.map((one) => ({ ...one, from: end(one.from), to: end(one.to) }));
    const { relations, duplicates, missing } = await addRelations(writer, trimmed, on_missing);
    return {
      relations,
      duplicates: unlessEmpty(duplicates),
      created_entities: unlessEmpty(missing),
    };
  });
}

/** Inserts the relations that do not exist; `missing` are the entities created for them, if requested. */
export async function addRelations(
  writer: Writer,
  wanted: readonly Relation[],
  onMissing: "error" | "create",
): Promise<{ relations: Relation[]; duplicates: Relation[]; missing: string[] }> {
  const names = [...new Set(wanted.flatMap(({ from, to }) => [from, to]))];
  const ids = new Map([...(await writer.entitiesNamed(names))].map(([name, { id }]) => [name, id]));
  const missing = names.filter((name) => !ids.has(name));
  if (missing.length > 0 && onMissing === "error") {
    const { kind, message, hint, code } = await unknownEntities(writer, missing);
    throw new ToolError(kind, `${message} No relation was created.`, {
      hint: `${hint} Or pass on_missing create.`,
      code,
    });
  }
  const made = missing.map((name) => ({ name, entityType: "unknown", observations: [] }));
  for (const [index, id] of (await insertEntities(writer, made)).entries())
    ids.set(missing[index] ?? "", id);
  const rows = wanted.map((relation) => {
    const { from, to, relationType: type } = relation;
    return { relation, fromId: ids.get(from) ?? 0, toId: ids.get(to) ?? 0, type };
  });
  const keyOf = ({ fromId, toId, type }: NewRelation) => JSON.stringify([fromId, toId, type]);
  const known = new Set((await writer.relationsBetween(rows)).map(keyOf));
  const fresh: NewRelation[] = [];
  const relations: Relation[] = [];
  const duplicates: Relation[] = [];
  for (const row of rows) {
    const isNew = !known.has(keyOf(row));
    known.add(keyOf(row));
    if (isNew) fresh.push(row);
    (isNew ? relations : duplicates).push(row.relation);
  }
  await writer.addRelations(fresh);
  return { relations, duplicates, missing };
}
