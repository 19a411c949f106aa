import { grouped, ToolError } from "@refmcp/core/answer";
import { type ChangeFacts, type ChangeLog, change } from "./change-log.ts";
import { quoteAll, unknownEntities } from "./checks.ts";
import type { Reader, Store } from "./store.ts";
import type { Counts, EntityRow, ObservationRow, Relation, RelationRow } from "./types.ts";

/** All relations of an entity and the like: a graph has fewer. */
const ALL = 2 ** 31 - 1;

export interface Deleted {
  readonly success: true;
  readonly message: string;
  readonly deleted: { entities?: number; observations?: number; relations?: number };
  readonly not_found?: string[];
  readonly change_id?: number;
}

/** Whether rows are erased for good; the question to the user comes before anything is changed. */
export interface Hard {
  readonly hard: boolean;
  /** Asks the user to agree to exactly this loss; throws where the answer is no. */
  confirm(loss: string): Promise<void>;
}

/**
 * Deletes entities with their observations and relations.
 *
 * @throws ToolError `not_found` where none of them exists.
 */
export async function deleteEntities(
  store: Store,
  given: readonly string[],
  { hard, confirm, ...facts }: Hard & ChangeFacts,
): Promise<Deleted> {
  const names = [...new Set(given.map((name) => name.toWellFormed()))];
  if (hard) {
    const found = await store.read((reader) => findEntities(reader, names, true));
    await confirm(
      `Erase for good from the memory: ${quoteAll(found.entities.map(({ name }) => name))}, with ${counted(found.counts)}?`,
    );
  }
  const { value, changeId } = await change(store, { ...facts, hard }, async (log) => {
    const found = await findEntities(log.writer, names, hard);
    if (hard) {
      await log.id();
      await log.writer.purge(
        "entity",
        found.entities.map(({ id }) => id),
      );
    } else {
      await log.removeRelations(found.relations);
      await log.removeObservations(found.observations);
      await log.removeEntities(found.entities);
    }
    return found;
  });
  const missing = names.filter((name) => !value.entities.some((entity) => entity.name === name));
  return deleted({ entities: value.entities.length, ...value.counts }, missing, changeId, hard);
}

interface FoundEntities {
  readonly entities: EntityRow[];
  readonly observations: ObservationRow[];
  readonly relations: RelationRow[];
  readonly counts: { observations: number; relations: number };
}

async function findEntities(
  reader: Reader,
  names: readonly string[],
  alsoRemoved: boolean,
): Promise<FoundEntities> {
  const live = [...(await reader.entitiesNamed(names)).values()].sort((a, b) => a.id - b.id);
  const entities = alsoRemoved ? [...live, ...(await reader.removedNamed(names))] : live;
  if (entities.length === 0) throw await unknownEntities(reader, names);
  const ids = live.map(({ id }) => id);
  const observations = await reader.observationsOf(ids);
  const relations = await reader.relationsTouching(ids, 0, ALL);
  const counts = { observations: observations.length, relations: relations.length };
  return { entities, observations, relations, counts };
}

/**
 * Deletes observations by their exact text.
 *
 * @throws ToolError `not_found` where none of them exists.
 */
export async function deleteObservations(
  store: Store,
  given: readonly { entityName: string; observations: readonly string[] }[],
  { hard, confirm, ...facts }: Hard & ChangeFacts,
): Promise<Deleted> {
  const find = (reader: Reader) => findObservations(reader, given);
  if (hard) {
    const { rows } = await store.read(find);
    await confirm(
      `Erase ${counted({ observations: rows.length })} for good from the memory: ${quoteAll(rows.map(({ content }) => content))}?`,
    );
  }
  const { value, changeId } = await change(store, { ...facts, hard }, async (log) => {
    const found = await find(log.writer);
    if (hard) await eraseRows(log, "observation", found.rows);
    else await log.removeObservations(found.rows);
    return found;
  });
  return deleted({ observations: value.rows.length }, value.missing, changeId, hard);
}

