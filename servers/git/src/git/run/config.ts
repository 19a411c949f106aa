import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { failure, failureOf, outside } from "./errors.ts";
import { textOf } from "./text.ts";

/** One value of git's configuration, as `git config --list -z --show-scope --show-origin` reports it. */
export interface ConfigEntry {
  /** Whether it comes from the user's or the system's configuration, not the repository's. */
  readonly own: boolean;
  readonly origin: string;
  /** Section and name in lower case, the subsection in the middle unchanged. */
  readonly key: string;
  /** A key without `=` means true. */
  readonly value: string;
}

/**
 * Parses `git config --list -z --show-scope --show-origin`: `scope NUL origin NUL key LF value NUL`, in the order that git
 * applies them. The server's own settings (scope `command`) are omitted.
 */
export function parseConfig(output: Buffer): ConfigEntry[] {
  const fields = output.toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [scope = "", origin = "", text = ""] = fields.slice(index, index + 3);
    if (scope === "command") continue;
    const file = resolve(origin.replace(/^file:/, ""));
    entries.push(entryOf(["system", "global"].includes(scope), file, text));
  }
  return entries;
}

/** Parses `git config --file <origin> --list -z`, which reports no scope. */
function parseFile(output: Buffer, own: boolean, origin: string): ConfigEntry[] {
  const texts = output.toString("utf8").split("\0").slice(0, -1);
  return texts.map((text) => entryOf(own, origin, text));
}

/** `key LF value`. A subsection cannot contain a line break (git refuses it), so the first one ends the key. */
function entryOf(own: boolean, origin: string, text: string): ConfigEntry {
  const end = text.indexOf("\n");
  if (end === -1) return { own, origin, key: text, value: "true" };
  return { own, origin, key: text.slice(0, end), value: text.slice(end + 1) };
}

export const isOwn = ({ own }: ConfigEntry) => own;

/** The effective value of a key (the last one wins) among the entries that `where` accepts. */
export function lastValue(
  entries: readonly ConfigEntry[],
  key: string,
  where: (entry: ConfigEntry) => boolean = () => true,
): string | undefined {
  return entries.findLast((entry) => entry.key === key && where(entry))?.value;
}

/** `remote.origin.url` → `["remote", "origin", "url"]`; the middle is empty if there is no subsection. */
export function splitKey(key: string): [section: string, subsection: string, name: string] {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  return [
    key.slice(0, first),
    first === last ? "" : key.slice(first + 1, last),
    key.slice(last + 1),
  ];
}

/** Parses a boolean as git does: yes, on, true and any number but 0 are true. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(true|yes|on|[1-9]\d*)$/i.test(value);
}

/** A configuration value that overrides every file: `[key, value]`. */
export type ConfigPair = readonly [key: string, value: string];

