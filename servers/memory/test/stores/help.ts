import type { Store } from "../../src/graph/store/store.ts";
import { exportLines } from "../../src/graph/transfer/export.ts";
import type { Entity, Relation } from "../../src/graph/types.ts";
import { createEntities } from "../../src/graph/write/entities.ts";
import { createRelations } from "../../src/graph/write/relations.ts";
import {
  type Deleted,
  deleteEntities,
  deleteObservations,
  deleteRelations,
  type Hard,
  type Question,
} from "../../src/graph/write/remove.ts";

/** What a suite gets: the store of the running test. */
export interface Fixture {
  readonly store: Store;
  again(): Promise<Store>;
}

export function entity(name: string, entityType = "person", observations: string[] = []): Entity {
  return { name, entityType, observations };
}

export function relation(from: string, relationType: string, to: string): Relation {
  return { from, to, relationType };
}

export function create(
  store: Store,
  entities: readonly Entity[],
  onConflict: "skip" | "merge" | "error" = "skip",
  source?: string,
) {
  return createEntities(store, entities, {
    on_conflict: onConflict,
    action: "create_entities",
    source,
  });
}

export function relate(
  store: Store,
  relations: readonly Relation[],
  onMissing: "error" | "create" = "error",
) {
  return createRelations(store, relations, { on_missing: onMissing, action: "create_relations" });
}

/** The result of a completed deletion. */
async function done(deletion: Promise<Deleted | Question>): Promise<Deleted> {
  const answer = await deletion;
  if ("question" in answer) throw new Error(`it asks: ${answer.question}`);
  return answer;
}

export function forget(store: Store, names: readonly string[]) {
  return done(deleteEntities(store, names, { hard: false, action: "delete_entities" }));
}

export function forgetFacts(store: Store, entityName: string, observations: readonly string[]) {
  const facts = { hard: false, action: "delete_observations" };
  return done(deleteObservations(store, [{ entityName, observations }], facts));
}

export function forgetRelations(store: Store, relations: readonly Relation[]) {
  return done(deleteRelations(store, relations, { hard: false, action: "delete_relations" }));
}

/** Runs a hard deletion for a user who agrees; returns the question and the result. */
export async function erase(run: (hard: Hard & { action: string }) => Promise<Deleted | Question>) {
  const asked = await run({ hard: true, action: "erase" });
  if (!("question" in asked)) throw new Error("it did not ask");
  const { question } = asked;
  return { question, answer: await done(run({ hard: true, agreed: question, action: "erase" })) };
}

/** The graph in lines as the official server writes them: an export without the fields that it does not know. */
export async function officialLines(store: Store): Promise<string> {
  const text = await exportLines(store);
  const lines = text === "" ? [] : text.split("\n");
  return lines
    .map((line) => {
      const { learned: _1, source: _2, ...known } = JSON.parse(line);
      return JSON.stringify(known);
    })
    .join("\n");
}

/** How many rows are softly deleted. */
export function removedCount(store: Store): Promise<number> {
  const count = (table: string) => `(SELECT count(*) FROM ${table} WHERE removed_by IS NOT NULL)`;
  const tables = ["entities", "observations", "relations"].map(count);
  return store.read(async ({ connection }) => {
    const [row] = await connection.all<{ count: number }>(`SELECT ${tables.join(" + ")} AS count`);
    return row?.count ?? 0;
  });
}

export const budget = 20_000;
