import type { Store, Writer } from "../store/store.ts";
import type { NewObservation } from "../store/writer.ts";
import type { ChangeFacts, Relation } from "../types.ts";
import { change } from "../write/change.ts";
import { addEntities } from "../write/entities.ts";
import { addRelations } from "../write/relations.ts";
import { type ImportedEntity, type ImportedFact, parseMemory, type Reject } from "./jsonl.ts";

const BATCH = 250;

/**
 * What an import added: new entities and relations, observations (also superseded ones), and entities created because a
 * relation refers to them (the official server keeps such relations without entities); and the duplicates, which existed.
 */
const NOTHING = {
  entities: 0,
  observations: 0,
  relations: 0,
  duplicates: 0,
  created_for_relations: 0,
};
type Tally = typeof NOTHING;

/** What an import added, with its change and the lines that were unreadable. */
export type Imported = Awaited<ReturnType<typeof importMemory>>;

/** A note to keep with the import; if one already exists, nothing is imported. */
type Once = {
  readonly once?: { readonly key: string; note(tally: Tally, rejected: number): string };
};

/**
 * Imports an official memory file in one change: everything that can be read, or nothing if it is cancelled or the store
 * fails. Existing entities are extended.
 */
export async function importMemory(
  store: Store,
  bytes: Uint8Array,
  { once, ...facts }: ChangeFacts & Once,
) {
  const rejects: Reject[] = [];
  const added = await change(store, facts, async (writer) => {
    const tally = { ...NOTHING };
    if (once !== undefined && (await writer.meta(once.key)) !== undefined) return tally;
    // Relations may precede the entities that they name.
    const relations: Relation[] = [];
    let entities: ImportedEntity[] = [];
    let done = 0;
    const report = (count: number) => {
      done += count;
      store.progress?.(done);
    };
    for (const parsed of parseMemory(bytes)) {
      if (parsed.kind === "rejected") rejects.push(parsed.reject);
      else if (parsed.kind === "relation") relations.push(parsed.relation);
      else if (entities.push(parsed.entity) === BATCH) {
        await importEntities(writer, entities, tally);
        report(entities.length);
        entities = [];
      }
    }
    await importEntities(writer, entities, tally);
    report(entities.length);
    for (let at = 0; at < relations.length; at += BATCH) {
      const batch = relations.slice(at, at + BATCH);
      const { missing, relations: fresh, duplicates } = await addRelations(writer, batch, "create");
      tally.created_for_relations += missing.length;
      tally.relations += fresh.length;
      tally.duplicates += duplicates.length;
      report(batch.length);
    }
    if (once !== undefined) await writer.setMeta(once.key, once.note(tally, rejects.length));
    return tally;
  });
  return { ...added, rejects };
}

/** Adds entities with their facts, those that are new; existing entities are extended. */
async function importEntities(
  writer: Writer,
  batch: readonly ImportedEntity[],
  tally: Tally,
): Promise<void> {
  const bare = batch.map(({ name, entityType }) => ({ name, entityType, observations: [] }));
  const { entities } = await addEntities(writer, bare, "merge");
  const created = new Set(entities.map(({ name }) => name));
  const ids = await writer.entitiesNamed(batch.map(({ name }) => name));
  const known = new KnownFacts();
  const rows: ImportedRow[] = [];
  for (const { name, facts } of batch) {
    const entityId = ids.get(name)?.id ?? 0;
    if (!created.has(name)) {
      const contents = facts.map(({ content }) => content);
      for (const row of await writer.observationsMatching(entityId, contents, "kept"))
        known.add(row, row.id);
    }
    for (const fact of facts) if (known.isNew(entityId, fact)) rows.push({ entityId, ...fact });
  }
  const current = rows.filter(({ supersededAt }) => supersededAt === undefined);
  for (const [at, id] of (await writer.addObservations(current)).entries())
    known.add(current[at], id);
  // What replaced an observation exists before it; it may have been replaced itself.
  const old = rows.filter(({ supersededAt }) => supersededAt !== undefined);
  old.sort((one, other) => (other.supersededAt ?? 0) - (one.supersededAt ?? 0));
  for (const { replacedBy, ...row } of old) {
    const supersededBy = known.idOf(row.entityId, replacedBy);
    const [id = 0] = await writer.addObservations([{ ...row, supersededBy }]);
    known.add(row, id);
  }
  const all = batch.reduce((sum, { facts }) => sum + facts.length, 0);
  tally.entities += created.size;
  tally.observations += rows.length;
  tally.duplicates += batch.length - created.size + all - rows.length;
}

type ImportedRow = NewObservation & Pick<ImportedFact, "replacedBy">;

/** The observations that exist, by their texts; a text may have been true several times. */
class KnownFacts {
  readonly #known = new Set<string>();
  readonly #ids = new Map<string, number>();

  /** Whether an entity has no such observation yet; it is then known. */
  isNew(entityId: number, { content, supersededAt }: Omit<NewObservation, "entityId">): boolean {
    const key = JSON.stringify([entityId, content, supersededAt ?? null]);
    const isNew = !this.#known.has(key);
    this.#known.add(key);
    return isNew;
  }

  /** Notes the id of an observation; the first one of a text is the current one, if there is one. */
  add(row: StoredFact | undefined, id: number): void {
    if (row === undefined) return;
    this.isNew(row.entityId, { ...row, supersededAt: row.supersededAt ?? undefined });
    const key = JSON.stringify([row.entityId, row.content]);
    if (!this.#ids.has(key)) this.#ids.set(key, id);
  }

  idOf(entityId: number, content: string | undefined): number | undefined {
    return this.#ids.get(JSON.stringify([entityId, content]));
  }
}

type StoredFact = Pick<NewObservation, "entityId" | "content"> & {
  readonly supersededAt?: number | null | undefined;
};
