import { createEntities, createRelations, type OnConflict } from "../create.ts";
import { deleteEntities, deleteObservations, deleteRelations } from "../remove.ts";
import type { Store } from "../store.ts";
import type { Entity, Relation } from "../types.ts";

export function entity(name: string, entityType = "person", observations: string[] = []): Entity {
  return { name, entityType, observations };
}

export function relation(from: string, relationType: string, to: string): Relation {
  return { from, to, relationType };
}

export function create(
  store: Store,
  entities: readonly Entity[],
  onConflict: OnConflict = "skip",
  source?: string,
) {
  return createEntities(store, entities, { onConflict, action: "create_entities", source });
}

export function relate(
  store: Store,
  relations: readonly Relation[],
  onMissing: "error" | "create" = "error",
) {
  return createRelations(store, relations, { onMissing, action: "create_relations" });
}

const soft = { hard: false, confirm: async () => undefined };

export function forget(store: Store, names: readonly string[]) {
  return deleteEntities(store, names, { ...soft, action: "delete_entities" });
}

export function forgetFacts(store: Store, entityName: string, observations: readonly string[]) {
  return deleteObservations(store, [{ entityName, observations }], {
    ...soft,
    action: "delete_observations",
  });
}

export function unrelate(store: Store, relations: readonly Relation[]) {
  return deleteRelations(store, relations, { ...soft, action: "delete_relations" });
}

export const budget = 20_000;
