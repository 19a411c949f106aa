import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errorCode } from "@refmcp/boundary";
import { digits, ToolError } from "@refmcp/boundary/answer";
import { counted } from "../counts.ts";
import { refuseLarge } from "../errors.ts";
import { parts } from "../store/connection.ts";
import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts, Relation } from "../types.ts";
import { change } from "../write/change.ts";
import { addEntities } from "../write/entities.ts";
import { addNew } from "../write/observations.ts";
import { addRelations } from "../write/relations.ts";
import { type ImportedEntity, parseMemory, type Reject } from "./jsonl.ts";

const BATCH = 250;

/**
 * What an import added: new entities, observations and relations, and entities created because a relation refers to them
 * (the official server keeps such relations without entities); and the duplicates, which existed.
 */
const NOTHING = {
  entities: 0,
  observations: 0,
  relations: 0,
  duplicates: 0,
  created_for_relations: 0,
};
type Tally = typeof NOTHING;

/**
 * Imports an official memory file in one change: everything that can be read, or nothing if it is cancelled or the store
 * fails. Existing entities are extended. With `ifEmpty`, nothing is imported if the memory was ever written to.
 */
export async function importMemory(
  store: Store,
  bytes: Uint8Array,
  { ifEmpty = false, ...facts }: ChangeFacts & { readonly ifEmpty?: boolean },
) {
  const rejects: Reject[] = [];
  const added = await change(store, facts, async (writer) => {
    const tally = { ...NOTHING };
    if (ifEmpty && (await writer.changes(undefined, 1)).length > 0) return tally;
    // Relations may precede the entities that they name.
    const relations: Relation[] = [];
    let entities: ImportedEntity[] = [];
    let done = 0;
    const flush = async () => {
      await importEntities(writer, entities, tally);
      done += entities.length;
      store.progress?.(done);
      entities = [];
    };
    let lines = 0;
    for (const parsed of parseMemory(bytes)) {
      lines += 1;
      if (lines % BATCH === 0) await nextTurn();
      if (parsed.kind === "rejected") rejects.push(parsed.reject);
      else if (parsed.kind === "relation") relations.push(parsed.relation);
      else if (entities.push(parsed.entity) === BATCH) await flush();
    }
    await flush();
    for (const batch of parts(relations, BATCH)) {
      const { missing, relations: fresh, duplicates } = await addRelations(writer, batch, "create");
      tally.created_for_relations += missing.length;
      tally.relations += fresh.length;
      tally.duplicates += duplicates.length;
      done += batch.length;
      store.progress?.(done);
    }
    return tally;
  });
  return { ...added, rejects };
}

/** Adds entities with their facts, those that are new. */
async function importEntities(
  writer: Writer,
  batch: readonly ImportedEntity[],
  tally: Tally,
): Promise<void> {
  const bare = batch.map(({ name, entityType }) => ({ name, entityType, observations: [] }));
  const created = (await addEntities(writer, bare, "merge")).entities.length;
  const ids = await writer.entitiesNamed(batch.map(({ name }) => name));
  tally.entities += created;
  tally.duplicates += batch.length - created;
  for (const { addedObservations, duplicates = [] } of await addNew(writer, batch, ids)) {
    tally.observations += addedObservations.length;
    tally.duplicates += duplicates.length;
  }
}

/**
 * Imports a file of the official server into a memory that was never written to; the file itself is only read.
 *
 * @returns a sentence about the result; empty if there is nothing to say
 * @throws ToolError `unavailable` if the file exists and cannot be read.
 */
export async function importOfficial(store: Store, file: string): Promise<string> {
  const [first] = await store.read((reader) => reader.changes(undefined, 1));
  const bytes = first === undefined ? await readWhole(file) : undefined;
  if (bytes === undefined) return "";
  const facts = { action: "import_graph", source: basename(file).slice(0, 500), ifEmpty: true };
  const { change_id, rejects, entities, relations } = await importMemory(store, bytes, facts);
  const [reject] = rejects;
  // The file is empty, or another process was faster.
  if (change_id === undefined && reject === undefined) return "";
  const what = `Imported ${counted({ entities, relations })} from ${file} into ${store.location}; the file is unchanged.`;
  if (reject === undefined) return what;
  const lines = rejects.length === 1 ? "1 line" : `${digits(rejects.length)} lines`;
  return `${what} ${lines} could not be imported (line ${reject.line}: ${reject.reason}).`;
}

/** The bytes of a file; undefined if there is none. */
async function readWhole(file: string): Promise<Uint8Array | undefined> {
  try {
    refuseLarge(file, (await stat(file)).size);
    return await readFile(file);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const code = errorCode(cause) ?? String(cause);
    if (code === "ENOENT") return undefined;
    throw new ToolError("unavailable", `The memory file ${file} cannot be read: ${code}.`, {
      hint: "Check that it is a file this user can read, or choose another with --file.",
      cause,
    });
  }
}
