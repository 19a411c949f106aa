import { extname } from "node:path/posix";
import { ToolError } from "@refmcp/boundary/answer";
import { batches } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import type { EntityRow, ObservationRow, RelationRow } from "../types.ts";
import { changedNote, type NotesFolder } from "./folder.ts";
import { FreeStems, type NoteNames } from "./names.ts";
import { editNote, keyOf, parseNote, renderNote } from "./note.ts";
import {
  factsOf,
  NOTE,
  type NoteState,
  type Notes,
  namesOf,
  resolved,
  stateOf,
  told,
  WRITTEN,
} from "./state.ts";

const BATCH = 200;
/** If this many notes cannot be written, such as on a full disk, the others are left for the next call. */
const MAX_FAILURES = 20;
/** With more changes than this, all notes are compared. */
const MAX_CHANGES = 100;

/** An entity of which a note may be out of date (without a row, if it no longer exists), and its facts. */
interface Touched {
  readonly id: number;
  readonly row: EntityRow | undefined;
  readonly observations: readonly ObservationRow[];
  readonly relations: readonly RelationRow[];
}

/**
 * Writes to the notes what the journal has and they do not have yet.
 *
 * @param found the notes on the disk.
 * @returns whether another program changed a note in between, which must be taken in first.
 */
export async function writeOut(notes: Notes, found: ReadonlyMap<string, string>): Promise<boolean> {
  const { store, states } = notes;
  const { last, ids, isDone } = await store.read((reader) => outdated(reader, states));
  if (isDone) return false;
  const stems = new FreeStems();
  for (const path of found.keys()) stems.hold(path.slice(0, path.length - extname(path).length));
  const names = namesOf(states);
  let isAgain = false;
  let failures = 0;
  for (let at = 0; at < ids.length && failures < MAX_FAILURES; at += BATCH) {
    const batch = await store.read((reader) => touchedOf(reader, ids.slice(at, at + BATCH)));
    const byId = new Map([...states].map(([path, state]) => [state.id, path]));
    const next = new Map<string, NoteState | undefined>();
    for (const one of batch) {
      try {
        await writeOne(notes, one, byId.get(one.id), { stems, names }, next);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        if (error.kind === "conflict" || error.kind === "not_found") isAgain = true;
        else {
          failures += 1;
          notes.problems.push(
            `The memory has the change, but its note is not updated: ${told(error)}`,
          );
        }
      }
    }
    await remember(notes, next);
  }
  // Otherwise it is tried again with the next call.
  if (!isAgain && failures === 0)
    await store.write((writer) => writer.setMeta(WRITTEN, String(last)));
  return isAgain;
}

async function remember(
  { store, states }: Notes,
  next: ReadonlyMap<string, NoteState | undefined>,
) {
  if (next.size === 0) return;
  await store.write(async (writer) => {
    for (const [path, state] of next)
      if (state === undefined) await writer.dropMeta(NOTE + path);
      else await writer.setMeta(NOTE + path, JSON.stringify(state));
  });
  for (const [path, state] of next)
    if (state === undefined) states.delete(path);
    else states.set(path, state);
}

/** The entities that changed since all notes were written, in the order of their ids. */
async function outdated(reader: Reader, states: ReadonlyMap<string, NoteState>) {
  const last = (await reader.changes(undefined, 1))[0]?.id ?? 0;
  const written = await reader.meta(WRITTEN);
  if (written === String(last)) return { last, ids: [], isDone: true };
  const changes = await reader.changesSince(Number(written ?? 0), MAX_CHANGES + 1);
  const ids = new Set<number>();
  if (written === undefined || changes.length > MAX_CHANGES || changes.some(({ hard }) => hard)) {
    for (const { id } of states.values()) ids.add(id);
    for await (const rows of batches((after, limit) => reader.entityPage(after, limit), 1_000))
      for (const { id } of rows) ids.add(id);
  } else {
    const renamed: number[] = [];
    for (const change of changes)
      for (const { kind, op, entityId, otherId } of await reader.itemsOf(change.id)) {
        ids.add(entityId);
        if (otherId !== null) ids.add(otherId);
        if (kind === "entity" && op === "rename") renamed.push(entityId);
      }
    // Notes that link to a renamed entity.
    for (const { fromId } of await reader.relationsOf(renamed, { direction: "in" }))
      ids.add(fromId);
  }
  return { last, ids: [...ids].sort((a, b) => a - b), isDone: false };
}

