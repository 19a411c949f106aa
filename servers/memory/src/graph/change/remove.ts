import { grouped, ToolError } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import {
  type Counts,
  type EntityRow,
  idsOf,
  type ObservationRow,
  type Relation,
  type RelationRow,
} from "../types.ts";
import { type ChangeFacts, type ChangeLog, change } from "./change-log.ts";
import { quoteAll, unknownEntities } from "./checks.ts";

export interface Deleted {
  readonly success: true;
  readonly message: string;
  readonly deleted: { entities?: number; observations?: number; relations?: number };
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

/**
 * Deletes entities with their observations and relations.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteEntities(store: Store, given: readonly string[], options: Hard & ChangeFacts) {
  const names = [...new Set(given.map((name) => name.toWellFormed()))];
  return carryOut(store, options, "entities", async (reader) => {
    const entities = await named(reader, names, options.hard);
    const ids = idsOf(entities);
    return {
      entities,
      observations: await reader.observationsOf(ids, options.hard),
      relations: await reader.allRelations(ids, options.hard),
      missing: names.filter((name) => !entities.some((entity) => entity.name === name)),
    };
  });
}

/** @throws ToolError `not_found` if none of the names exists. */
async function named(reader: Reader, names: readonly string[], alsoRemoved: boolean): Promise<EntityRow[]> {
  const live = [...(await reader.entitiesNamed(names)).values()].sort((a, b) => a.id - b.id);
  const entities = alsoRemoved ? [...live, ...(await reader.removedNamed(names))] : live;
  if (entities.length === 0) throw await unknownEntities(reader, [...new Set(names)]);
  return entities;
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
  return carryOut(store, options, "observations", async (reader) => {
    const entities = await named(
      reader,
      wanted.map(({ name }) => name),
      options.hard,
    );
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
    return { entities: [], observations: [...rows.values()], relations: [], missing };
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
  return carryOut(store, options, "relations", async (reader) => {
    const names = [...new Set(wanted.flatMap(({ from, to }) => [from, to]))];
    const live = [...(await reader.entitiesNamed(names)).values()];
    const entities = options.hard ? [...live, ...(await reader.removedNamed(names))] : live;
    const idsOf = (wantedName: string) =>
      entities.flatMap(({ id, name }) => (name === wantedName ? [id] : []));
    const ends = wanted.flatMap(({ from, to }) =>
      idsOf(from).flatMap((fromId) => idsOf(to).map((toId) => ({ fromId, toId }))),
    );
    const between = await reader.relationsBetween(ends, options.hard);
    const has = (relation: (typeof wanted)[number]) => (row: RelationRow) =>
      relationText(row) === relationText(relation);
    const relations = between.filter((row) => wanted.some((relation) => has(relation)(row)));
    const missing = wanted.filter((relation) => !between.some(has(relation))).map(relationText);
    if (relations.length === 0)
      throw new ToolError("not_found", `None of these relations exists: ${quoteAll(missing)}.`, {
        hint: "A relation is deleted by from, to and relationType as open_nodes shows them.",
      });
    return { entities: [], observations: [], relations, missing };
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
async function carryOut(
  store: Store,
  { hard, agreed, ...facts }: Hard & ChangeFacts,
  subject: keyof Counts,
  find: (reader: Reader) => Promise<Found>,
): Promise<Deleted | Question> {
  if (hard && agreed === undefined) return { question: questionOf(await store.read(find), subject) };
  const { value, changeId } = await change(store, { ...facts, hard }, async (log) => {
    const found = await find(log.writer);
    if (!hard) {
      await log.remove("relation", found.relations);
      await log.remove("observation", found.observations);
      await log.remove("entity", found.entities);
    } else if (questionOf(found, subject) === agreed) await erase(log, found);
    else
      throw new ToolError("conflict", "The memory changed after the user was asked; nothing was erased.", {
        hint: "Repeat the call; the user is asked again.",
      });
    return found;
  });
  const counts = subject === "entities" ? countsOf(value) : { [subject]: value[subject].length };
  const left = hard ? await store.overwriteErased().catch(notOverwritten) : undefined;
  const undo =
    hard || changeId === undefined
      ? ""
      : ` undo_memory_change with change_id ${changeId} restores ${totalOf(counts) === 1 ? "it" : "them"}.`;
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(counts)}.${undo}${left === undefined ? "" : ` ${left}`}`,
    deleted: counts,
    not_found: value.missing.length === 0 ? undefined : value.missing.slice(0, 50),
    change_id: changeId,
  };
}

/** The rows are already deleted, so this is not a failed deletion. */
function notOverwritten(error: unknown): string {
  return `Old copies on disk could not be overwritten: ${error instanceof Error ? error.message : String(error)}`;
}

/** States exactly what would be lost. */
function questionOf(found: Found, subject: keyof Counts): string {
  const removed = ({ removedBy }: { removedBy: number | null }) => removedBy !== null;
  const before = {
    entities: found.entities.filter(removed).length,
    observations: found.observations.filter(removed).length,
    relations: found.relations.filter(removed).length,
  };
  const parts = Object.fromEntries(Object.entries(before).filter(([, count]) => count > 0));
  const also = totalOf(before) === 0 ? "" : ` This includes ${counted(parts)} that can still be restored.`;
  const { entities, ...attached } = countsOf(found);
  if (subject === "entities") {
    const names = [...new Set(found.entities.map(({ name }) => name))];
    return `Permanently erase from memory: ${quoteAll(names)}, with ${counted(attached)}?${also}`;
  }
  const texts =
    subject === "relations"
      ? found.relations.map(relationText)
      : found.observations.map(({ content }) => content);
  return `Permanently erase ${counted({ [subject]: texts.length })} from memory: ${quoteAll(texts)}?${also}`;
}

async function erase(log: ChangeLog, found: Found): Promise<void> {
  await log.id();
  await log.writer.purge("relation", idsOf(found.relations));
  await log.writer.purge("observation", idsOf(found.observations));
  await log.writer.purge("entity", idsOf(found.entities));
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
