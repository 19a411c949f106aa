import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DirectoryAllowlist, openStateDirectory } from "@refmcp/boundary";
import type { HostEntry } from "../hosts/host.ts";
import { HOSTS, type HostName } from "../hosts/hosts.ts";
import { startOf } from "./check.ts";
import { entryAt, readConfig, SetupProblem, withEntry, writeConfig } from "./file.ts";

/** What `setup` wrote into a file. */
interface Change {
  readonly host: HostName;
  readonly path: readonly string[];
  /** Null if there was no entry. */
  readonly before: HostEntry | null;
  readonly after: HostEntry;
}

/** The file that remembers the changes, by file. @throws {SetupProblem} if no directory can be used. */
export async function recordFile(directories: readonly string[]): Promise<string> {
  const allowed = new DirectoryAllowlist({ configured: [], mode: "off" });
  const place = await openStateDirectory(directories, allowed, { name: "undo" });
  if ("directory" in place) return join(place.directory, "entries.json");
  throw new SetupProblem(`The record for --undo cannot be written: ${place.reason}.`);
}

export const changesIn = (record: string): Readonly<Record<string, Change>> =>
  Object(readConfig(record).data);

/** Remembers a change, or forgets it. */
export async function remember(record: string, file: string, change?: Change): Promise<void> {
  const config = readConfig(record);
  const earlier = changesIn(record)[file];
  // What this program wrote in an earlier run is not what the user had.
  const isOwn = change?.before && earlier && isSame(earlier.after, change.before);
  const entry = isOwn ? { ...change, before: earlier.before } : change;
  await writeConfig(config, JSON.stringify({ ...config.data, [file]: entry }), false);
}

/** Whether two entries start the same, even if the host or the user has added something to one. */
function isSame(written: HostEntry, now: HostEntry): boolean {
  return isDeepStrictEqual(startOf(now).words, startOf(written).words);
}

/**
 * The file without the entry that `setup` wrote, or with the one before.
 *
 * @returns undefined if the entry is no longer there.
 * @throws {SetupProblem} if the entry is another one now.
 */
export function planUndo(file: string, { host, path, before, after }: Change) {
  const { format } = HOSTS[host];
  const config = readConfig(file, format);
  const now = entryAt(config.data, path);
  if (now === undefined) return undefined;
  if (!isSame(after, now))
    throw new SetupProblem(`has another ${path.join(".")} now, which stays.`);
  return { file, config, text: withEntry(config, format, path, before ?? undefined) };
}

export type Undo = NonNullable<ReturnType<typeof planUndo>>;
