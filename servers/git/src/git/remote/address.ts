import { isIP } from "node:net";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { createUrlGuard } from "@refmcp/boundary/url-guard";
import type { GitOptions, RunOptions } from "../open/machine.ts";
import type { Caller, Repository } from "../open/repository.ts";
import {
  type ConfigEntry,
  type ConfigPair,
  isOwn,
  isTrue,
  lastValue,
  ownCredentialHelpers,
  splitKey,
} from "../run/config.ts";
import { failure } from "../run/errors.ts";
import { withoutPassword } from "../run/text.ts";

/** http settings that a repository may set; all others could send the user's data elsewhere. */
const HARMLESS_HTTP =
  /^http\.(.*\.)?(extraheader|postbuffer|lowspeedlimit|lowspeedtime|version|useragent|maxrequests|noepsv)$/;
const STAGES = "Enumerating Counting Compressing Writing Receiving Resolving Updating".split(" ");

/** The URLs of a configured remote that git may contact, to fetch or to push. */
export function remoteUrls(
  config: readonly ConfigEntry[],
  remote: string,
  push: boolean,
): string[] {
  const valuesOf = (variable: string) =>
    config.filter(({ key }) => key === `remote.${remote}.${variable}`).map(({ value }) => value);
  const [urls, pushUrls] = [valuesOf("url"), valuesOf("pushurl")];
  // Since git 2.46 an empty URL clears those before it, so any of them may be in use.
  const all = [...urls, ...pushUrls];
  const used = push && pushUrls.length > 0 ? pushUrls : push ? urls : urls.slice(0, 1);
  const usedUrls = all.includes("") ? all.filter(Boolean) : used;
  if (!remote.startsWith("-") && usedUrls.length > 0) return usedUrls;
  throw failure("remote_not_found", `There is no remote "${oneLine(clip(remote, 100))}".`);
}

/**
 * How a command connects to URLs: checked, pinned, with the user's credential helpers and ssh command,
 * and ignoring the repository's settings for them.
 *
 * @throws ToolError `protocol_not_allowed`, `host_not_allowed`, `unsafe_config`
 */
export async function remoteOptions(
  options: GitOptions,
  config: readonly ConfigEntry[],
  urls: readonly string[],
  caller: Caller,
): Promise<RunOptions> {
  const reached = [...new Set([...urls, ...promisorUrls(config)])];
  refuseRedirection(config, reached);
  const pins: ConfigPair[] = [];
  for (const url of reached) pins.push(...(await checkAddress(parseRemote(url, options), options)));
  const ssh = lastValue(config, "core.sshcommand", isOwn);
  return {
    protocols: options.protocols,
    config: [...ownCredentialHelpers(config), ...pins],
    env: ssh === undefined ? {} : { GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: "auto" },
    onStderr: progressReader((...step) => caller.progress(...step)),
  };
}

/**
 * The URLs of promisor remotes, which a partial clone asks for missing objects whichever remote it
 * fetches from.
 */
function promisorUrls(config: readonly ConfigEntry[]): string[] {
  const isPromisor = (name: string) =>
    lastValue(config, "extensions.partialclone") === name ||
    isTrue(lastValue(config, `remote.${name}.promisor`));
  return config.flatMap(({ key, value }) => {
    const [section, name, variable] = splitKey(key);
    return section === "remote" && variable === "url" && value !== "" && isPromisor(name)
      ? [value]
      : [];
  });
}

/** Refuses settings of the repository that redirect its remotes: rewritten URLs, proxies, helpers. */
function refuseRedirection(config: readonly ConfigEntry[], urls: readonly string[]): void {
  const keys = config.map(({ key }) => splitKey(key));
  const remotes = keys.flatMap(([section, name]) => (section === "remote" ? [name] : []));
  const redirection = config.find((entry) => {
    if (entry.own) return false;
    const [section, , variable] = splitKey(entry.key);
    // A group, which git would use instead of the remote with that name.
    if (section === "remotes") return remotes.includes(entry.key.slice("remotes.".length));
    if (section === "url") return urls.some((url) => url.startsWith(entry.value));
    if (section === "remote")
      return variable === "vcs" || (variable === "proxy" && entry.value !== "");
    if (section === "http") return !HARMLESS_HTTP.test(entry.key);
    return entry.key === "core.gitproxy" || entry.key === "fetch.bundleuri";
  });
  if (redirection === undefined) return;
  const key = oneLine(redirection.key.slice(0, 100));
  const message = `The repository's own configuration redirects its remotes (${key}).`;
  const hint = "If this is intended, the user can move the setting to git config --global.";
  throw failure("unsafe_config", message, { hint });
}

/** Turns git's progress lines into steps that only increase. */
function progressReader(progress: Caller["progress"]): (text: string) => void {
  let best = 0;
  return (text) => {
    for (const [, stage = "", percent] of text.matchAll(/([A-Z]\w+)[^:\r\n]*:\s+(\d+)%/g)) {
      const done = STAGES.indexOf(stage) * 100 + Number(percent);
      if (done <= best) continue;
      best = done;
      progress(done, STAGES.length * 100, `${stage}: ${percent}%`);
    }
  };
}

