import { ToolError } from "@refmcp/boundary/answer";
import { change, textProblem } from "../change/change.ts";
import { addRelations } from "../change/create.ts";
import type { Writer } from "../store/store.ts";
import { addWithFacts } from "../transfer/import.ts";
import type { EntityRow, Relation } from "../types.ts";
import type { NoteText } from "./folder.ts";
import { stemOf } from "./names.ts";
import { DEFAULT_TYPE, keyOf, type Note, type NoteFact, parseNote } from "./note.ts";
import {
  factsOf,
  keysOf,
  NOTE,
  type NoteState,
  type Notes,
  namesOf,
  resolved,
  stateOf,
  stemIn,
  told,
} from "./state.ts";

/** A note that was changed or is new. */
export interface Changed extends NoteText {
  readonly path: string;
  readonly stamp: string;
  readonly note: Note;
  /** What it had before, if it is known, and the path it had then. */
  readonly state: NoteState | undefined;
  readonly before: string;
}

/**
 * Reads new and changed notes, and finds those that were renamed.
 *
 * @param changed their stamps.
 * @param missing the notes that are no longer there; those that were renamed are removed from it.
 */
export async function readChanged(
  notes: Notes,
  changed: ReadonlyMap<string, string>,
  missing: Map<string, NoteState>,
): Promise<Changed[]> {
  const find = {
    hash: new Map<string, string>(),
    title: new Map<string, string>(),
    file: new Map<string, string>(),
  };
  for (const [path, state] of missing) {
    find.hash.set(state.hash, path);
    find.title.set(state.title, path);
    find.file.set(fileOf(state.stamp), path);
  }
  const read = await readAll(notes, changed);
  return read.map((one) => {
    const state = notes.states.get(one.path);
    if (state !== undefined) return { ...one, state, before: one.path };
    const { note, hash, stamp } = one;
    const isSimilar = (path: string) =>
      note.facts.some((fact) => missing.get(path)?.facts.includes(keyOf(fact)));
    const candidates = [
      find.hash.get(hash),
      note.title === undefined ? undefined : find.title.get(note.title),
      // A new file can get the number of a deleted one.
      [find.file.get(fileOf(stamp))].find((path) => path !== undefined && isSimilar(path)),
    ];
    const before = candidates.find((path) => path !== undefined && missing.has(path));
    const moved = before === undefined ? undefined : missing.get(before);
    if (before === undefined || moved === undefined)
      return { ...one, state: undefined, before: one.path };
    missing.delete(before);
    return { ...one, state: moved, before };
  });
}

/** The number of a file in its stamp, which a rename keeps. */
const fileOf = (stamp: string) => stamp.slice(stamp.lastIndexOf(":"));

/**
 * Takes what people changed in notes into the memory, as one change.
 *
 * @param all the new and changed notes.
 * @param missing the notes that were deleted.
 */
export async function takeIn(
  { store, states }: Notes,
  all: readonly Changed[],
  missing: ReadonlyMap<string, NoteState>,
): Promise<void> {
  const paths = [...all.map(({ path }) => path), ...missing.keys()];
  const [only = ""] = paths;
  const source = paths.length === 1 ? only.slice(0, 500).toWellFormed() : `${paths.length} notes`;
  const next = new Map(states);
  for (const { before } of all) next.delete(before);
  for (const path of missing.keys()) next.delete(path);
  await change(store, { action: "edit_notes", source }, async (writer) => {
    const dropped = new Set(missing.keys());
    for (const { path, before, state } of all) if (state && before !== path) dropped.add(before);
    for (const path of dropped) await writer.dropMeta(NOTE + path);
    await removeEntities(
      writer,
      [...missing.values()].map(({ id }) => id),
    );
    const merged = await mergeNotes(writer, all, next);
    for (const [path, state] of merged) await writer.setMeta(NOTE + path, JSON.stringify(state));
    for (const [path, state] of merged) next.set(path, state);
    return {};
  });
  states.clear();
  for (const [path, state] of next) states.set(path, state);
}

/** An empty note counts as changed only after this time, in milliseconds: programs empty a file before they write it. */
const EMPTY_MS = 10_000;

function isBeingWritten(text: string, stamp: string, state: NoteState | undefined): boolean {
  const [nanoseconds = ""] = stamp.split(":");
  const age = Date.now() - Number(nanoseconds) / 1e6;
  return text === "" && (state?.facts.length ?? 0) > 0 && Math.abs(age) < EMPTY_MS;
}

async function readAll(
  { folder, states, unreadable, problems }: Notes,
  changed: ReadonlyMap<string, string>,
) {
  const read: (NoteText & { path: string; stamp: string; note: Note })[] = [];
  for (const [path, stamp] of changed) {
    try {
      const text = await folder.read(path);
      if (isBeingWritten(text.text, stamp, states.get(path))) continue;
      read.push({ path, stamp, ...text, note: parseNote(text.text) });
      unreadable.delete(path);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (error.kind === "not_found") continue;
      unreadable.set(path, stamp);
      problems.push(told(error));
    }
  }
  return read;
}

