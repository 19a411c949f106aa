import { isIP } from "node:net";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { createUrlGuard } from "@refmcp/boundary/url-guard";
import { withoutPassword } from "../read/refs.ts";
import type { ConfigPair } from "../run/environment.ts";

/** The parts of a remote's URL. */
interface RemoteAddress {
  readonly url: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number | undefined;
}

interface RemoteRules {
  readonly protocols: readonly string[];
  readonly allowedHosts: readonly string[];
}

/**
 * Parses a remote's URL and checks that it is allowed: a scheme in `--protocols`, and a host and user that ssh cannot mistake
 * for an option (`ssh://-oProxyCommand=…`, CVE-2017-1000117).
 *
 * @throws ToolError `protocol_not_allowed`, `bad_url`
 */
export function parseRemote(text: string, rules: RemoteRules): RemoteAddress {
  if (/[\0-\x20\x7f]/.test(text) || text.startsWith("-"))
    throw badUrl(text, "contains blanks or control characters, or starts with -");
  // "host:path", but not "c:\path" and not "helper::address".
  const scp = /^(?:([^@/:\s]+)@)?([^/:@\s]{2,}):(?![:/])(.+)$/.exec(text);
  if (/^[a-z0-9+.-]+::/i.test(text)) throw notAllowed(text.split("::", 1)[0] ?? "", rules);
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!isUrl && scp === null) throw notAllowed("file", rules);
  const url = isUrl ? text : `ssh://${scp?.[1] === undefined ? "" : `${scp[1]}@`}${scp?.[2] ?? ""}/`;
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
 * Resolves the host once, refuses private and special addresses, and pins the connection to the checked ones (against DNS
 * rebinding). ssh cannot be pinned; it connects only if the host's key is already known.
 *
 * @returns configuration for the git command
 * @throws ToolError `host_not_allowed`, `remote_unreachable`
 */
export async function checkAddress(remote: RemoteAddress, rules: RemoteRules): Promise<ConfigPair[]> {
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

async function addressesOf(host: string, port: number, { allowedHosts }: RemoteRules): Promise<string[]> {
  try {
    const { addresses } = await createUrlGuard({ allowHosts: allowedHosts }).place(host, port);
    return addresses.map(({ address }) => address);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { kind, message, hint, cause } = error;
    const code = kind === "denied" ? "host_not_allowed" : "remote_unreachable";
    throw new ToolError(kind, message, { code, cause, ...(hint === undefined ? {} : { hint }) });
  }
}

function notAllowed(scheme: string, rules: RemoteRules): ToolError {
  return new ToolError(
    "denied",
    `Remotes over "${oneLine(scheme.slice(0, 40))}" are not allowed; allowed are ${rules.protocols.join(", ")}.`,
    {
      code: "protocol_not_allowed",
      hint: "Use an https:// or ssh:// URL. The user can allow http and git with --protocols; local paths and remote helpers are never allowed.",
    },
  );
}

function badUrl(text: string, what: string): ToolError {
  return new ToolError("invalid", `The URL "${oneLine(withoutPassword(text.slice(0, 200)))}" ${what}.`, {
    code: "bad_url",
    hint: "Use a form such as https://example.org/team/project.git or git@example.org:team/project.git.",
  });
}
