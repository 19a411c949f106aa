import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Caller, Git } from "../open/git.ts";
import type { Repository, RunOptions } from "../open/repository.ts";
import { withoutPassword } from "../read/refs.ts";
import { type ConfigEntry, isOwn, isTrue, lastValue, splitKey } from "../run/config.ts";
import type { ConfigPair } from "../run/environment.ts";
import { failureOf } from "../run/failures.ts";
import type { GitResult } from "../run/run-git.ts";
import { ownCredentialHelpers } from "../run/safe-config.ts";
import { checkAddress, parseRemote } from "./remote-address.ts";

/** http settings that a repository may set; all others could send the user's data elsewhere. */
const HARMLESS_HTTP =
  /^http\.(.*\.)?(extraheader|postbuffer|lowspeedlimit|lowspeedtime|version|useragent|maxrequests|noepsv)$/;
const STAGES = ["Enumerating", "Counting", "Compressing", "Writing", "Receiving", "Resolving", "Updating"];

/** The URLs of a configured remote that git may contact, to fetch or to push. */
export function remoteUrls(config: readonly ConfigEntry[], remote: string, push: boolean): string[] {
  const names = new Set<string>();
  const urls: string[] = [];
  const pushUrls: string[] = [];
  for (const { key, value } of config) {
    const [section, name, variable] = splitKey(key);
    if (section !== "remote" || name === "") continue;
    names.add(name);
    if (name !== remote) continue;
    if (variable === "url") urls.push(value);
    if (variable === "pushurl") pushUrls.push(value);
  }
  // Since git 2.46 an empty URL clears those before it, so any of them may be in use.
  const all = [...urls, ...pushUrls];
  const used = push && pushUrls.length > 0 ? pushUrls : push ? urls : urls.slice(0, 1);
  const found = all.includes("") ? all.filter(Boolean) : used;
  if (remote.startsWith("-") || found.length === 0) {
    const near = nearest(remote, names);
    throw new ToolError(
      "not_found",
      `There is no remote "${oneLine(remote.slice(0, 100))}".${near.length > 0 ? ` Did you mean ${near.map(oneLine).join(" or ")}?` : ""}`,
      {
        code: "remote_not_found",
        hint: "git_list_refs with kind remotes lists them.",
      },
    );
  }
  return found;
}

/**
 * How a command connects to URLs: checked, pinned, with the user's credential helpers and ssh command, and ignoring the
 * repository's settings for them.
 *
 * @throws ToolError `protocol_not_allowed`, `host_not_allowed`, `unsafe_config`
 */
export async function remoteOptions(
  git: Git,
  config: readonly ConfigEntry[],
  urls: readonly string[],
  caller: Caller,
): Promise<RunOptions> {
  const reached = [...new Set([...urls, ...promisorUrls(config)])];
  refuseRedirection(config, reached);
  const pins: ConfigPair[] = [];
  for (const url of reached) pins.push(...(await checkAddress(parseRemote(url, git.options), git.options)));
  const ssh = lastValue(config, "core.sshcommand", isOwn);
  return {
    protocols: git.options.protocols,
    config: [...ownCredentialHelpers(config), ...pins],
    env: ssh === undefined ? {} : { GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: "auto" },
    onStderr: progressReader((...step) => caller.progress(...step)),
  };
}

/** The URLs of promisor remotes, which a partial clone asks for missing objects whichever remote it fetches from. */
function promisorUrls(config: readonly ConfigEntry[]): string[] {
  const isPromisor = (name: string) =>
    lastValue(config, "extensions.partialclone") === name ||
    isTrue(lastValue(config, `remote.${name}.promisor`));
  return config.flatMap(({ key, value }) => {
    const [section, name, variable] = splitKey(key);
    return section === "remote" && variable === "url" && value !== "" && isPromisor(name) ? [value] : [];
  });
}

