import { basename, extname } from "node:path/posix";
import type { ToolError } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import type { NotesFolder } from "./folder.ts";
import { NoteNames } from "./names.ts";
import { keyOf, type Note, type NoteFact } from "./note.ts";

/** What is known about a note since the memory and its file were last the same. */
export interface NoteState {
  /** The entity. */
  readonly id: number;
  /** The entity's name and type as the note has them. */
  readonly name: string;
  readonly type: string;
  /** The title in the note, or the name of its file. */
  readonly title: string;
  readonly permalink?: string | undefined;
  readonly stamp: string;
  readonly hash: string;
  /** The keys of its facts. Not their texts, of which no copy may stay behind when they are erased. */
  readonly facts: readonly string[];
  /** Where it was before its entity was deleted. */
  readonly trashedFrom?: string;
}

/** What the two directions share. */
export interface Notes {
  readonly store: Store;
  readonly folder: NotesFolder;
  /** The states of all notes, by their paths. */
  readonly states: Map<string, NoteState>;
  /** Notes that cannot be read, by their paths: their stamps, so that they are reported once. */
  readonly unreadable: Map<string, string>;
  /** Sentences for the user. */
  readonly problems: string[];
}

/** The key in `meta` of a note's state, before its path, and that of the last change that all notes have. */
export const NOTE = "note:";
export const WRITTEN = "notes_written";

/** What the links in all notes mean. */
export function namesOf(states: ReadonlyMap<string, NoteState>): NoteNames {
  const names = new NoteNames();
  for (const [path, { name, permalink, trashedFrom }] of states)
    if (trashedFrom === undefined) names.link(name, path, permalink);
  return names;
}

/** A note's facts with the names that its links mean. */
export function resolved(note: Note, names: NoteNames): NoteFact[] {
  return note.facts.map((fact) =>
    fact.kind === "relation" ? { ...fact, target: names.resolve(fact.target) } : fact,
  );
}

export const keysOf = (facts: readonly NoteFact[]) => [...new Set(facts.map(keyOf))];

export const stemIn = (path: string) => basename(path, extname(path));

/** The state of a note that has what the memory has. */
export function stateOf(
  path: string,
  note: Note,
  facts: readonly NoteFact[],
  rest: Pick<NoteState, "id" | "name" | "type" | "stamp" | "hash">,
): NoteState {
  const { permalink } = note;
  return { ...rest, title: note.title ?? stemIn(path), permalink, facts: keysOf(facts) };
}

/** An entity's current facts. */
export async function factsOf(reader: Reader, id: number) {
  const observations = await reader.observationsOf([id]);
  const relations = await reader.relationsOf([id], { direction: "out" });
  return { observations, relations };
}

/** An error as sentences for the user: what is wrong, and what to do. */
export const told = ({ message, hint = "" }: ToolError) => `${message} ${hint}`.trim();
