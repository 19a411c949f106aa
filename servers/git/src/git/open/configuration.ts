import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { sizeOf } from "@refmcp/boundary/answer";
import {
  type ConfigEntry,
  filtersNotRun,
  LIST_CONFIG,
  overridesFor,
  parseConfig,
} from "../run/config.ts";
import { failure, failureOf } from "../run/errors.ts";
import { type Configuration, type Machine, type Place, spawnGit } from "./machine.ts";

const MAX_CONFIGURATIONS = 50;
/** Of a configuration file. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Runs git in no repository. */
export const NOWHERE = { GIT_DIR: "/dev/null" };

/**
 * The configuration of a repository, read again if one of its files has changed since another call.
 *
 * @param place of a git process in this repository
 * @param own the repository's own files
 * @throws ToolError `unsafe_config` if the repository includes other files, which could be anywhere
 * and change with the branch
 */
export async function configurationOf(
  machine: Machine,
  place: Place,
  own: readonly string[],
): Promise<Configuration> {
  const key = own.join("\n");
  const cached = machine.configurations.get(key);
  if (cached?.isStale() === false) return cached;
  const started = Date.now();
  const files = [...own, ...userFiles(machine.options.env)];
  const states = new Map(files.map((file) => [file, stateOf(file)]));
  for (const file of own) await refuseIncludes(machine, place, file);
  const listing = await spawnGit(machine, place, LIST_CONFIG);
  if (listing.code !== 0) throw failureOf(listing, "read the repository's configuration");
  const entries = parseConfig(listing.stdout);
  for (const file of [...entries.map(({ origin }) => origin), ...includedFiles(entries, place)])
    if (!states.has(file)) states.set(file, stateOf(file));
  const { filters } = machine.options;
  if (machine.configurations.size >= MAX_CONFIGURATIONS) machine.configurations.clear();
  const configuration = {
    entries,
    overrides: overridesFor(entries, filters),
    filters: filtersNotRun(entries, filters),
    isStale: () => [...states].some(([file, state]) => stateOf(file) !== state),
  };
  if ([...states.values()].every((state) => isSettled(state, started)))
    machine.configurations.set(key, configuration);
  return configuration;
}

/** The files of the user's configuration, existing or not. */
function userFiles(env: NodeJS.ProcessEnv): string[] {
  const { HOME, XDG_CONFIG_HOME, HOMEDRIVE, HOMEPATH, USERPROFILE } = env;
  const homes = [HOME, HOMEDRIVE && `${HOMEDRIVE}${HOMEPATH}`, USERPROFILE].filter(
    (home) => home !== undefined && home !== "",
  ) as string[];
  const below = homes.flatMap((home) => [
    join(home, ".gitconfig"),
    join(home, ".config", "git", "config"),
  ]);
  return [...below, ...(XDG_CONFIG_HOME ? [join(XDG_CONFIG_HOME, "git", "config")] : [])];
}

const IS_INCLUDE = /^include(if\..*)?\.path$/s;

/** What the user's own configuration may include, and the branch that this may depend on. */
function includedFiles(entries: readonly ConfigEntry[], { env }: Place): string[] {
  const home = process.env.HOME ?? "";
  return entries
    .filter(({ key }) => IS_INCLUDE.test(key))
    .flatMap(({ key, value, origin }) => [
      resolve(dirname(origin), value.replace(/^~(?=\/)/, home)),
      ...(key.startsWith("includeif.onbranch:") ? [join(env?.GIT_DIR ?? "", "HEAD")] : []),
    ]);
}

/** git itself is not asked for the whole configuration until it is known to include nothing. */
async function refuseIncludes(machine: Machine, place: Place, file: string): Promise<void> {
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > MAX_BYTES)
    throw failure("unsafe_config", `The repository's configuration has ${sizeOf(size)}.`);
  const text = size === 0 ? "" : await readFile(file, "latin1");
  if (!/\[include/i.test(text)) return;
  const list = ["config", "--file", file, "--no-includes", "--list", "--name-only", "-z"];
  const { stdout } = await spawnGit(machine, { ...place, env: NOWHERE }, list);
  const include = stdout
    .toString("utf8")
    .split("\0")
    .find((key) => IS_INCLUDE.test(key));
  if (include === undefined) return;
  throw failure("unsafe_config", "The repository's configuration includes another file.", {
    hint: "The included settings could change with the branch. The user can move them into .git/config, or into their own configuration.",
  });
}

/** Identifies a file's content without reading it. */
export function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return "missing";
  }
}

/**
 * Whether a file with this state at that time must get another one if it changes: a second change
 * within the resolution of the file system's clock (two seconds on FAT) would not show.
 *
 * @param time in milliseconds
 */
export function isSettled(state: string, time: number): boolean {
  const [, , , changed] = state.split(" ");
  if (changed === undefined) return true;
  const isCoarse = changed.endsWith("000000000");
  return Number(BigInt(changed) / 1_000_000n) < time - (isCoarse ? 2_100 : 50);
}

/** A file's real path; the path itself if there is no such file. */
export function realOf(path: string): string {
  return attempt(() => realpathSync.native(path)) ?? path;
}

/** What is at a path, without following a link. */
export function statsOf(path: string): Stats | undefined {
  return attempt(() => lstatSync(path));
}

/**
 * Looks at a file without waiting: each of the many checks of a git directory would cost a turn of the event loop.
 */
export function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