async function touchedOf(reader: Reader, ids: readonly number[]): Promise<Touched[]> {
  const rows = await reader.entitiesById(ids);
  const touched: Touched[] = [];
  for (const id of ids) {
    const row = rows.get(id);
    // Of a deleted entity, everything that was not erased.
    const facts =
      row?.removedBy === null
        ? await factsOf(reader, id)
        : {
            observations: await reader.observationsOf([id], "all"),
            relations: await reader.relationsOf([id], { direction: "out", alsoRemoved: true }),
          };
    touched.push({ id, row, ...facts });
  }
  return touched;
}

/** Free names of files, and what links mean. */
interface Names {
  readonly stems: FreeStems;
  readonly names: NoteNames;
}

/** Updates, creates, moves away or erases one note; `next` gets its new state. */
async function writeOne(
  notes: Notes,
  one: Touched,
  path: string | undefined,
  names: Names,
  next: Map<string, NoteState | undefined>,
): Promise<void> {
  const { folder, states } = notes;
  const { row } = one;
  const state = path === undefined ? undefined : states.get(path);
  if (row === undefined || row.removedBy !== null) {
    if (path === undefined || state === undefined) return;
    if (row === undefined) await folder.erase(path);
    else if (state.trashedFrom !== undefined) return eraseLines(folder, one, path);
    else next.set(await folder.trash(path), { ...state, trashedFrom: path });
    next.set(path, undefined);
    return;
  }
  if (path !== undefined && state?.trashedFrom !== undefined) next.set(path, undefined);
  // Someone may have emptied the trash.
  if (
    path === undefined ||
    state === undefined ||
    (state.trashedFrom !== undefined && folder.stamp(path) === undefined)
  ) {
    const [created, made] = (await createNote(folder, one, row, names.stems)) ?? [];
    if (created !== undefined) next.set(created, made);
    return;
  }
  let here = state.trashedFrom ?? path;
  if (state.trashedFrom !== undefined) {
    while (folder.has(here)) here = `${names.stems.take(row.name)}.md`;
    await folder.move(path, here);
  }
  next.set(here, await updateNote(folder, one, row, { ...state, path: here }, names.names));
}

/** Removes facts that were erased permanently from a note in the trash. */
async function eraseLines(folder: NotesFolder, { observations }: Touched, path: string) {
  if (folder.stamp(path) === undefined) return;
  const { text, hash } = await folder.read(path);
  const kept = new Set(observations.map(keyOf));
  const edited = editNote(text, {
    remove: (fact) => fact.kind === "observation" && !kept.has(keyOf(fact)),
  });
  if (edited !== text) await folder.write(path, edited, hash);
}

/** Writes a new note, and returns its path; undefined for an entity that only exists because something refers to it. */
async function createNote(
  folder: NotesFolder,
  { id, observations, relations }: Touched,
  { name, type }: EntityRow,
  stems: FreeStems,
): Promise<[path: string, state: NoteState] | undefined> {
  if (type === "unknown" && observations.length === 0 && relations.length === 0) return undefined;
  const contents = observations.map(({ content }) => content);
  const text = renderNote(name, type, contents, relations.map(linkOf));
  let path = `${stems.take(name)}.md`;
  // Something that is not a note can have that name.
  while (folder.has(path)) path = `${stems.take(name)}.md`;
  const { hash } = await folder.write(path, text, undefined);
  const note = parseNote(text);
  const stamp = folder.stamp(path) ?? "";
  return [path, stateOf(path, note, note.facts, { id, name, type, stamp, hash })];
}

const linkOf = ({ type, to }: RelationRow) => ({ type, target: to });

/** @throws ToolError `conflict` if another program changed the note. */
async function updateNote(
  folder: NotesFolder,
  { id, observations, relations }: Touched,
  { name, type }: EntityRow,
  { path, ...state }: NoteState & { readonly path: string },
  names: NoteNames,
): Promise<NoteState> {
  const read = await folder.read(path);
  if (read.hash !== state.hash) throw changedNote(path);
  const links = relations.map(linkOf);
  const facts = resolved(parseNote(read.text), names);
  const has = new Set(facts.map(keyOf));
  const wanted = new Set([...observations, ...links].map(keyOf));
  const old = new Set(
    facts.flatMap((fact) => (fact.own && !wanted.has(keyOf(fact)) ? [fact.line] : [])),
  );
  const text = editNote(read.text, {
    title: name === state.name ? undefined : name,
    type: type === state.type ? undefined : type,
    remove: ({ line }) => old.has(line),
    observations: observations.filter((one) => !has.has(keyOf(one))).map(({ content }) => content),
    relations: links.filter((link) => !has.has(keyOf(link))),
  });
  const hash = text === read.text ? read.hash : (await folder.write(path, text, read.hash)).hash;
  const note = parseNote(text);
  const stamp = folder.stamp(path) ?? "";
  return stateOf(path, note, resolved(note, names), { id, name, type, stamp, hash });
}
