import { ToolError } from "@refmcp/boundary/answer";
import { counted } from "../counts.ts";
import { quoteAll, unknownEntities } from "../read/names.ts";
import type { Reader, Store } from "../store/store.ts";
import { TABLES } from "../store/tables.ts";
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

/**
 * Whether rows are erased permanently, and the question that the user confirmed. Without it, a hard deletion only returns
 * its question.
 */
export type Hard = { readonly hard: boolean; readonly agreed?: string | undefined };
export type Question = { readonly question: string };

/** The rows to delete. A hard deletion includes rows that were already softly deleted. */
interface Doomed {
  readonly entities: readonly EntityRow[];
  readonly observations: readonly ObservationRow[];
  readonly relations: readonly RelationRow[];
  /** What was named and does not exist. */
  readonly missing: readonly string[];
}

const MAX_MISSING = 50;

/**
 * Deletes entities with their observations and relations.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteEntities(
  store: Store,
  entityNames: readonly string[],
  options: Hard & ChangeFacts,
) {
  const names = [...new Set(entityNames.map((name) => name.toWellFormed()))];
  return remove(store, options, "entities", async (reader) => {
    const entities = await entitiesNamed(reader, names, options.hard);
    const ids = idsOf(entities);
    const known = new Set(entities.map(({ name }) => name));
    return {
      entities,
      observations: await reader.observationsOf(ids, options.hard ? "all" : "kept"),
      relations: await reader.relationsOf(ids, { alsoRemoved: options.hard }),
      missing: names.filter((name) => !known.has(name)),
    };
  });
}

/** Entities with these names, some of which may be deleted ones. @throws ToolError `not_found` if there is none. */
async function entitiesNamed(reader: Reader, names: readonly string[], alsoRemoved: boolean) {
  const live = [...(await reader.entitiesNamed(names)).values()].sort((a, b) => a.id - b.id);
  const entities = alsoRemoved ? [...live, ...(await reader.removedNamed(names))] : live;
  if (entities.length === 0) throw await unknownEntities(reader, names);
  return entities;
}

/**
 * Deletes observations by their exact text.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteObservations(
  store: Store,
  deletions: readonly { entityName: string; observations: readonly string[] }[],
  options: Hard & ChangeFacts,
) {
  const wanted = deletions.map(({ entityName, observations }) => ({
    name: entityName.toWellFormed(),
    contents: observations.map((text) => text.toWellFormed()),
  }));
  return remove(store, options, "observations", async (reader) => {
    const names = [...new Set(wanted.map(({ name }) => name))];
    const entities = await entitiesNamed(reader, names, options.hard);
    const rows = new Map<number, ObservationRow>();
    const missing: string[] = [];
    for (const { name, contents } of wanted) {
      const hosts = entities.filter((entity) => entity.name === name);
      const known = new Set<string>();
      for (const { id } of hosts) {
        const which = options.hard ? "all" : "kept";
        for (const row of await reader.observationsMatching(id, contents, which)) {
          rows.set(row.id, row);
          known.add(row.content);
        }
      }
      missing.push(...(hosts.length === 0 ? [name] : contents.filter((text) => !known.has(text))));
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
export function deleteRelations(
  store: Store,
  given: readonly Relation[],
  options: Hard & ChangeFacts,
) {
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
    const texts = new Set(wanted.map(relationText));
    const between = await reader.relationsBetween(ends, options.hard);
    const relations = between.filter((row) => texts.has(relationText(row)));
    for (const row of relations) texts.delete(relationText(row));
    const missing = [...texts];
    if (relations.length === 0)
      throw new ToolError("not_found", `None of these relations exists: ${quoteAll(missing)}.`, {
        hint: "A relation is deleted by from, to and relationType as open_nodes shows them.",
      });
    return { entities: [], observations: [], relations, missing };
  });
}

const relationText = ({ from, type, to }: { from: string; type: string; to: string }) =>
  `${from} ${type} ${to}`;

/**
 * Deletes what `find` finds, softly, or permanently once the user confirmed exactly that.
 *
 * @throws ToolError `conflict` if it is no longer what the user confirmed.
 */
async function remove(
  store: Store,
  { hard, agreed, ...facts }: Hard & ChangeFacts,
  subject: keyof Counts,
  find: (reader: Reader) => Promise<Doomed>,
): Promise<Question | Deleted> {
  if (hard && agreed === undefined)
    return { question: questionOf(await store.read(find), subject) };
  const { change_id, ...doomed } = await change(store, { ...facts, hard }, async (writer) => {
    const rows = await find(writer);
    if (hard && questionOf(rows, subject) !== agreed)
      throw new ToolError(
        "conflict",
        "The memory changed after the user was asked; nothing was erased.",
        { hint: "Repeat the call; the user is asked again." },
      );
    for (const kind of ["relation", "observation", "entity"] as const) {
      const some: readonly { id: number }[] = rows[TABLES[kind]];
      await (hard ? writer.erase(kind, idsOf(some)) : writer.remove(kind, some));
    }
    return rows;
  });
  const counts = subject === "entities" ? countsOf(doomed) : { [subject]: doomed[subject].length };
  const left = hard ? await store.overwriteErased().catch(notOverwritten) : undefined;
  const them = totalOf(counts) === 1 ? "it" : "them";
  const canUndo = !hard && change_id !== undefined;
  const undo = canUndo ? ` undo_memory_change with change_id ${change_id} restores ${them}.` : "";
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(counts)}.${undo}${left === undefined ? "" : ` ${left}`}`,
    deleted: counts,
    not_found: unlessEmpty(doomed.missing.slice(0, MAX_MISSING)),
    change_id,
  };
}

/** The rows are already deleted, so this is not a failed deletion. */
function notOverwritten(error: unknown): string {
  return `Old copies on disk could not be overwritten: ${error instanceof Error ? error.message : String(error)}`;
}

/** States exactly what would be lost. */
function questionOf(doomed: Doomed, subject: keyof Counts): string {
  const before = countsOf(doomed, ({ removedBy }) => removedBy !== null);
  const parts = Object.fromEntries(Object.entries(before).filter(([, count]) => count > 0));
  const also =
    totalOf(before) === 0 ? "" : ` This includes ${counted(parts)} that can still be restored.`;
  if (subject === "entities") {
    const { entities, ...attached } = countsOf(doomed);
    const names = [...new Set(doomed.entities.map(({ name }) => name))];
    return `Permanently erase ${counted({ entities: names.length })} from memory: ${quoteAll(names)}, with ${counted(attached)}?${also}`;
  }
  const texts =
    subject === "relations"
      ? doomed.relations.map(relationText)
      : doomed.observations.map(({ content }) => content);
  return `Permanently erase ${counted({ [subject]: texts.length })} from memory: ${quoteAll(texts)}?${also}`;
}

type Removable = { readonly removedBy: number | null };

function countsOf(doomed: Doomed, isCounted: (row: Removable) => boolean = () => true): Counts {
  const count = (rows: readonly Removable[]) => rows.filter(isCounted).length;
  return {
    entities: count(doomed.entities),
    observations: count(doomed.observations),
    relations: count(doomed.relations),
  };
}

const totalOf = (counts: Partial<Counts>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
