import { grouped, ToolError } from "@refmcp/boundary/answer";
import { quoteAll, unknownEntities } from "../read/names.ts";
import type { Reader, Store, Writer } from "../store/store.ts";
import {
  type ChangeFacts,
  type Counts,
  type EntityRow,
  idsOf,
  type ObservationRow,
  type Relation,
  type RelationRow,
} from "../types.ts";
import { change, unlessEmpty } from "./change.ts";

export interface Deleted {
  readonly success: true;
  readonly message: string;
  readonly deleted: Partial<Counts>;
  readonly not_found?: string[] | undefined;
  readonly change_id?: number | undefined;
}

/** Whether rows are erased permanently, which needs the user's confirmation. */
export interface Hard {
  readonly hard: boolean;
  /** The question that the user confirmed. Without it, a hard deletion only returns its question. */
  readonly agreed?: string | undefined;
}

/** The question of a hard deletion to the user. */
export interface Question {
  readonly question: string;
}

/** The rows that a deletion found. A hard deletion includes rows that were already softly deleted. */
interface Found {
  readonly entities: readonly EntityRow[];
  readonly observations: readonly ObservationRow[];
  readonly relations: readonly RelationRow[];
  readonly missing: readonly string[];
}

const NOTHING: Found = { entities: [], observations: [], relations: [], missing: [] };

/**
 * Deletes entities with their observations and relations.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteEntities(store: Store, given: readonly string[], options: Hard & ChangeFacts) {
  const names = [...new Set(given.map((name) => name.toWellFormed()))];
  const alsoRemoved = options.hard;
  return remove(store, options, "entities", async (reader) => {
    const entities = await entitiesNamed(reader, names, alsoRemoved);
    if (entities.length === 0) throw await unknownEntities(reader, names);
    const ids = idsOf(entities);
    return {
      entities,
      observations: await reader.observationsOf(ids, alsoRemoved),
      relations: await reader.relationsOf(ids, { alsoRemoved }),
      missing: names.filter((name) => !entities.some((entity) => entity.name === name)),
    };
  });
}

async function entitiesNamed(reader: Reader, names: readonly string[], alsoRemoved: boolean) {
  const live = [...(await reader.entitiesNamed(names)).values()].sort((a, b) => a.id - b.id);
  return alsoRemoved ? [...live, ...(await reader.removedNamed(names))] : live;
}

/**
 * Deletes observations by their exact text.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteObservations(
  store: Store,
  given: readonly { entityName: string; observations: readonly string[] }[],
  options: Hard & ChangeFacts,
) {
  const wanted = given.map(({ entityName, observations }) => ({
    name: entityName.toWellFormed(),
    contents: observations.map((text) => text.toWellFormed()),
  }));
  return remove(store, options, "observations", async (reader) => {
    const names = [...new Set(wanted.map(({ name }) => name))];
    const entities = await entitiesNamed(reader, names, options.hard);
    if (entities.length === 0) throw await unknownEntities(reader, names);
    const rows = new Map<number, ObservationRow>();
    const missing: string[] = [];
    for (const { name, contents } of wanted) {
      const hosts = entities.filter((entity) => entity.name === name);
      const found: ObservationRow[] = [];
      for (const { id } of hosts)
        found.push(...(await reader.observationsMatching(id, contents, options.hard)));
      for (const row of found) rows.set(row.id, row);
      if (hosts.length === 0) missing.push(name);
      else missing.push(...contents.filter((text) => !found.some(({ content }) => content === text)));
    }
    if (rows.size === 0)
      throw new ToolError("not_found", `None of these observations exists: ${quoteAll(missing)}.`, {
        hint: "Observations are deleted by their exact text; open_nodes shows it.",
      });
    return { ...NOTHING, observations: [...rows.values()], missing };
  });
}

/**
 * Deletes relations.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteRelations(store: Store, given: readonly Relation[], options: Hard & ChangeFacts) {
  const wanted = given.map(({ from, to, relationType }) => ({
    from: from.toWellFormed(),
    to: to.toWellFormed(),
    type: relationType.toWellFormed(),
  }));
  return remove(store, options, "relations", async (reader) => {
    const names = [...new Set(wanted.flatMap(({ from, to }) => [from, to]))];
    const entities = await entitiesNamed(reader, names, options.hard);
    const named = (name: string) => idsOf(entities.filter((entity) => entity.name === name));
    const ends = wanted.flatMap(({ from, to }) =>
      named(from).flatMap((fromId) => named(to).map((toId) => ({ fromId, toId }))),
    );
    const between = await reader.relationsBetween(ends, options.hard);
    const texts = new Set(wanted.map(relationText));
    const relations = between.filter((row) => texts.has(relationText(row)));
    const found = new Set(relations.map(relationText));
    const missing = wanted.map(relationText).filter((text) => !found.has(text));
    if (relations.length === 0)
      throw new ToolError("not_found", `None of these relations exists: ${quoteAll(missing)}.`, {
        hint: "A relation is deleted by from, to and relationType as open_nodes shows them.",
      });
    return { ...NOTHING, relations, missing };
  });
}

function relationText({ from, type, to }: { from: string; type: string; to: string }): string {
  return `${from} ${type} ${to}`;
}

/**
 * Deletes what `find` finds, softly, or permanently once the user confirmed exactly that.
 *
 * @throws ToolError `conflict` if it is no longer what the user confirmed.
 */
