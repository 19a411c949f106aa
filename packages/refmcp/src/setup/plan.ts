import { isDeepStrictEqual } from "node:util";
import type { Json } from "../hosts/facts.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { FORMATS, missingSteps, removeAt, type Step, setAt, valueAt } from "./edit.ts";
import { entryAt, entryPath, isOurs, mergeEntry } from "./entries.ts";
import { isRecord, SetupProblem, type TextFormat } from "./formats/text-format.ts";
import type { KnownHost, KnownPlace } from "./known-hosts.ts";

/** What was at a place of a file before a change, so that it can be undone. */
export interface Change {
  readonly path: readonly Step[];
  /** Undefined if nothing was there. */
  readonly before: Json | undefined;
  /** How many objects and lists around it were created. */
  readonly created: number;
}

/** The change of one host's file. */
export interface PlannedFile {
  readonly host: KnownHost;
  readonly place: KnownPlace;
  readonly file: ConfigFile;
  readonly after: string;
  readonly changes: readonly Change[];
  /** The names of the entries that it has afterwards. */
  readonly names: readonly string[];
  /** What the user should know, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Computes a host's file with the entries of these servers.
 *
 * @param texts for each server the host's complete file with only its entry
 * @param ownFiles bins whose entries are refmcp's
 * @throws {SetupProblem} if the file cannot be read or changed.
 */
export function planFile(
  host: KnownHost,
  place: KnownPlace,
  texts: ReadonlyMap<string, string>,
  ownFiles: readonly string[],
): PlannedFile {
  const file = readConfigFile(place.file);
  const format = FORMATS[host.format];
  const state: State = { format, text: file.text, changes: [], notes: [] };
  const names: string[] = [];
  for (const [name, fresh] of texts) {
    const path = entryPath(host, name);
    if (state.text.trim() === "") {
      state.text = fresh;
      state.changes.push({ path, before: undefined, created: path.length - 1 });
      names.push(name);
      continue;
    }
    const data = format.parse(state.text) ?? {};
    if (!isRecord(data)) throw new SetupProblem("has an unexpected form: it is not an object.");
    const old = valueAt(data, path);
    if (old !== undefined && !isOurs(old, ownFiles)) {
      state.notes.push(
        `Its entry "${name}" starts another program and stays. Rename it to add the server of refmcp.`,
      );
      continue;
    }
    const freshData = format.parse(fresh);
    const entry = entryAt(freshData, path);
    if (entry === undefined) throw new SetupProblem(`has no known form for the entry "${name}".`);
    set(
      state,
      path,
      isRecord(old) ? mergeEntry(old, entry as { [key: string]: Json }) : (entry as Json),
    );
    if (isRecord(freshData)) addOthers(state, freshData, host.keyPath[0] ?? "");
    names.push(name);
  }
  const { text: after, changes, notes } = state;
  return { host, place, file, after, changes, names, notes };
}

interface State {
  readonly format: TextFormat;
  text: string;
  readonly changes: Change[];
  readonly notes: string[];
}

/** Makes one change, unless it has the value. */
function set(state: State, path: readonly Step[], value: Json): void {
  const data = state.format.parse(state.text) ?? {};
  const before = valueAt(data, path);
  if (isDeepStrictEqual(before, value)) return;
  const created = before === undefined ? missingSteps(data, path) - 1 : 0;
  state.text = setAt(state.format, state.text, path, value);
  state.changes.push({ path, before: before as Json | undefined, created });
}

/** Adds what the entry needs elsewhere in the file: VS Code's inputs, and members that a host requires. */
function addOthers(
  state: State,
  fresh: { readonly [key: string]: unknown },
  serversKey: string,
): void {
  for (const [key, value] of Object.entries(fresh)) {
    if (key === serversKey) continue;
    const items = Array.isArray(value) ? value.filter(isRecord) : [];
    for (const item of items) {
      const path: Step[] = [key, { field: "id", value: String(item.id) }];
      if (valueAt(state.format.parse(state.text), path) === undefined)
        set(state, path, item as Json);
    }
    if (items.length === 0 && valueAt(state.format.parse(state.text), [key]) === undefined)
      set(state, [key], value as Json);
  }
}

/** The text without these changes, and with everything that was changed since. */
export function revert(format: TextFormat, text: string, changes: readonly Change[]): string {
  let reverted = text;
  for (const { path, before, created } of changes.toReversed()) {
    const now = valueAt(format.parse(reverted), path);
    if (before === undefined) reverted = removeAt(format, reverted, path, created);
    // An entry that the user has removed since stays removed.
    else if (now !== undefined && !isDeepStrictEqual(now, before))
      reverted = setAt(format, reverted, path, before);
  }
  return reverted;
}
