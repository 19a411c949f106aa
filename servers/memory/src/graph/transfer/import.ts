import { change } from "../change/change.ts";
import { addEntities, addRelations } from "../change/create.ts";
import type { Store } from "../store/store.ts";
import type { ChangeFacts, Entity, Relation } from "../types.ts";
import { parseMemory, type Reject } from "./jsonl.ts";

const BATCH = 1_000;

/**
 * What an import added: new entities and relations, observations, and entities created because a relation refers to them (the
 * official server keeps such relations without entities); and the duplicates, which existed.
 */
const NOTHING = { entities: 0, observations: 0, relations: 0, duplicates: 0, created_for_relations: 0 };

/** What an import added, with its change, and the lines that were unreadable. */
export type Imported = Awaited<ReturnType<typeof importMemory>>;

/** A note to keep with the import; if one already exists, nothing is imported. */
type Once = {
  readonly once?: { readonly key: string; note(tally: typeof NOTHING, rejected: number): string };
};

/**
 * Imports an official memory file in one change: everything that can be read, or nothing if it is cancelled
 * or the store fails. Existing entities are extended.
 */
export async function importMemory(store: Store, bytes: Uint8Array, { once, ...facts }: ChangeFacts & Once) {
  const rejects: Reject[] = [];
  const tally = { ...NOTHING };
  const added = await change(store, facts, async (writer) => {
    if (once !== undefined && (await writer.meta(once.key)) !== undefined) return tally;
    // Relations may precede the entities that they name.
    const relations: Relation[] = [];
    const entities: Entity[] = [];
    let done = 0;
    const importEntities = async (batch: readonly Entity[]) => {
      const { entities: fresh, merged } = await addEntities(writer, batch, "merge");
      const observations = observationsOf(fresh) + merged.flatMap((one) => one.addedObservations).length;
      tally.entities += fresh.length;
      tally.observations += observations;
      tally.duplicates += batch.length - fresh.length + observationsOf(batch) - observations;
      done += batch.length;
      store.progress?.(done);
    };
    for (const parsed of parseMemory(bytes)) {
      if (parsed.kind === "rejected") rejects.push(parsed.reject);
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
  return { ...added, rejects };
}

const observationsOf = (entities: readonly Entity[]) =>
  entities.flatMap(({ observations }) => observations).length;