async function remove(
  store: Store,
  { hard, agreed, ...facts }: Hard & ChangeFacts,
  subject: keyof Counts,
  find: (reader: Reader) => Promise<Found>,
): Promise<Deleted | Question> {
  if (hard && agreed === undefined) return { question: questionOf(await store.read(find), subject) };
  const { change_id, ...found } = await change(store, { ...facts, hard }, async (writer) => {
    const found = await find(writer);
    if (hard && questionOf(found, subject) !== agreed)
      throw new ToolError("conflict", "The memory changed after the user was asked; nothing was erased.", {
        hint: "Repeat the call; the user is asked again.",
      });
    await (hard ? erase(writer, found) : removeFound(writer, found));
    return found;
  });
  const counts = subject === "entities" ? countsOf(found) : { [subject]: found[subject].length };
  const left = hard ? await store.overwriteErased().catch(notOverwritten) : undefined;
  const undo =
    hard || change_id === undefined
      ? ""
      : ` undo_memory_change with change_id ${change_id} restores ${totalOf(counts) === 1 ? "it" : "them"}.`;
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(counts)}.${undo}${left === undefined ? "" : ` ${left}`}`,
    deleted: counts,
    not_found: unlessEmpty(found.missing.slice(0, 50)),
    change_id,
  };
}

async function removeFound(writer: Writer, { entities, observations, relations }: Found): Promise<void> {
  await writer.remove("relation", relations);
  await writer.remove("observation", observations);
  await writer.remove("entity", entities);
}

async function erase(writer: Writer, { entities, observations, relations }: Found): Promise<void> {
  await writer.changeId();
  await writer.purge("relation", idsOf(relations));
  await writer.purge("observation", idsOf(observations));
  await writer.purge("entity", idsOf(entities));
}

/** The rows are already deleted, so this is not a failed deletion. */
function notOverwritten(error: unknown): string {
  return `Old copies on disk could not be overwritten: ${error instanceof Error ? error.message : String(error)}`;
}

/** States exactly what would be lost. */
function questionOf(found: Found, subject: keyof Counts): string {
  const removed = ({ removedBy }: { removedBy: number | null }) => removedBy !== null;
  const before = countsOf({
    ...found,
    entities: found.entities.filter(removed),
    observations: found.observations.filter(removed),
    relations: found.relations.filter(removed),
  });
  const parts = Object.fromEntries(Object.entries(before).filter(([, count]) => count > 0));
  const also = totalOf(before) === 0 ? "" : ` This includes ${counted(parts)} that can still be restored.`;
  if (subject === "entities") {
    const { entities, ...attached } = countsOf(found);
    const names = [...new Set(found.entities.map(({ name }) => name))];
    return `Permanently erase from memory: ${quoteAll(names)}, with ${counted(attached)}?${also}`;
  }
  const texts =
    subject === "relations"
      ? found.relations.map(relationText)
      : found.observations.map(({ content }) => content);
  return `Permanently erase ${counted({ [subject]: texts.length })} from memory: ${quoteAll(texts)}?${also}`;
}

function countsOf({ entities, observations, relations }: Found): Counts {
  return { entities: entities.length, observations: observations.length, relations: relations.length };
}

const totalOf = (counts: Partial<Counts>) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** { entities: 1, relations: 2 } → "1 entity, 2 relations". */
export function counted(counts: Partial<Counts>): string {
  const part = (count: number | undefined, one: string, many: string) =>
    count === undefined ? [] : [`${grouped(count)} ${count === 1 ? one : many}`];
  return [
    ...part(counts.entities, "entity", "entities"),
    ...part(counts.observations, "observation", "observations"),
    ...part(counts.relations, "relation", "relations"),
  ].join(", ");
}
