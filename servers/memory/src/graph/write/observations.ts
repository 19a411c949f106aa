import { nearest, ToolError } from "@refmcp/boundary/answer";
import { idOf, quote, quoteAll, unknownEntities } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { NewObservation } from "../store/writer.ts";
import { fold, isStopWord, storable, wordsOf } from "../text.ts";
import type { ChangeFacts, EntityRow, ObservationRow } from "../types.ts";
import { change, checkedText, unlessEmpty } from "./change.ts";

/** Observations for an existing entity. */
type Addition = {
  readonly name: string;
  readonly facts: readonly Omit<NewObservation, "entityId">[];
};

type AddedObservations = {
  readonly entityName: string;
  readonly addedObservations: string[];
  /** Those that it already had. */
  readonly duplicates?: string[] | undefined;
};

/**
 * Adds observations to entities. Those in `replaces`, given by their text or as `#id`, are superseded: they stay in the
 * history, but no ordinary answer has them. Without, the note names existing facts that the new ones may contradict.
 *
 * @throws ToolError `not_found` if an entity or a replaced observation does not exist, `invalid` if there is nothing to
 *   replace it with; nothing is added then.
 */
export async function addObservations(
  store: Store,
  observations: readonly {
    entityName: string;
    contents: readonly string[];
    replaces?: readonly string[] | undefined;
  }[],
  facts: ChangeFacts,
) {
  const additions = observations.map(({ entityName, contents, replaces = [] }, index) => {
    if (replaces.length > 0 && contents.length === 0)
      throw new ToolError(
        "invalid",
        `observations.${index} replaces observations of ${quote(entityName)} with nothing.`,
        { hint: "Pass the new fact in contents; to delete a fact, call delete_observations." },
      );
    const where = `observations.${index}.contents`;
    return {
      name: storable(entityName),
      contents: contents.map((text, at) => checkedText("observation", text, `${where}.${at}`)),
      replaces: replaces.map(storable),
    };
  });
  return change(store, facts, async (writer) => {
    const names = additions.map(({ name }) => name);
    const entities = await writer.entitiesNamed(names);
    const missing = names.filter((name) => !entities.has(name));
    if (missing.length > 0) throw await unknownEntities(writer, [...new Set(missing)]);
    const targets = additions.flatMap(({ contents, replaces, name }) =>
      [entities.get(name)].flatMap((entity) => (entity ? { entity, contents, replaces } : [])),
    );
    const oldRows: ObservationRow[][] = [];
    for (const { entity, replaces } of targets)
      oldRows.push(await replacedObservations(writer, entity, replaces));
    const old = new Set(oldRows.flat().map(({ id }) => id));
    const notes: string[] = [];
    for (const { entity, contents } of targets)
      notes.push(...(await contradictions(writer, entity, contents, old)));
    const results = await addNew(
      writer,
      targets.map(({ entity: { name }, contents }) => ({
        name,
        facts: contents.map((content) => ({ content })),
      })),
      entities,
    );
    for (const [index, { entity, contents }] of targets.entries()) {
      const rows = (oldRows[index] ?? []).filter(({ id }) => old.delete(id));
      await supersede(writer, entity.id, rows, contents);
      const superseded = unlessEmpty(rows.map(({ content }) => content));
      if (superseded !== undefined) Object.assign(results[index] ?? {}, { superseded });
    }
    return { results, note: notes.join(" ") || undefined };
  });
}

