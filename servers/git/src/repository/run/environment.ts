import type { FilterPolicy } from "./safe-config.ts";

/** Variables that are passed to git: those that it needs to find its files, and none that control it. */
const LOCAL = [
  "PATH",
  "HOME",
  "USERPROFILE",
  "HOMEDRIVE",
  "HOMEPATH",
  "XDG_CONFIG_HOME",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "ProgramData",
  "ProgramFiles",
  "APPDATA",
  "LOCALAPPDATA",
  "TZ",
  // The user's identity, which runs nothing.
  "GIT_AUTHOR_NAME",
  "GIT_AUTHOR_EMAIL",
  "GIT_COMMITTER_NAME",
  "GIT_COMMITTER_EMAIL",
  "EMAIL",
] as const;

/** Additional variables for remotes: the user's SSH agent and proxies. */
const REMOTE = [
  "SSH_AUTH_SOCK",
  "USER",
  "LOGNAME",
  "http_proxy",
  "https_proxy",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "all_proxy",
  "no_proxy",
  "NO_PROXY",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
] as const;

/**
 * The environment of a git process: an allow-list of the server's variables (so no GIT_DIR, GIT_EXTERNAL_DIFF, GIT_SSH_COMMAND
 * or LD_PRELOAD is passed on), and git's switches against prompts, lazy fetches (which run promisor remotes), replaced objects
 * and pathspec magic.
 *
 * @param protocols what a remote may be contacted with, for example `https`; omitted for local work, which may use none, so that
 * nothing in a repository can start a transport.
 * @param filters the user's filters (git-lfs) get the variables for remotes too
 */
export function gitEnvironment(
  from: NodeJS.ProcessEnv,
  protocols?: readonly string[],
  filters: FilterPolicy = "off",
): Record<string, string> {
  const names: readonly string[] =
    protocols !== undefined || filters === "own" ? [...LOCAL, ...REMOTE] : LOCAL;
  return {
    ...variables(from, names),
    LC_ALL: "C",
    GIT_ALLOW_PROTOCOL: protocols?.join(":") ?? "",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_TERMINAL_PROMPT: "0",
    GCM_INTERACTIVE: "never",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_PAGER: "cat",
    GIT_MERGE_AUTOEDIT: "no",
    GIT_ADVICE: "0",
    // Not the user's ssh command: BatchMode never asks and never accepts an unknown host's key.
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes",
    GIT_SSH_VARIANT: "ssh",
  };
}

/** The variables of an environment with these names. */
export function variables(from: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

/** A configuration value that overrides every file: `[key, value]`. */
export type ConfigPair = readonly [key: string, value: string];

/**
 * Adds configuration to an environment. `git -c` splits at the first `=`, so it could not override a filter named `a=b`.
 */
export function withConfig(
  env: Readonly<Record<string, string>>,
  pairs: readonly ConfigPair[],
): Record<string, string> {
  const result: Record<string, string> = { ...env, GIT_CONFIG_COUNT: String(pairs.length) };
  for (const [index, [key, value]] of pairs.entries()) {
    result[`GIT_CONFIG_KEY_${index}`] = key;
    result[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return result;
}
