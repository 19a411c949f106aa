import { nearest, ToolError } from "@refmcp/boundary/answer";
import { idOf, quote, quoteAll, unknownEntities } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { NewObservation } from "../store/writer.ts";
import { fold, isStopWord, wordsOf } from "../text.ts";
import type { ChangeFacts, EntityRow, ObservationRow } from "../types.ts";
import { change, checkedText, unlessEmpty } from "./change.ts";

/** Observations for an existing entity. */
export type Addition = { readonly name: string; readonly contents: readonly string[] };

type AddedObservations = {
  readonly entityName: string;
  readonly addedObservations: string[];
  /** Those that it already had. */
  readonly duplicates?: string[] | undefined;
  /** Those that were replaced, which are history now. */
  readonly superseded?: string[] | undefined;
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
    const entities = await writer.entitiesNamed(names);
    const missing = names.filter((name) => !entities.has(name));
    if (missing.length > 0) throw await unknownEntities(writer, [...new Set(missing)]);
    const replaced: ObservationRow[][] = [];
    for (const { name, replaces } of additions)
      replaced.push(await replacedObservations(writer, entities.get(name), replaces));
    const old = new Set(replaced.flatMap((rows) => rows.map(({ id }) => id)));
    const notes: string[] = [];
    for (const { name, contents } of additions)
      notes.push(...(await contradictions(writer, entities.get(name), contents, old)));
    const results = await addNew(writer, additions, entities);
    for (const [index, { name, contents }] of additions.entries()) {
      const rows = (replaced[index] ?? []).filter(({ id }) => old.delete(id));
      await supersede(writer, entities.get(name), rows, contents);
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
  const rows: NewObservation[] = [];
  const results: AddedObservations[] = [];
  const known = new Map<number, Set<string>>();
  for (const { name, contents } of additions) {
    const entityId = entities.get(name)?.id ?? 0;
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

/** The current observations of an entity with these texts or `#id`s. @throws ToolError `not_found` */
async function replacedObservations(
  writer: Writer,
  entity: EntityRow | undefined,
  replaces: readonly string[],
): Promise<ObservationRow[]> {
  if (entity === undefined || replaces.length === 0) return [];
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
  entity: EntityRow | undefined,
  rows: readonly ObservationRow[],
  contents: readonly string[],
): Promise<void> {
  if (entity === undefined || rows.length === 0) return;
  const current = await writer.observationsMatching(entity.id, contents);
  const idOfText = new Map(current.map(({ content, id }) => [content, id]));
  for (const [at, row] of rows.entries()) {
    const by = idOfText.get(contents[at] ?? contents.at(-1) ?? "") ?? null;
    if (by === row.id)
      throw new ToolError(
        "invalid",
        `${quote(row.content)} would replace itself; nothing was changed.`,
        { hint: "Pass different texts in contents and replaces." },
      );
    await writer.set("observation", [row.id], { superseded_at: writer.at, superseded_by: by });
  }
}

/** How many of the newest facts of an entity are compared with a new one. */
const MAX_COMPARED = 500;
/** If more facts begin like a new one, they are a list, such as of what a person likes. */
const MAX_ALIKE = 3;

/** Sentences about current facts that begin like new ones and end differently: `lives in Vienna`, `lives in Graz`. */
async function contradictions(
  writer: Writer,
  entity: EntityRow | undefined,
  contents: readonly string[],
  replaced: ReadonlySet<number>,
): Promise<string[]> {
  if (entity === undefined) return [];
  const rows = await writer.newestOf(entity.id, MAX_COMPARED);
  const current = rows.map((row) => ({ ...row, words: predicateOf(row.content, entity.name) }));
  const given = new Set(contents);
  return contents.flatMap((content) => {
    const words = predicateOf(content, entity.name);
    const alike = current.filter((row) => isAlike(row.words, words));
    const old = alike.filter((row) => !replaced.has(row.id) && !given.has(row.content));
    if (old.length === 0 || alike.length > MAX_ALIKE) return [];
    const facts = old.map((row) => `${quote(row.content)} (${idOf(row.id)})`).join(", ");
    const them = old.length === 1 ? "that" : "one of these";
    return [
      `${quote(entity.name)} has ${facts}. If ${quote(content)} replaces ${them}, repeat the call with its id in replaces.`,
    ];
  });
}

/** The words of a fact without the name of its entity at the beginning. */
function predicateOf(content: string, name: string): string[] {
  const words = wordsOf(fold(content));
  for (const word of wordsOf(fold(name))) if (words[0] === word) words.shift();
  return words;
}

/** Whether two facts begin with the same words, at least two with one that has a meaning, and both continue. */
function isAlike(first: readonly string[], second: readonly string[]): boolean {
  const end = first.findIndex((word, at) => word !== second[at]);
  const common = first.slice(0, end);
  return end >= 2 && end < second.length && common.some((word) => !isStopWord(word));
}