/** Adds the observations that are new to existing entities; returns the new and the existing ones for each. */
export async function addNew(
  writer: Writer,
  additions: readonly Addition[],
  entities: ReadonlyMap<string, { id: number }>,
): Promise<AddedObservations[]> {
  const candidates = additions.map(({ name, facts }) =>
    facts.map((fact) => ({ ...fact, entityId: entities.get(name)?.id ?? 0 })),
  );
  const keyOf = ({ entityId, content }: NewObservation) => JSON.stringify([entityId, content]);
  const existingKeys = new Set((await writer.observationsMatching(candidates.flat())).map(keyOf));
  const added = candidates.map((rows) =>
    rows.filter((row) => !existingKeys.has(keyOf(row)) && existingKeys.add(keyOf(row))),
  );
  await writer.addObservations(added.flat());
  return additions.map(({ name }, index) => {
    const fresh = added[index] ?? [];
    const duplicates = (candidates[index] ?? []).filter((row) => !fresh.includes(row));
    return {
      entityName: name,
      addedObservations: fresh.map(({ content }) => content),
      duplicates: unlessEmpty(duplicates.map(({ content }) => content)),
    };
  });
}

/** The current observations of an entity with these texts or `#id`s. @throws ToolError `not_found` */
async function replacedObservations(
  writer: Writer,
  entity: EntityRow,
  replaces: readonly string[],
): Promise<ObservationRow[]> {
  if (replaces.length === 0) return [];
  const current = await writer.observationsOf([entity.id]);
  const rows = replaces.map((text) => {
    const row = current.find(({ id, content }) => content === text || text === idOf(id));
    if (row !== undefined) return row;
    const contents = current.map(({ content }) => content);
    const like = nearest(text, contents, 1);
    const meant = like.length === 0 ? "" : `Did you mean ${quoteAll(like)}? `;
    throw new ToolError(
      "not_found",
      `${quote(entity.name)} has no current fact ${quote(text)}; nothing was changed.`,
      {
        hint: `${meant}Pass the exact text or the id of the fact (#12); open_nodes with history shows both.`,
      },
    );
  });
  return [...new Set(rows)];
}

/**
 * Marks observations as replaced by others of the same entity: by those at the same places of the list, and what is left
 * by the last.
 */
async function supersede(
  writer: Writer,
  entityId: number,
  rows: readonly ObservationRow[],
  contents: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  const current = await writer.observationsMatching(
    contents.map((content) => ({ entityId, content })),
  );
  for (const [at, row] of rows.entries()) {
    const text = contents[at] ?? contents.at(-1);
    const by = current.find(({ content }) => content === text)?.id ?? null;
    if (by === row.id)
      throw new ToolError(
        "invalid",
        `${quote(row.content)} would replace itself; nothing was changed.`,
        { hint: "Pass different texts in contents and replaces." },
      );
    await writer.set("observation", [row.id], { superseded_at: writer.at, superseded_by: by });
  }
}

/** How many of an entity's newest facts are compared; if more begin alike, they are a list (of what a person likes). */
const [MAX_COMPARED, MAX_ALIKE] = [500, 3];

/** Sentences about current facts that begin like new ones and end differently: `lives in Vienna`, `lives in Graz`. */
async function contradictions(
  writer: Writer,
  { id: entityId, name }: EntityRow,
  contents: readonly string[],
  replaced: ReadonlySet<number>,
): Promise<string[]> {
  const rows = await writer.newestOf(entityId, MAX_COMPARED);
  const current = rows.map((row) => ({ ...row, start: beginning(row.content, name) }));
  return contents.flatMap((content) => {
    const start = beginning(content, name);
    const alike = current.filter((row) => start !== undefined && row.start === start);
    const old = alike.filter((row) => !replaced.has(row.id) && !contents.includes(row.content));
    if (old.length === 0 || alike.length > MAX_ALIKE) return [];
    const facts = old.map((row) => `${quote(row.content)} (${idOf(row.id)})`).join(", ");
    const them = old.length === 1 ? "that" : "one of these";
    return `${quote(name)} has ${facts}. If ${quote(content)} replaces ${them}, repeat the call with its id in replaces.`;
  });
}

/** The first two words of a fact after the name of its entity, if one has a meaning and more words follow. */
function beginning(content: string, name: string): string | undefined {
  const words = wordsOf(fold(content));
  for (const word of wordsOf(fold(name))) if (words[0] === word) words.shift();
  const start = words.slice(0, 2);
  return words.length > 2 && !start.every(isStopWord) ? start.join(" ") : undefined;
}