async function findObservations(
  reader: Reader,
  given: readonly { entityName: string; observations: readonly string[] }[],
): Promise<{ rows: ObservationRow[]; missing: string[] }> {
  const wanted = given.map(({ entityName, observations }) => ({
    name: entityName.toWellFormed(),
    contents: observations.map((text) => text.toWellFormed()),
  }));
  const entities = await reader.entitiesNamed(wanted.map(({ name }) => name));
  if (entities.size === 0) throw await unknownEntities(reader, [...new Set(wanted.map(({ name }) => name))]);
  const rows = new Map<number, ObservationRow>();
  const missing: string[] = [];
  for (const { name, contents } of wanted) {
    const entity = entities.get(name);
    const found = entity === undefined ? [] : await reader.observationsMatching(entity.id, contents);
    for (const row of found) rows.set(row.id, row);
    if (entity === undefined) missing.push(name);
    else missing.push(...contents.filter((text) => !found.some(({ content }) => content === text)));
  }
  if (rows.size === 0)
    throw new ToolError("not_found", `None of these observations is there: ${quoteAll(missing)}.`, {
      hint: "Observations are deleted by their exact text; open_nodes shows it.",
    });
  return { rows: [...rows.values()], missing };
}

/**
 * Deletes relations.
 *
 * @throws ToolError `not_found` where none of them exists.
 */
export async function deleteRelations(
  store: Store,
  given: readonly Relation[],
  { hard, confirm, ...facts }: Hard & ChangeFacts,
): Promise<Deleted> {
  const find = (reader: Reader) => findRelations(reader, given);
  if (hard) {
    const { rows } = await store.read(find);
    await confirm(
      `Erase ${counted({ relations: rows.length })} for good from the memory: ${quoteAll(rows.map(relationText))}?`,
    );
  }
  const { value, changeId } = await change(store, { ...facts, hard }, async (log) => {
    const found = await find(log.writer);
    if (hard) await eraseRows(log, "relation", found.rows);
    else await log.removeRelations(found.rows);
    return found;
  });
  return deleted({ relations: value.rows.length }, value.missing, changeId, hard);
}

async function findRelations(
  reader: Reader,
  given: readonly Relation[],
): Promise<{ rows: RelationRow[]; missing: string[] }> {
  const entities = await reader.entitiesNamed(
    given.flatMap(({ from, to }) => [from, to].map((name) => name.toWellFormed())),
  );
  const ends = given.flatMap(({ from, to }) => {
    const fromId = entities.get(from.toWellFormed())?.id;
    const toId = entities.get(to.toWellFormed())?.id;
    return fromId === undefined || toId === undefined ? [] : [{ fromId, toId }];
  });
  const between = await reader.relationsBetween(ends);
  const rows = new Map<number, RelationRow>();
  const missing: string[] = [];
  for (const relation of given) {
    const row = between.find(
      ({ from, to, type }) =>
        from === relation.from.toWellFormed() &&
        to === relation.to.toWellFormed() &&
        type === relation.relationType.toWellFormed(),
    );
    if (row === undefined) missing.push(relationText({ ...relation, type: relation.relationType }));
    else rows.set(row.id, row);
  }
  if (rows.size === 0)
    throw new ToolError("not_found", `None of these relations is there: ${quoteAll(missing)}.`, {
      hint: "A relation is deleted by from, to and relationType as open_nodes shows them.",
    });
  return { rows: [...rows.values()], missing };
}

function relationText({ from, type, to }: { from: string; type: string; to: string }): string {
  return `${from} ${type} ${to}`;
}

async function eraseRows(
  log: ChangeLog,
  kind: "observation" | "relation",
  rows: readonly { id: number }[],
): Promise<void> {
  await log.id();
  await log.writer.purge(
    kind,
    rows.map(({ id }) => id),
  );
}

function deleted(
  counts: Partial<Counts>,
  missing: readonly string[],
  changeId: number | undefined,
  hard: boolean,
): Deleted {
  const undo =
    hard || changeId === undefined ? "" : ` undo_memory_change with change_id ${changeId} brings them back.`;
  return {
    success: true,
    message: `${hard ? "Erased" : "Deleted"} ${counted(counts)}.${undo}`,
    deleted: counts,
    ...(missing.length === 0 ? {} : { not_found: missing.slice(0, 50) }),
    ...(changeId === undefined ? {} : { change_id: changeId }),
  };
}

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