/**
 * Adds a remote, or gives an existing one another URL (which must be allowed by `--protocols`). Nothing is contacted.
 *
 * @throws ToolError `bad_name`, `bad_url`, `protocol_not_allowed`
 */
export async function setRemote(
  repository: Repository,
  { remote, url }: { remote: string; url: string },
) {
  // What git or a file system could read as something else.
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u.test(remote) || /\.\.|\/\/|\/$|\.lock$/.test(remote)) {
    const message = `"${oneLine(remote.slice(0, 100))}" is not a valid remote name.`;
    throw failure("bad_name", message, { hint: "For example: origin or upstream." });
  }
  const { config } = await repository.prepared();
  const previous = lastValue(config, `remote.${remote}.url`);
  const before = previous && withoutPassword(previous);
  parseRemote(url, repository.options);
  const command = previous === undefined ? "add" : "set-url";
  await repository.output(["remote", command, "--", remote, url], "set the remote");
  return { remote, url: withoutPassword(url), before };
}

type RemoteAddress = ReturnType<typeof parseRemote>;
type RemoteRules = Pick<GitOptions, "protocols" | "allowedHosts">;

/**
 * Parses a remote's URL and checks that it is allowed: a scheme in `--protocols`, and a host and user
 * that ssh cannot mistake for an option (`ssh://-oProxyCommand=…`, CVE-2017-1000117).
 *
 * @throws ToolError `protocol_not_allowed`, `bad_url`
 */
export function parseRemote(text: string, rules: RemoteRules) {
  if (/[\0-\x20\x7f]/.test(text) || text.startsWith("-"))
    throw badUrl(text, "contains blanks or control characters, or starts with -");
  // "host:path", but not "c:\path" and not "helper::address".
  const scp = /^(?:([^@/:\s]+)@)?([^/:@\s]{2,}):(?![:/])(.+)$/.exec(text);
  if (/^[a-z0-9+.-]+::/i.test(text)) throw notAllowed(text.split("::", 1)[0] ?? "", rules);
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!isUrl && scp === null) throw notAllowed("file", rules);
  const url = isUrl
    ? text
    : `ssh://${scp?.[1] === undefined ? "" : `${scp[1]}@`}${scp?.[2] ?? ""}/`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw badUrl(text, "is not a URL");
  const scheme = parsed.protocol.slice(0, -1).toLowerCase();
  if (!rules.protocols.includes(scheme)) throw notAllowed(scheme, rules);
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  const user = decodeURIComponent(parsed.username);
  if (host === "" || host.startsWith("-") || user.startsWith("-"))
    throw badUrl(text, "has a host or user that looks like an option");
  const port = parsed.port === "" ? undefined : Number(parsed.port);
  return { url: text, scheme, host, port };
}

/**
 * Resolves the host once, refuses private and special addresses, and pins the connection to the
 * checked ones (against DNS rebinding). ssh cannot be pinned; it connects only if the host's key is
 * already known.
 *
 * @returns configuration for the git command
 * @throws ToolError `host_not_allowed`, `remote_unreachable`
 */
export async function checkAddress(
  remote: RemoteAddress,
  rules: RemoteRules,
): Promise<ConfigPair[]> {
  const { host, scheme } = remote;
  const port = remote.port ?? PORTS[scheme] ?? 443;
  const addresses = await addressesOf(host, port, rules).catch((error: unknown) => {
    // The name may be defined only in the user's ssh configuration.
    if (scheme === "ssh" && error instanceof ToolError && error.kind === "unavailable") return [];
    throw error;
  });
  if (scheme === "ssh" || isIP(host) !== 0) return [];
  const pinned = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return [["http.curloptResolve", `${host}:${port}:${pinned.join(",")}`]];
}

const PORTS: Readonly<Record<string, number>> = { https: 443, http: 80, ssh: 22, git: 9418 };

async function addressesOf(
  host: string,
  port: number,
  { allowedHosts }: RemoteRules,
): Promise<string[]> {
  try {
    const { addresses } = await createUrlGuard({ allowHosts: allowedHosts }).place(host, port);
    return addresses.map(({ address }) => address);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { kind, message, hint, cause } = error;
    const code = kind === "denied" ? "host_not_allowed" : "remote_unreachable";
    throw new ToolError(kind, message, { code, cause, hint });
  }
}

function notAllowed(scheme: string, rules: RemoteRules): ToolError {
  const allowed = rules.protocols.join(", ");
  const message = `Remotes over "${oneLine(clip(scheme, 40))}" are not allowed; allowed are ${allowed}.`;
  return failure("protocol_not_allowed", message);
}

function badUrl(text: string, what: string): ToolError {
  return failure("bad_url", `The URL "${oneLine(withoutPassword(text.slice(0, 200)))}" ${what}.`);
}
