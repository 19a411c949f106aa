import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isSettled, stateOf } from "../run/config.ts";
import type { Location } from "./locate.ts";

/** What `git for-each-ref` printed in one state of the repository. */
export interface Listing {
  readonly state: string;
  readonly output: Buffer;
}

const MAX_FILES = 5_000;
const MAX_LISTINGS = 32;
const MAX_BYTES = 2 * 1024 * 1024;
/** What refs and their distance from each other depend on, in both git directories. */
const FILES = [
  "HEAD",
  "packed-refs",
  "shallow",
  join("info", "grafts"),
  join("reftable", "tables.list"),
];

/**
 * A listing of refs: a known one if nothing it depends on has changed.
 *
 * @param configuration its state
 * @param list runs git
 */
export async function listingOf(
  all: Map<string, Listing>,
  location: Location,
  configuration: string,
  args: string,
  list: () => Promise<Buffer>,
): Promise<Buffer> {
  const state = stateOfRefs(location, configuration);
  if (state === undefined) return list();
  const key = `${location.gitDir} ${args}`;
  const known = all.get(key);
  const output = known?.state === state ? known.output : await list();
  // Unless a ref changed while git read them.
  const isCurrent = output === known?.output || stateOfRefs(location, configuration) === state;
  if (output.length <= MAX_BYTES && isCurrent) remember(all, key, { state, output }, MAX_LISTINGS);
  return output;
}

/** The state of every file of the refs; undefined if there are too many, or one has only just changed. */
function stateOfRefs(location: Location, configuration: string): string | undefined {
  const now = Date.now();
  const states = [configuration];
  for (const path of filesOf(location)) {
    const state = stateOf(path);
    if (states.push(`${path} ${state}`) > MAX_FILES || !isSettled(state, now)) return undefined;
  }
  return states.join("\n");
}

/** One after the other: links that lead back to a directory above make a tree without end. */
function* filesOf({ gitDir, commonDir }: Location): Generator<string> {
  for (const directory of new Set([gitDir, commonDir])) {
    for (const file of FILES) yield join(directory, file);
    yield* treeOf(join(directory, "refs"));
  }
}

/** A directory and what is below it, as far as it may be listed. */
function* treeOf(path: string): Generator<string> {
  yield path;
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (entry.isFile()) yield below;
      else yield* treeOf(below);
    }
  } catch {
    // A link to a file, or it was removed.
  }
}

/** Sets an entry of a map, and drops the entry that was not used for the longest time if there are more than `max`. */
export function remember<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  max: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > max) map.delete(oldest);
}
