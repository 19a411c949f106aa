import { ToolError } from "@refmcp/boundary/answer";
import { type ConfigEntry, isOwn, lastValue, splitKey } from "./config.ts";
import type { ConfigPair } from "./environment.ts";

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

/**
 * A merge driver cannot be empty (git aborts, or uses our side as the result), so each becomes git's own text merge.
 */
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

/** git's own programs for signatures; a repository may not choose others. */
const SIGNERS: Readonly<Record<string, string>> = {
  "gpg.program": "gpg",
  "gpg.openpgp.program": "gpg",
  "gpg.x509.program": "gpgsm",
  "gpg.ssh.program": "ssh-keygen",
  "gpg.ssh.defaultkeycommand": "",
};

/** Files that affect answers: only the user may choose them, never the repository. */
const OWN_FILES: ReadonlySet<string> = new Set([
  "mailmap.file",
  "core.attributesfile",
  "core.excludesfile",
  "gpg.ssh.allowedsignersfile",
  "gpg.ssh.revocationfile",
  "commit.template",
  "diff.orderfile",
  "fetch.fsck.skiplist",
]);

/** Keys that configure a filter; those of git-lfs name programs that it runs. */
const FILTERING = /^(filter\..*|lfs\.(customtransfer|extension)\..*|lfs\.standalonetransferagent)$/s;

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
    if (OWN_FILES.has(key)) pairs.set(key, lastValue(entries, key, isOwn) ?? "/dev/null");
    if (Object.hasOwn(SIGNERS, key)) pairs.set(key, lastValue(entries, key, isOwn) ?? SIGNERS[key] ?? "");
  }
  if (pairs.size > MAX_OVERRIDES) {
    throw new ToolError(
      "denied",
      `The repository's configuration sets ${pairs.size} keys that run programs.`,
      {
        code: "unsafe_config",
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
    if (section !== "filter" || value === "" || !/^(clean|smudge|process)$/.test(variable)) continue;
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
