import { realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { type ConfigEntry, parseConfig, parseFile } from "../run/config.ts";
import { failureOf } from "../run/failures.ts";
import type { GitResult } from "../run/run-git.ts";
import { outside } from "./locate.ts";

/** A configuration as git reads it, and what it could become. */
export interface Configuration {
  /** In the order that git applies them. */
  readonly entries: readonly ConfigEntry[];
  /** What conditional includes would add if their condition were true: on another branch, in another worktree. */
  readonly dormant: readonly ConfigEntry[];
  /** The files that the repository's own configuration includes, existing or not. */
  readonly includes: readonly string[];
  /** Whether one of its files has changed since it was read. */
  isStale(): boolean;
}

const MAX_INCLUDES = 200;
const LIST = ["config", "--list", "-z", "--show-scope", "--show-origin"];

/**
 * Reads the configuration with all files that it includes, even those whose condition is false now: git starts other
 * processes that read it again, possibly on another branch or in another worktree.
 *
 * @param run runs git in the repository
 * @param guard contains the repository's own includes; the user's may be anywhere
 * @throws ToolError `outside_roots` for an outside include of the repository, whose content answers could show
 */
export async function readConfig(
  run: (args: readonly string[]) => Promise<GitResult>,
  guard: PathGuard,
  files: readonly string[] = [],
): Promise<Configuration> {
  const watched = new Map(files.map((file) => [file, stateOf(file)]));
  const result = await run(LIST);
  if (result.code !== 0) throw failureOf(result, "read the repository's configuration");
  const entries = parseConfig(result.stdout);
  const dormant: ConfigEntry[] = [];
  const includes: string[] = [];
  const seen = new Set<string>();
  const waiting = entries.filter(isInclude);
  for (let entry = waiting.pop(); entry !== undefined && seen.size < MAX_INCLUDES; entry = waiting.pop()) {
    const path = await includedPath(entry, run);
    if (!entry.own && !guard.contains(realOf(path))) throw outside(`include (${entry.key})`, guard);
    if (seen.has(path)) continue;
    seen.add(path);
    const state = stateOf(path);
    if (!entry.own) {
      includes.push(path);
      watched.set(path, state);
    }
    if (state === MISSING || entries.some(({ origin }) => origin === path)) continue;
    const listing = await run(["config", "--file", path, "--list", "-z"]);
    const found = parseFile(listing.stdout, entry.own, path);
    dormant.push(...found);
    waiting.push(...found.filter(isInclude));
  }
  return {
    entries,
    dormant,
    includes,
    isStale: () => [...watched].some(([file, state]) => stateOf(file) !== state),
  };
}

function isInclude({ key }: ConfigEntry): boolean {
  return key === "include.path" || /^includeif\..*\.path$/s.test(key);
}

/** The file that an include names, relative to the file that contains the include. */
async function includedPath(
  { value, origin }: ConfigEntry,
  run: (args: readonly string[]) => Promise<GitResult>,
): Promise<string> {
  let named = value;
  if (/^(~|%\(prefix\)\/)/.test(value)) {
    const expanded = await run(["config", "--type=path", "--default", value, "--get", "refmcp.path"]);
    if (expanded.code === 0) named = expanded.stdout.toString("utf8").replace(/\n$/, "");
  }
  return resolve(dirname(origin), named);
}

const MISSING = "missing";

/** Identifies a file's content without reading it. */
export function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? MISSING : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

/** A file's real path; the path itself if there is no such file. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
