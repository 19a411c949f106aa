import { change } from "../change/change.ts";
import { addEntities, addRelations } from "../change/create.ts";
import type { Store, Writer } from "../store/store.ts";
import type { NewObservation } from "../store/writer.ts";
import type { ChangeFacts, Relation } from "../types.ts";
import { type ImportedEntity, type ImportedFact, parseMemory, type Reject } from "./jsonl.ts";
import type { ImportFile } from "./notes.ts";

const BATCH = 1_000;

/**
 * What an import added: new entities and relations, observations (also superseded ones), and entities created because a relation
 * refers to them (the official server keeps such relations without entities); and the duplicates, which existed.
 */
const NOTHING = {
  entities: 0,
  observations: 0,
  relations: 0,
  duplicates: 0,
  created_for_relations: 0,
};

/** What an import added, with its change, the lines that were unreadable, and what was not taken. */
export type Imported = Awaited<ReturnType<typeof importMemory>>;

/** A note to keep with the import; if one already exists, nothing is imported. */
type Once = {
  readonly once?: { readonly key: string; note(tally: typeof NOTHING, rejected: number): string };
};

/**
 * Imports an official memory file, or Markdown notes, in one change: everything that can be read, or
 * nothing if it is cancelled or the store fails. Existing entities are extended.
 */
export async function importMemory(
  store: Store,
  given: Uint8Array | readonly ImportFile[],
  { once, ...facts }: ChangeFacts & Once,
) {
  const rejects: Reject[] = [];
  const notTaken: string[] = [];
  const tally = { ...NOTHING };
  const added = await change(store, facts, async (writer) => {
    if (once !== undefined && (await writer.meta(once.key)) !== undefined) return tally;
    // Relations may precede the entities that they name.
    const relations: Relation[] = [];
    const entities: ImportedEntity[] = [];
    let done = 0;
    const importEntities = async (batch: readonly ImportedEntity[]) => {
      const { created, observations } = await addWithFacts(writer, batch);
      tally.entities += created;
      tally.observations += observations;
      const all = batch.reduce((sum, one) => sum + one.facts.length, 0);
      tally.duplicates += batch.length - created + all - observations;
      done += batch.length;
      store.progress?.(done);
    };
    // Includes a YAML parser, which only notes need.
    const all =
      given instanceof Uint8Array
        ? parseMemory(given)
        : (await import("./notes.ts")).parseNotes(given);
    for (const parsed of all) {
      if (parsed.kind === "rejected") rejects.push(parsed.reject);
      else if (parsed.kind === "not taken") notTaken.push(parsed.what);
      else if (parsed.kind === "relation") relations.push(parsed.relation);
      else if (entities.push(parsed.entity) >= BATCH) await importEntities(entities.splice(0));
    }
    await importEntities(entities);
    for (let at = 0; at < relations.length; at += BATCH) {
      const batch = relations.slice(at, at + BATCH);
      const { missing, relations: fresh, duplicates } = await addRelations(writer, batch, "create");
      tally.created_for_relations += missing.length;
      tally.relations += fresh.length;
      tally.duplicates += duplicates.length;
      done += batch.length;
      store.progress?.(done);
    }
    if (once !== undefined) await writer.setMeta(once.key, once.note(tally, rejects.length));
    return tally;
  });
  return { ...added, rejects, notTaken };
}

/**
 * Adds entities with their facts, those that are new; existing entities are extended.
 *
 * @returns how many entities and observations it added.
 */
async function addWithFacts(
  writer: Writer,
  batch: readonly ImportedEntity[],
): Promise<{ created: number; observations: number }> {
  const bare = batch.map(({ name, entityType }) => ({ name, entityType, observations: [] }));
  const fresh = new Set(
    (await addEntities(writer, bare, "merge")).entities.map(({ name }) => name),
  );
  const ids = await writer.entitiesNamed(batch.map(({ name }) => name));
  const known = new Map<number, Set<string>>();
  /** The ids of observations by their texts; of the current one, if there is one. */
  const idOf = new Map<string, number>();
  const keyOf = (content: string, supersededAt: number | null | undefined) =>
    JSON.stringify([content, supersededAt ?? null]);
  const textKey = (entityId: number, content: string | undefined) =>
    JSON.stringify([entityId, content]);
  const remember = (row: Pick<NewObservation, "entityId" | "content"> | undefined, id: number) => {
    const key = row === undefined ? "" : textKey(row.entityId, row.content);
    if (!idOf.has(key)) idOf.set(key, id);
  };
  const rows: (NewObservation & Pick<ImportedFact, "replacedBy">)[] = [];
  for (const { name, facts } of batch) {
    const entityId = ids.get(name)?.id ?? 0;
    const had = known.get(entityId) ?? new Set<string>();
    known.set(entityId, had);
    const contents = facts.map(({ content }) => content);
    if (!fresh.has(name))
      for (const row of await writer.observationsMatching(entityId, contents, "kept")) {
        had.add(keyOf(row.content, row.supersededAt));
        remember(row, row.id);
      }
    for (const fact of facts) {
      const key = keyOf(fact.content, fact.supersededAt);
      if (!had.has(key)) rows.push({ entityId, ...fact });
      had.add(key);
    }
  }
  const add = async (added: readonly NewObservation[]) => {
    for (const [index, id] of (await writer.addObservations(added)).entries())
      remember(added[index], id);
  };
  await add(rows.filter(({ supersededAt }) => supersededAt === undefined));
  // What replaced an observation exists before it; it may have been replaced itself.
  const old = rows.filter(({ supersededAt }) => supersededAt !== undefined);
  old.sort((one, other) => (other.supersededAt ?? 0) - (one.supersededAt ?? 0));
  for (const { replacedBy, ...row } of old) {
    await add([{ ...row, supersededBy: idOf.get(textKey(row.entityId, replacedBy)) }]);
  }
  return { created: fresh.size, observations: rows.length };
}
