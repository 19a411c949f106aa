import { ToolError } from "@refmcp/core/answer";
import { type ConfigEntry, isOwn, lastValue, splitKey } from "./config.ts";
import type { ConfigPair } from "./environment.ts";

/** Values that hold for every command, whether or not a file sets the key. */
const ALWAYS: readonly ConfigPair[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", ":"],
  ["sequence.editor", ":"],
  ["core.askPass", ""],
  ["core.quotePath", "false"],
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
  // Housekeeping starts its own processes, at unpredictable times.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["rebase.autoStash", "false"],
  ["merge.autoStash", "false"],
  ["http.followRedirects", "false"],
  // These would move or delete more refs than the call says.
  ["rebase.updateRefs", "false"],
  ["rebase.autoSquash", "false"],
  // A line break in it makes lines of the list of what to do, such as exec.
  ["rebase.instructionFormat", "%s"],
  // Recorded resolutions: MERGE_RR names the files that git copies into the repository.
  ["rerere.enabled", "false"],
  ["fetch.pruneTags", "false"],
  // Packs from addresses that the remote names.
  ["fetch.uriProtocols", ""],
];

/**
 * A merge driver cannot be set to nothing (git dies, or takes ours as the merge), so each becomes git's own text merge.
 */
const TEXT_MERGE = "git merge-file --marker-size=%L %A %O %B";

/** Keys that make git run something, by the shape of the key, and what each becomes where a file sets it. */
const EXECUTING: readonly (readonly [shape: RegExp, becomes: string])[] = [
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
  // What the remote does with a push is not the repository's to say.
  [/^push\.pushoption$/, ""],
  // Windows: variables that git withholds from what it starts, which could be these overrides.
  [/^core\.unsetenvvars$/, "PERL5LIB"],
  // Other names would be programs called git-merge-<name>.
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

/** Files whose lines show in answers or decide them: the user's own choice, never the repository's. */
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

/** Keys that say how a filter works; those of git-lfs name programs that it runs in its turn. */
const FILTERING = /^(filter\..*|lfs\.(customtransfer|extension)\..*|lfs\.standalonetransferagent)$/s;

/** Which filters run: none, or those of the user's own configuration. */
export type FilterPolicy = "off" | "own";

const MAX_OVERRIDES = 2_000;

/** The overrides that need no look at the configuration. */
export function standingOverrides(): readonly ConfigPair[] {
  return ALWAYS;
}

/**
 * What to set so that no key of this configuration makes git run anything, on any command, from any file: the
 * user's own too, because it is the repository's attributes that would call it.
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
  const pairs = new Map<string, string>(ALWAYS);
  for (const { key } of [...entries, ...dormant]) {
    const [section, subsection] = splitKey(key);
    const known = EXECUTING.find(([shape]) => shape.test(key));
    if (known !== undefined) pairs.set(key, known[1]);
    if (filters === "own" && FILTERING.test(key)) {
      const may = section === "lfs" || isOwnFilter(entries, subsection);
      const own = may ? lastValue(entries, key, isOwn) : undefined;
      if (own !== undefined || section === "lfs") pairs.set(key, own ?? "");
    }
    // Hooks of the configuration, in git versions to come.
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

/** The filters of a configuration that are not run, and whether they are the user's own. */
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

/** Whether a filter is the user's own; not one that a repository adds a process to, which git would prefer to all else. */
function isOwnFilter(entries: readonly ConfigEntry[], name: string): boolean {
  const sets = (variable: string, own: boolean) =>
    entries.some((entry) => entry.key === `filter.${name}.${variable}` && isOwn(entry) === own);
  if (sets("process", false) && !sets("process", true)) return false;
  return sets("process", true) || sets("clean", true) || sets("smudge", true);
}

/** The user's own credential helpers, in their order, for remotes. The repository's are not among them. */
export function ownCredentialHelpers(entries: readonly ConfigEntry[]): ConfigPair[] {
  return entries
    .filter((entry) => isOwn(entry) && /^(credential|credential\..*)\.helper$/.test(entry.key))
    .map(({ key, value }): ConfigPair => [key, value]);
}
