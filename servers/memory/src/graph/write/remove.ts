import { ToolError } from "@refmcp/boundary/answer";
import { counted } from "../counts.ts";
import { quoteAll, unknownEntities } from "../read/names.ts";
import type { Reader, Store } from "../store/store.ts";
import { TABLES } from "../store/tables.ts";
import { storable } from "../text.ts";
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
  const names = [...new Set(entityNames.map(storable))];
  return remove(store, options, async (reader) => {
    const { entities, idsNamed } = await lookUp(reader, names, options.hard);
    const ids = idsOf(entities);
    return {
      entities,
      observations: await reader.observationsOf(ids, options.hard ? "all" : "kept"),
      relations: await reader.relationsOf(ids, { alsoRemoved: options.hard }),
      missing: names.filter((name) => idsNamed(name).length === 0),
    };
  });
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
  const targets = deletions.flatMap(({ entityName, observations }) =>
    observations.map((text) => ({ name: storable(entityName), content: storable(text) })),
  );
  return remove(store, options, async (reader) => {
    const names = deletions.map(({ entityName }) => storable(entityName));
    const { idsNamed } = await lookUp(reader, names, options.hard);
    const pairs = targets.flatMap(({ name, content }) =>
      idsNamed(name).map((entityId) => ({ entityId, content })),
    );
    const observations = await reader.observationsMatching(pairs, options.hard ? "all" : "kept");
    const keyOf = (entityId: number, content: string) => JSON.stringify([entityId, content]);
    const existingKeys = new Set(observations.map((row) => keyOf(row.entityId, row.content)));
    const missing = targets
      .filter(
        ({ name, content }) => !idsNamed(name).some((id) => existingKeys.has(keyOf(id, content))),
      )
      .map(({ content }) => content);
    if (observations.length === 0)
      throw new ToolError("not_found", `None of these observations exists: ${quoteAll(missing)}.`, {
        hint: "Observations are deleted by their exact text; open_nodes shows it.",
      });
    return { entities: [], observations, relations: [], missing };
  });
}

/**
 * Deletes relations.
 *
 * @throws ToolError `not_found` if none of them exists.
 */
export function deleteRelations(
  store: Store,
  relationList: readonly Relation[],
  options: Hard & ChangeFacts,
) {
  const targets = relationList.map(({ from, to, relationType }) => ({
    from: storable(from),
    to: storable(to),
    type: storable(relationType),
  }));
  return remove(store, options, async (reader) => {
    const names = targets.flatMap(({ from, to }) => [from, to]);
    const { idsNamed } = await lookUp(reader, names, options.hard);
    const ends = targets.flatMap(({ from, to }) =>
      idsNamed(from).flatMap((fromId) => idsNamed(to).map((toId) => ({ fromId, toId }))),
    );
    const texts = new Set(targets.map(relationText));
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

/** Entities with these names, which include deleted ones if `hard`. @throws ToolError `not_found` if there is none. */
async function lookUp(reader: Reader, names: readonly string[], hard: boolean) {
  const distinct = [...new Set(names)];
  const live = [...(await reader.entitiesNamed(distinct)).values()].sort((a, b) => a.id - b.id);
  const entities = hard ? [...live, ...(await reader.removedNamed(distinct))] : live;
  if (entities.length === 0) throw await unknownEntities(reader, distinct);
  const ids = new Map<string, number[]>();
  for (const { id, name } of entities) ids.set(name, [...(ids.get(name) ?? []), id]);
  return { entities, idsNamed: (name: string) => ids.get(name) ?? [] };
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
  find: (reader: Reader) => Promise<Doomed>,
): Promise<Question | Deleted> {
  if (hard && agreed === undefined) return { question: questionOf(await store.read(find)) };
  const { change_id, ...doomed } = await change(store, { ...facts, hard }, async (writer) => {
    const rows = await find(writer);
    if (hard && questionOf(rows) !== agreed)
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
  const deleted = countsOf(doomed);
  const note = hard ? await store.overwriteErased().catch(notOverwritten) : undefined;
  const after =
    hard || change_id === undefined
      ? note
      : `undo_memory_change with change_id ${change_id} restores what was deleted.`;
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(deleted)}.${after ? ` ${after}` : ""}`,
    deleted,
    not_found: unlessEmpty(doomed.missing.slice(0, MAX_MISSING)),
    change_id,
  };
}

/** The rows are already deleted, so this is not a failed deletion. */
function notOverwritten(error: unknown): string {
  return `Old copies on disk could not be overwritten: ${error instanceof Error ? error.message : String(error)}`;
}

/** States exactly what would be lost. */
function questionOf(doomed: Doomed): string {
  const { entities, observations, relations } = doomed;
  const texts =
    entities.length > 0
      ? entities.map(({ name }) => name)
      : [...observations.map(({ content }) => content), ...relations.map(relationText)];
  const before = counted(countsOf(doomed, ({ removedBy }) => removedBy !== null));
  const also = before === "" ? "" : ` This includes ${before} that can still be restored.`;
  return `Permanently erase ${counted(countsOf(doomed))} from memory: ${quoteAll([...new Set(texts)])}?${also}`;
}

type Removable = { readonly removedBy: number | null };

/** The number of rows of each kind, without kinds that have none. */
function countsOf(
  { entities, observations, relations }: Doomed,
  isCounted: (row: Removable) => boolean = () => true,
): Partial<Counts> {
  const counts = Object.entries({ entities, observations, relations }).map(
    ([kind, rows]: [string, readonly Removable[]]) => [kind, rows.filter(isCounted).length],
  );
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}
