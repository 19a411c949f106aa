import { resolve } from "node:path";
import { failure } from "./errors.ts";

/** One value of git's configuration. */
export interface ConfigEntry {
  /** Whether it comes from the user's or the system's configuration, not the repository's. */
  readonly own: boolean;
  readonly origin: string;
  /** Section and name in lower case, the subsection in the middle unchanged. */
  readonly key: string;
  /** A key without `=` means true. */
  readonly value: string;
}

/** Lists the configuration; see `parseConfig`. */
export const LIST_CONFIG = ["config", "--list", "-z", "--show-scope", "--show-origin"];

/**
 * Parses the output of `LIST_CONFIG`: `scope NUL origin NUL key LF value NUL`, in the order that git
 * applies them. The server's own settings (scope `command`) are omitted. A subsection cannot contain
 * a line break (git refuses it), so the first one ends the key.
 */
export function parseConfig(output: Buffer): ConfigEntry[] {
  const fields = output.toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [scope = "", origin = "", text = ""] = fields.slice(index, index + 3);
    if (scope === "command") continue;
    const [key = "", ...value] = text.split("\n");
    entries.push({
      own: scope === "system" || scope === "global",
      origin: resolve(origin.replace(/^file:/, "")),
      key,
      value: value.length === 0 ? "true" : value.join("\n"),
    });
  }
  return entries;
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
  const [, section = "", middle = "", name = ""] = /^([^.]*)(?:\.(.*))?\.([^.]*)$/s.exec(key) ?? [];
  return [section, middle, name];
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

/** Patterns of keys that make git run programs, and the value that each gets if a file sets it. */
const EXECUTING: readonly (readonly [pattern: RegExp, becomes: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/, ""],
  [/^diff\.(external|.*\.(command|textconv))$/, ""],
  [/^(credential|credential\..*)\.helper$/, ""],
  [/^(core\.alternaterefscommand|interactive\.difffilter|branch\..*\.mergeoptions)$/, ""],
  [/^(trailer|difftool|mergetool|man|browser|guitool)\..*\.(cmd|command|path)$/, ""],
  // The repository must not control what the remote does with a push.
  [/^(uploadpack\.packobjectshook|gc\.recentobjectshook|push\.pushoption)$/, ""],
  [/^remote\..*\.(mirror|prunetags)$/, "false"],
  [/^(filter\..*\.required|pager\..*|transfer\.bundleuri)$/, "false"],
  [/^submodule\..*\.update$/, "none"],
  [/^submodule\..*\.ignore$/, "dirty"],
  // A merge driver cannot be empty (git aborts, or uses our side as the result): git's own text merge.
  [/^merge\..*\.driver$/, "git merge-file --marker-size=%L %A %O %B"],
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

/** With thousands of overrides, git reads its own configuration for minutes. */
const MAX_OVERRIDES = 2_000;

/** Which filters run: none, or those of the user's own configuration. */
export type FilterPolicy = "off" | "own";

/**
 * The settings that keep every key of this configuration from running a program, in any command and
 * from any file: even the user's, because the repository's attributes would trigger it.
 *
 * @param filters whether the user's own filters run (`--filters`), which may need credentials
 * @throws ToolError `unsafe_config` for a configuration with thousands of such keys
 */
export function overridesFor(
  entries: readonly ConfigEntry[],
  filters: FilterPolicy = "off",
): ConfigPair[] {
  const pairs = new Map<string, string>(STANDING);
  for (const { key } of entries) {
    const [section, subsection] = splitKey(key);
    const rule = EXECUTING.find(([pattern]) => pattern.test(key));
    if (rule !== undefined) pairs.set(key, rule[1]);
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
  if (pairs.size > MAX_OVERRIDES)
    throw failure("unsafe_config", `The configuration sets ${pairs.size} keys that run programs.`);
  return [...pairs, ...(filters === "own" ? ownCredentialHelpers(entries) : [])];
}

/** The configured filters that do not run, and whether they are the user's own. */
export function filtersNotRun(
  entries: readonly ConfigEntry[],
  filters: FilterPolicy,
): ReadonlyMap<string, boolean> {
  const notRun = new Map<string, boolean>();
  for (const { key, value } of entries) {
    const [section, name, variable] = splitKey(key);
    if (section !== "filter" || value === "" || !/^(clean|smudge|process)$/.test(variable))
      continue;
    const own = isOwnFilter(entries, name);
    if (filters === "off" || !own) notRun.set(name, own);
  }
  return notRun;
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
