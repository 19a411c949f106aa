import { ToolError } from "@refmcp/boundary/answer";
import { counted, NOUNS, quoteAll, unknownEntities } from "../read/names.ts";
import type { Reader, Store } from "../store/store.ts";
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
 * Whether rows are erased permanently, and the question that the user confirmed. Without it, a hard deletion only returns its
 * question.
 */
export type Hard = { readonly hard: boolean; readonly agreed?: string | undefined };
export type Question = { readonly question: string };

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
export function deleteEntities(
  store: Store,
  given: readonly string[],
  options: Hard & ChangeFacts,
) {
  const names = [...new Set(given.map((name) => name.toWellFormed()))];
  const alsoRemoved = options.hard;
  return remove(store, options, "entities", async (reader) => {
    const entities = await entitiesNamed(reader, names, alsoRemoved);
    if (entities.length === 0) throw await unknownEntities(reader, names);
    const ids = idsOf(entities);
    return {
      entities,
      observations: await reader.observationsOf(ids, alsoRemoved ? "all" : "kept"),
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
        found.push(
          ...(await reader.observationsMatching(id, contents, options.hard ? "all" : "kept")),
        );
      for (const row of found) rows.set(row.id, row);
      if (hosts.length === 0) missing.push(name);
      else
        missing.push(...contents.filter((text) => !found.some(({ content }) => content === text)));
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
    const between = await reader.relationsBetween(ends, options.hard);
    const texts = new Set(wanted.map(relationText));
    const relations = between.filter((row) => texts.has(relationText(row)));
    const found = new Set(relations.map(relationText));
    const missing = wanted.map(relationText).filter((text) => !found.has(text));
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
  find: (reader: Reader) => Promise<Found>,
): Promise<Question | Deleted> {
  if (hard && agreed === undefined)
    return { question: questionOf(await store.read(find), subject) };
  const { change_id, ...found } = await change(store, { ...facts, hard }, async (writer) => {
    const found = await find(writer);
    if (hard && questionOf(found, subject) !== agreed)
      throw new ToolError(
        "conflict",
        "The memory changed after the user was asked; nothing was erased.",
        {
          hint: "Repeat the call; the user is asked again.",
        },
      );
    if (hard) await writer.changeId();
    for (const [many, kind] of NOUNS.toReversed())
      await (hard ? writer.purge(kind, idsOf(found[many])) : writer.remove(kind, found[many]));
    return found;
  });
  const counts = subject === "entities" ? countsOf(found) : { [subject]: found[subject].length };
  const left = hard ? await store.overwriteErased().catch(notOverwritten) : undefined;
  const them = totalOf(counts) === 1 ? "it" : "them";
  const canUndo = !hard && change_id !== undefined;
  const undo = canUndo ? ` undo_memory_change with change_id ${change_id} restores ${them}.` : "";
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(counts)}.${undo}${left === undefined ? "" : ` ${left}`}`,
    deleted: counts,
    not_found: unlessEmpty(found.missing.slice(0, 50)),
    change_id,
  };
}

/** The rows are already deleted, so this is not a failed deletion. */
function notOverwritten(error: unknown): string {
  return `Old copies on disk could not be overwritten: ${error instanceof Error ? error.message : String(error)}`;
}

/** States exactly what would be lost. */
function questionOf(found: Found, subject: keyof Counts): string {
  const before = countsOf(found, ({ removedBy }) => removedBy !== null);
  const parts = Object.fromEntries(Object.entries(before).filter(([, count]) => count > 0));
  const also =
    totalOf(before) === 0 ? "" : ` This includes ${counted(parts)} that can still be restored.`;
  if (subject === "entities") {
    const { entities, ...attached } = countsOf(found);
    const names = [...new Set(found.entities.map(({ name }) => name))];
    return `Permanently erase ${counted({ entities: names.length })} from memory: ${quoteAll(names)}, with ${counted(attached)}?${also}`;
  }
  const texts =
    subject === "relations"
      ? found.relations.map(relationText)
      : found.observations.map(({ content }) => content);
  return `Permanently erase ${counted({ [subject]: texts.length })} from memory: ${quoteAll(texts)}?${also}`;
}

type Removable = { readonly removedBy: number | null };

function countsOf(found: Found, isCounted: (row: Removable) => boolean = () => true): Counts {
  const count = (rows: readonly Removable[]) => rows.filter(isCounted).length;
  return {
    entities: count(found.entities),
    observations: count(found.observations),
    relations: count(found.relations),
  };
}

const totalOf = (counts: Partial<Counts>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