/** Refuses settings of the repository that redirect its remotes: rewritten URLs, proxies, helpers. */
function refuseRedirection(config: readonly ConfigEntry[], urls: readonly string[]): void {
  const remotes = new Set(
    config.map(({ key }) => splitKey(key)).map(([section, name]) => section === "remote" && name),
  );
  const found = config.find((entry) => {
    if (entry.own) return false;
    const [section, , variable] = splitKey(entry.key);
    // A group, which git would use instead of the remote with that name.
    if (section === "remotes") return remotes.has(entry.key.slice("remotes.".length));
    if (section === "url") return urls.some((url) => url.startsWith(entry.value));
    if (section === "remote") return variable === "vcs" || (variable === "proxy" && entry.value !== "");
    if (section === "http") return !HARMLESS_HTTP.test(entry.key);
    return entry.key === "core.gitproxy" || entry.key === "fetch.bundleuri";
  });
  if (found === undefined) return;
  throw new ToolError(
    "denied",
    `The repository's own configuration redirects its remotes (${oneLine(found.key.slice(0, 100))}).`,
    {
      code: "unsafe_config",
      hint: "If this is intended, the user can move the setting to their own configuration: git config --global.",
    },
  );
}

/** Turns git's progress lines into steps that only increase. */
export function progressReader(progress: Caller["progress"]): (text: string) => void {
  let best = -1;
  return (text) => {
    for (const line of text.split(/[\r\n]/)) {
      const [, stage, percent] = /^(?:remote: )?([A-Z]\w+)[^:]*:\s+(\d+)%/.exec(line) ?? [];
      const index = STAGES.indexOf(stage ?? "");
      if (index === -1 || percent === undefined) continue;
      const done = index * 100 + Number(percent);
      if (done <= best) continue;
      best = done;
      progress(done, STAGES.length * 100, oneLine(line.replace(/^remote: /, "").slice(0, 100)));
    }
  };
}

const REMOTE_FAILURES: readonly (readonly [pattern: RegExp, code: string, message: string, hint: string])[] =
  [
    [
      /Authentication failed|could not read (Username|Password)|terminal prompts disabled|Permission denied \(|HTTP Basic: Access denied|returned error: 40[13]|Host key verification failed/i,
      "auth_required",
      "The remote requires credentials that git does not have, or its host key is unknown.",
      "The user can log in once in a terminal (git fetch), with a credential helper or an SSH agent.",
    ],
    [
      /returned error: 30[1-8]|redirect/i,
      "redirect_refused",
      "The remote redirects to another address, and redirects are not followed.",
      "The user can set the remote's final URL: git remote set-url.",
    ],
    [
      /not found|does not appear to be a git repository|returned error: 404|no such remote ref|couldn't find remote ref|Remote branch .* not found/i,
      "remote_not_found",
      "The repository or branch does not exist on the remote.",
      "Check the URL and the branch name; git_list_refs with kind remotes shows the URL.",
    ],
    [
      /Could not resolve|Failed to connect|Connection (refused|timed out|reset)|Couldn't connect|unable to access|early EOF|hung up/i,
      "remote_unreachable",
      "The remote is unreachable.",
      "Check the network and the URL, then try again.",
    ],
  ];

/** The error for a remote command that failed. */
export function remoteFailure(result: GitResult, doing: string): ToolError {
  const found = REMOTE_FAILURES.find(([pattern]) => pattern.test(result.stderr));
  if (found === undefined) return failureOf(result, doing);
  const [, code, message, hint] = found;
  return new ToolError(code === "remote_not_found" ? "not_found" : "unavailable", message, {
    code,
    hint,
    cause: result.stderr.trim(),
  });
}

/**
 * Adds a remote, or gives an existing one another URL. The URL must be allowed by `--protocols`; nothing is
 * contacted.
 */
export async function setRemote(
  git: Git,
  repository: Repository,
  query: { remote: string; url: string },
): Promise<{ remote: string; url: string; before: string | undefined }> {
  const { remote, url } = query;
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u.test(remote) || /\.\.|\/\/|\/$|\.lock$/.test(remote)) {
    throw new ToolError("invalid", `"${oneLine(remote.slice(0, 100))}" is not a valid remote name.`, {
      code: "bad_name",
      hint: "For example: origin or upstream.",
    });
  }
  parseRemote(url, git.options);
  const { config } = await repository.prepared();
  const before = lastValue(config, `remote.${remote}.url`);
  const command = before === undefined ? ["add"] : ["set-url"];
  await repository.output(["remote", ...command, "--", remote, url], "set the remote");
  return { remote, url: withoutPassword(url), before: before && withoutPassword(before) };
}