/** Deletes the entities of deleted notes; undo_memory_change restores them. */
async function removeEntities(writer: Writer, ids: readonly number[]): Promise<void> {
  const rows = [...(await writer.entitiesById(ids)).values()].filter(
    ({ removedBy }) => removedBy === null,
  );
  const live = rows.map(({ id }) => id);
  await writer.remove("relation", await writer.relationsOf(live));
  await writer.remove("observation", await writer.observationsOf(live, "kept"));
  await writer.remove("entity", rows);
}

/** Applies what changed in notes; returns their new states. */
async function mergeNotes(
  writer: Writer,
  all: readonly Changed[],
  others: ReadonlyMap<string, NoteState>,
): Promise<Map<string, NoteState>> {
  const rows = await writer.entitiesById(all.flatMap(({ state }) => state?.id ?? []));
  const names = namesOf(others);
  const merging: { one: Changed; row: EntityRow | undefined; name: string; type: string }[] = [];
  for (const one of all) {
    const { state, note, path } = one;
    const row = state === undefined ? undefined : rows.get(state.id);
    if (state === undefined || row?.removedBy !== null) {
      const name = names.add(path, note);
      merging.push({ one, row: undefined, name, type: note.type ?? DEFAULT_TYPE });
      continue;
    }
    const name = await renamed(writer, one, row, state);
    names.link(name, path, note.permalink);
    const type = note.type === undefined || note.type === state.type ? row.type : note.type;
    if (type !== row.type) await writer.alter({ ...row, name }, "retype", type);
    merging.push({ one, row, name, type });
  }
  const facts = merging.map(({ one }) => resolved(one.note, names));
  // Entities exist before relations to them.
  const existing = await writer.entitiesNamed(merging.map(({ name }) => name));
  for (const { one, row, name } of merging) {
    const twin = row === undefined ? existing.get(name) : undefined;
    const { type } = one.note;
    if (twin !== undefined && type !== undefined && type !== twin.type)
      await writer.alter(twin, "retype", type);
  }
  await addWithFacts(
    writer,
    merging.map(({ one, row, name, type }, index) => {
      const had = new Set(row === undefined ? [] : one.state?.facts);
      const source = one.path.slice(0, 500).toWellFormed();
      const added = (facts[index] ?? []).filter((fact) => !had.has(keyOf(fact)));
      const contents = added.flatMap((fact) => (fact.kind === "observation" ? [fact.content] : []));
      return { name, entityType: type, facts: contents.map((content) => ({ content, source })) };
    }),
  );
  const ids = await writer.entitiesNamed(merging.map(({ name }) => name));
  const relations: Relation[] = [];
  for (const [index, { one, row, name }] of merging.entries()) {
    const own = facts[index] ?? [];
    const had = row === undefined ? [] : (one.state?.facts ?? []);
    await removeFacts(writer, row, own, had);
    for (const fact of own)
      if (fact.kind === "relation" && !had.includes(keyOf(fact)))
        relations.push({ from: name, to: fact.target, relationType: fact.type });
  }
  await addRelations(writer, relations, "create");
  return new Map(
    merging.map(({ one, name }, index) => {
      const { path, note, stamp, hash } = one;
      const { id = 0, type = DEFAULT_TYPE } = ids.get(name) ?? {};
      // A file that was renamed still has the old title, which is then written.
      const shown =
        one.state !== undefined && isFileRenamed(one, one.state) ? one.state.name : name;
      const written = note.type ?? type;
      return [
        path,
        stateOf(path, note, facts[index] ?? [], { id, name: shown, type: written, stamp, hash }),
      ];
    }),
  );
}

/** Removes what a person removed from a note, which had the facts of these keys. */
async function removeFacts(
  writer: Writer,
  row: EntityRow | undefined,
  facts: readonly NoteFact[],
  had: readonly string[],
): Promise<void> {
  const now = new Set(keysOf(facts));
  const gone = new Set(had.filter((key) => !now.has(key)));
  if (row === undefined || gone.size === 0) return;
  const { observations, relations } = await factsOf(writer, row.id);
  await writer.remove(
    "relation",
    relations.filter(({ type, to }) => gone.has(keyOf({ type, target: to }))),
  );
  await writer.remove(
    "observation",
    observations.filter((one) => gone.has(keyOf(one))),
  );
}

/** Whether a person gave the file another name, but not its title, of which the file's name was made. */
function isFileRenamed({ note, path, before }: Changed, state: NoteState): boolean {
  return (
    note.title !== undefined &&
    note.title === state.title &&
    stemIn(before) !== stemIn(path) &&
    stemIn(before) === stemOf(state.title)
  );
}

/** Renames the entity of a note whose title or file was renamed; returns its name. */
async function renamed(
  writer: Writer,
  one: Changed,
  row: EntityRow,
  state: NoteState,
): Promise<string> {
  const title = one.note.title ?? stemIn(one.path);
  const wanted = isFileRenamed(one, state)
    ? stemIn(one.path)
    : title === state.title
      ? row.name
      : title;
  const name = wanted.toWellFormed();
  if (name === row.name || textProblem("name", name) !== undefined) return row.name;
  if ((await writer.entitiesNamed([name])).has(name)) return row.name;
  await writer.alter(row, "rename", name);
  return name;
}
