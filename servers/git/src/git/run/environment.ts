import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { ConfigPair, FilterPolicy } from "./config.ts";
import { failure } from "./errors.ts";

/** Variables that git gets: to find its files and the user's identity, and none that control it. */
const LOCAL = `
  PATH HOME USERPROFILE HOMEDRIVE HOMEPATH XDG_CONFIG_HOME TMPDIR TEMP TMP SystemRoot ProgramData
  ProgramFiles APPDATA LOCALAPPDATA TZ GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME
  GIT_COMMITTER_EMAIL EMAIL
`;
/** Additional variables for remotes: the user's SSH agent and proxies. */
const REMOTE = `
  SSH_AUTH_SOCK USER LOGNAME http_proxy https_proxy HTTPS_PROXY ALL_PROXY all_proxy no_proxy
  NO_PROXY SSL_CERT_FILE SSL_CERT_DIR
`;

/**
 * The environment of a git process: an allow-list of the server's variables (so no GIT_DIR,
 * GIT_EXTERNAL_DIFF, GIT_SSH_COMMAND or LD_PRELOAD is passed on), and git's switches against prompts,
 * lazy fetches (which run promisor remotes), replaced objects and pathspec magic.
 *
 * @param protocols what a remote may be contacted with, for example `https`; omitted for local work,
 * which may use none, so that nothing in a repository can start a transport
 * @param filters the user's filters (git-lfs) get the variables for remotes too
 */
export function gitEnvironment(
  from: NodeJS.ProcessEnv,
  protocols?: readonly string[],
  filters: FilterPolicy = "off",
): Record<string, string> {
  return {
    ...variables(from, protocols !== undefined || filters === "own" ? LOCAL + REMOTE : LOCAL),
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

/** The variables of an environment with these names, separated by spaces. */
export function variables(from: NodeJS.ProcessEnv, names: string): Record<string, string> {
  const present = (names.match(/\S+/g) ?? []).filter((name) => from[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, from[name] ?? ""]));
}

/**
 * Adds configuration to an environment. `git -c` splits at the first `=`, so it could not override a
 * filter named `a=b`.
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

/**
 * The absolute path of `git` on the PATH. Relative entries are skipped: they, and on Windows the
 * working directory, could contain a program that came with a repository.
 *
 * @throws ToolError `unavailable`, code `git_missing`
 */
export async function findGit(
  env: NodeJS.ProcessEnv,
  platform: string = process.platform,
): Promise<string> {
  const program = platform === "win32" ? "git.exe" : "git";
  const directories = (env.PATH ?? env.Path ?? "").split(delimiter).filter(isAbsolute);
  for (const file of directories.map((directory) => join(directory, program))) {
    try {
      if (!(await stat(file)).isFile()) continue;
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here, or not executable.
    }
  }
  throw failure("git_missing", "git was not found on the PATH.", {
    hint: "Install git 2.37 or newer, or add its directory to the PATH of the server's entry in the host.",
  });
}