/** Overrides for every command, whether or not a file sets the key. */
export const STANDING: readonly ConfigPair[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", ":"],
  ["sequence.editor", ":"],
  ["core.askPass", ""],
  ["core.quotePath", "false"],
  // Its warnings show that a name is a branch and a tag.
  ["core.warnAmbiguousRefs", "true"],
  ["credential.helper", ""],
  ["log.showSignature", "false"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["push.gpgSign", "false"],
  ["merge.verifySignatures", "false"],
  ["submodule.recurse", "false"],
  ["status.submoduleSummary", "false"],
  ["diff.ignoreSubmodules", "dirty"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  // Housekeeping starts other processes at unpredictable times.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["rebase.autoStash", "false"],
  ["merge.autoStash", "false"],
  ["http.followRedirects", "false"],
  // These would move or delete more refs than the call names.
  ["rebase.updateRefs", "false"],
  ["rebase.autoSquash", "false"],
  // A line break in it would add lines to the todo list, such as exec.
  ["rebase.instructionFormat", "%s"],
  // Recorded resolutions: MERGE_RR names the files that git copies into the repository.
  ["rerere.enabled", "false"],
  ["fetch.pruneTags", "false"],
  // Packs from addresses that the remote names.
  ["fetch.uriProtocols", ""],
];

/** A merge driver cannot be empty (git aborts, or uses our side as the result), so each becomes git's own text merge. */
const TEXT_MERGE = "git merge-file --marker-size=%L %A %O %B";

/** Patterns of keys that make git run programs, and the value that each gets if a file sets it. */
const EXECUTING: readonly (readonly [pattern: RegExp, becomes: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/, ""],
  [/^filter\..*\.required$/, "false"],
  [/^diff\.external$/, ""],
  [/^diff\..*\.(command|textconv)$/, ""],
  [/^merge\..*\.driver$/, TEXT_MERGE],
  [/^(credential|credential\..*)\.helper$/, ""],
  [/^core\.alternaterefscommand$/, ""],
  [/^remote\..*\.mirror$/, "false"],
  [/^submodule\..*\.update$/, "none"],
  [/^submodule\..*\.ignore$/, "dirty"],
  [/^branch\..*\.mergeoptions$/, ""],
  [/^trailer\..*\.(cmd|command)$/, ""],
  [/^uploadpack\.packobjectshook$/, ""],
  [/^interactive\.difffilter$/, ""],
  [/^gc\.recentobjectshook$/, ""],
  [/^remote\..*\.prunetags$/, "false"],
  [/^pager\..*$/, "false"],
  [/^(difftool|mergetool|man|browser|guitool)\..*\.(cmd|path)$/, ""],
  [/^transfer\.bundleuri$/, "false"],
  // The repository must not control what the remote does with a push.
  [/^push\.pushoption$/, ""],
  // Windows: variables that git removes for its child processes, which could be these overrides.
  [/^core\.unsetenvvars$/, "PERL5LIB"],
  // Any other name would be a program git-merge-<name>.
  [/^pull\.(twohead|octopus)$/, "ort"],
];

/**
 * Keys that only the user may set, never the repository, with their values otherwise: git's own programs for signatures,
 * and no files that affect answers.
 */
const OWN_KEYS: ReadonlyMap<string, string> = new Map([
  ["gpg.program", "gpg"],
  ["gpg.openpgp.program", "gpg"],
  ["gpg.x509.program", "gpgsm"],
  ["gpg.ssh.program", "ssh-keygen"],
  ["gpg.ssh.defaultkeycommand", ""],
  ["mailmap.file", "/dev/null"],
  ["core.attributesfile", "/dev/null"],
  ["core.excludesfile", "/dev/null"],
  ["gpg.ssh.allowedsignersfile", "/dev/null"],
  ["gpg.ssh.revocationfile", "/dev/null"],
  ["commit.template", "/dev/null"],
  ["diff.orderfile", "/dev/null"],
  ["fetch.fsck.skiplist", "/dev/null"],
]);

/** Keys that configure a filter; those of git-lfs name programs that it runs. */
const FILTERING =
  /^(filter\..*|lfs\.(customtransfer|extension)\..*|lfs\.standalonetransferagent)$/s;

/** Which filters run: none, or those of the user's own configuration. */
export type FilterPolicy = "off" | "own";

const MAX_OVERRIDES = 2_000;

/**
 * The settings that keep every key of this configuration from running a program, in any command and from any file: even the
 * user's, because the repository's attributes would trigger it.
 *
 * @param dormant what conditional includes would add
 * @param filters whether the user's own filters run (`--filters`)
 * @throws ToolError `denied`, code `unsafe_config`, for a configuration with thousands of such keys
 */
export function overridesFor(
  entries: readonly ConfigEntry[],
  dormant: readonly ConfigEntry[] = [],
  filters: FilterPolicy = "off",
): ConfigPair[] {
  const pairs = new Map<string, string>(STANDING);
  for (const { key } of [...entries, ...dormant]) {
    const [section, subsection] = splitKey(key);
    const known = EXECUTING.find(([pattern]) => pattern.test(key));
    if (known !== undefined) pairs.set(key, known[1]);
    if (filters === "own" && FILTERING.test(key)) {
      const may = section === "lfs" || isOwnFilter(entries, subsection);
      const own = may ? lastValue(entries, key, isOwn) : undefined;
      if (own !== undefined || section === "lfs") pairs.set(key, own ?? "");
    }
    // Hooks in the configuration, which future versions of git will have.
    if (section === "hook" && subsection !== "") pairs.set(`hook.${subsection}.enabled`, "false");
    const standard = OWN_KEYS.get(key);
    if (standard !== undefined) pairs.set(key, lastValue(entries, key, isOwn) ?? standard);
  }
  if (pairs.size > MAX_OVERRIDES) {
    throw failure(
      "unsafe_config",
      `The repository's configuration sets ${pairs.size} keys that run programs.`,
      {
        hint: "Ordinary repositories don't. Ask the user to inspect its .git/config.",
      },
    );
  }
  return [...pairs];
}

/** The configured filters that do not run, and whether they are the user's own. */
export function filtersNotRun(
  entries: readonly ConfigEntry[],
  filters: FilterPolicy,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { key, value } of entries) {
    const [section, name, variable] = splitKey(key);
    if (section !== "filter" || value === "" || !/^(clean|smudge|process)$/.test(variable))
      continue;
    const own = isOwnFilter(entries, name);
    if (filters === "off" || !own) found.set(name, own);
  }
  return found;
}

/** Whether a filter is the user's own. If the repository adds a process to it, it is not: git would prefer that. */
function isOwnFilter(entries: readonly ConfigEntry[], name: string): boolean {
  const sets = (variable: string, own: boolean) =>
    entries.some((entry) => entry.key === `filter.${name}.${variable}` && entry.own === own);
  if (sets("process", false) && !sets("process", true)) return false;
  return sets("process", true) || sets("clean", true) || sets("smudge", true);
}

/** The user's credential helpers, in order, without the repository's. */
export function ownCredentialHelpers(entries: readonly ConfigEntry[]): ConfigPair[] {
  return entries
    .filter((entry) => entry.own && /^(credential|credential\..*)\.helper$/.test(entry.key))
    .map(({ key, value }): ConfigPair => [key, value]);
}

/** A configuration as git reads it, and what it could become. */
export interface Configuration {
  /** In the order that git applies them. */
  readonly entries: readonly ConfigEntry[];
  /** What conditional includes would add if their condition were true: on another branch, in another worktree. */
  readonly dormant: readonly ConfigEntry[];
  /** The files that the repository's own configuration includes, existing or not. */
  readonly includes: readonly string[];
  /** Identifies what was read. */
  readonly state: string;
  /** Whether another call may use it: false if a file could change without a trace. */
  readonly isLasting: boolean;
  /** Whether one of its files has changed since it was read. */
  isStale(): boolean;
}

type RunGit = (
  args: readonly string[],
) => Promise<{ readonly code: number; readonly stdout: Buffer; readonly stderr: string }>;

const MAX_INCLUDES = 200;
const LIST = ["config", "--list", "-z", "--show-scope", "--show-origin"];

/**
 * Reads the configuration with all files that it includes, even those whose condition is false now: git starts other
 * processes that read it again, possibly on another branch or in another worktree.
 *
 * @param guard contains the repository's own includes; the user's may be anywhere
 * @param files where a configuration may be, existing or not
 * @param heads files that change with the branch, on which an include may depend
 * @throws ToolError `outside_roots` for an outside include of the repository, whose content answers could show
 */
export async function readConfig(
  run: RunGit,
  guard: PathGuard,
  files: readonly string[] = [],
  heads: readonly string[] = [],
): Promise<Configuration> {
  const watched = new Map(files.map((file) => [file, stateOf(file)]));
  const started = Date.now();
  const result = await run(LIST);
  if (result.code !== 0) throw failureOf(result, "read the repository's configuration");
  const entries = parseConfig(result.stdout);
  const dormant: ConfigEntry[] = [];
  const includes: string[] = [];
  const seen = new Set<string>();
  const waiting = entries.filter(isInclude);
  for (
    let entry = waiting.pop();
    entry !== undefined && seen.size < MAX_INCLUDES;
    entry = waiting.pop()
  ) {
    const path = await includedPath(entry, run);
    if (!entry.own && !guard.contains(realOf(path))) throw outside(`include (${entry.key})`, guard);
    if (/^includeif\.onbranch:/.test(entry.key))
      for (const head of heads) watched.set(head, stateOf(head));
    if (seen.has(path)) continue;
    seen.add(path);
    const state = stateOf(path);
    if (!entry.own) includes.push(path);
    watched.set(path, state);
    if (state === MISSING || entries.some(({ origin }) => origin === path)) continue;
    const listing = await run(["config", "--file", path, "--list", "-z"]);
    const found = parseFile(listing.stdout, entry.own, path);
    dormant.push(...found);
    waiting.push(...found.filter(isInclude));
  }
  for (const { origin } of entries) if (!watched.has(origin)) watched.set(origin, stateOf(origin));
  const states = [...watched];
  const isGone = entries.some(({ origin }) => watched.get(origin) === MISSING);
  return {
    entries,
    dormant,
    includes,
    state: states.join("\n"),
    isLasting:
      waiting.length === 0 && !isGone && states.every(([, state]) => isSettled(state, started)),
    isStale: () => states.some(([file, state]) => stateOf(file) !== state),
  };
}

/** Lists the system's configuration. git is compiled with its path, which only the result shows. */
export const LIST_SYSTEM = ["config", "--system", "--list", "-z", "--show-origin"];

/** The system's configuration file by the result of `LIST_SYSTEM`, which fails if there is none. */
export function systemFile({ stdout, stderr }: { stdout: Buffer; stderr: string }): string {
  const [, missing] = /unable to read config file '(.*)'/s.exec(stderr) ?? [];
  const [, found] = /^file:([^\0]*)/.exec(textOf(stdout)) ?? [];
  return resolve(missing ?? found ?? "/etc/gitconfig");
}

/** The files of the user's and the system's configuration, existing or not. */
export function ownFiles(env: NodeJS.ProcessEnv, system: string): string[] {
  const { HOME, XDG_CONFIG_HOME, HOMEDRIVE, HOMEPATH, USERPROFILE } = env;
  const homes = [HOME, HOMEDRIVE && `${HOMEDRIVE}${HOMEPATH}`, USERPROFILE].flatMap(
    (home) => home || [],
  );
  const below = homes.flatMap((home) => [
    join(home, ".gitconfig"),
    join(home, ".config", "git", "config"),
  ]);
  return [system, ...(XDG_CONFIG_HOME ? [join(XDG_CONFIG_HOME, "git", "config")] : []), ...below];
}

function isInclude({ key }: ConfigEntry): boolean {
  return key === "include.path" || /^includeif\..*\.path$/s.test(key);
}

/** The file that an include names, relative to the file that contains the include. */
async function includedPath(
  { own, key, value, origin }: ConfigEntry,
  run: RunGit,
): Promise<string> {
  let named = value;
  if (/^(~|%\(prefix\)\/)/.test(value)) {
    const expanded = await run([
      "config",
      "--type=path",
      "--default",
      value,
      "--get",
      "refmcp.path",
    ]);
    if (expanded.code === 0) named = expanded.stdout.toString("utf8").replace(/\n$/, "");
  }
  if (own) return resolve(dirname(origin), named);
  if (DOWN_AND_UP.test(named)) {
    const message = `The repository's include (${key}) leads through "${oneLine(value)}".`;
    throw failure("unsafe_config", message, { hint: "The user can write its path without /../ ." });
  }
  return resolve(realOf(dirname(origin)), named);
}

/** A ".." behind a name: if that is a link, the system goes up from where it leads. */
const DOWN_AND_UP = /(^|\/)(?!\.{0,2}\/)[^/]*\/(.*\/)?\.\.(\/|$)/s;

const MISSING = "missing";

/** Identifies a file's content without reading it. */
export function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return MISSING;
  }
}

/**
 * Whether a file with this state at that time must get another one if it changes: a second change within the resolution of
 * the file system's clock (two seconds on FAT) would not show.
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
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
