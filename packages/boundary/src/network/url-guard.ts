import { promises as dns, type LookupAddress } from "node:dns";
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { domainToASCII } from "node:url";
import { errorCode, suggestion, ToolError } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";
import { startDeadline } from "../deadline.ts";
import { isInNetwork, isNetwork, type Reserve, reserveOf } from "./addresses.ts";

/** Which network addresses may be reached. Hosts are written as in `parseHostRule`. */
export interface UrlRules {
  /** Allowed although their address is not public (`--allow-host`). */
  readonly allowHosts?: readonly string[];
  /** Never allowed, even if another rule allows them (`--deny-host`). */
  readonly denyHosts?: readonly string[];
  /** Allows every address, including private ones (`--allow-private`). */
  readonly allowPrivate?: boolean;
  /** Allows loopback, for a server that tests pages on this machine. */
  readonly allowLoopback?: boolean;
}

/** A checked destination: connections go only to one of `addresses`. */
export interface CheckedPlace {
  /** In lower case, ASCII (punycode), without brackets and without a trailing dot. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly LookupAddress[];
}

/** Resolves a name: `dns.lookup`, or a test double. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface UrlGuard {
  /**
   * Checks what needs no network access: scheme, credentials, host rules, a literal address.
   *
   * @throws ToolError `invalid` if it is not a web URL; `denied` if the rules refuse it.
   */
  check(url: string | URL): URL;
  /**
   * Resolves a host once and checks all its addresses. If one is refused, the host is refused: an attacker's name can
   * have a public and a private address and return either (DNS rebinding).
   *
   * @throws ToolError `denied`; `unavailable` if the host has no address.
   */
  place(host: string, port: number, signal?: AbortSignal): Promise<CheckedPlace>;
  /**
   * Opens a TCP connection to a checked address of a host.
   *
   * @throws ToolError as `place`; the system's error if none of the addresses responds.
   */
  connect(host: string, port: number): Promise<Socket>;
}

const SCHEMES = ["http:", "https:"];
const MAX_URL_CHARS = 8_192;
/** How long to wait for one address before trying the next, in milliseconds. */
const CONNECT_MS = 10_000;
/**
 * Names that by definition mean this machine or this network, wherever they resolve (RFC 6761, RFC 6762, RFC 8375).
 */
const LOCAL_NAMES: readonly { readonly name: RegExp; readonly reserve: Reserve }[] = [
  { name: /(?:^|\.)localhost$/, reserve: "a loopback address" },
  { name: /\.(?:local|internal|home\.arpa|localdomain|lan)$/, reserve: "a private address" },
];

/**
 * Guards a server's network access: only http and https, no credentials in URLs, only public addresses unless the rules
 * allow others, and connections only to addresses that were checked. Whoever follows a redirect has to check it again.
 *
 * @throws ToolError `invalid` if a rule is invalid.
 */
export function createUrlGuard(rules: UrlRules = {}, resolve: Resolve = systemResolve): UrlGuard {
  const allowRules = (rules.allowHosts ?? []).map(parseHostRule);
  const denyRules = (rules.denyHosts ?? []).map(parseHostRule);

  /** The host in canonical form. @throws ToolError if a name rule refuses it. */
  function checkName(host: string, port: number): string {
    const name = plainHost(host);
    if (denyRules.some((rule) => rule.names(name, port)))
      throw blocked(name, "is denied by --deny-host", "Ask the user whether it should be allowed.");
    if (allowRules.some((rule) => rule.names(name, port))) return name;
    if (isIP(name) !== 0) checkAddress(name, name, port);
    else {
      const local = LOCAL_NAMES.find((entry) => entry.name.test(name));
      if (local !== undefined && !permits(local.reserve)) throw reservedError(name, local.reserve);
    }
    return name;
  }

  function checkAddress(address: string, name: string, port: number): void {
    const why = `has the address ${address}, which is denied by --deny-host`;
    if (denyRules.some((rule) => rule.covers(address, port)))
      throw blocked(name, why, "Ask the user about it.");
    if (allowRules.some((rule) => rule.names(name, port) || rule.covers(address, port))) return;
    const reserve = reserveOf(address);
    if (reserve !== undefined && !permits(reserve)) throw reservedError(name, reserve, address);
  }

  const permits = (reserve: Reserve): boolean =>
    reserve !== "not an IP address" &&
    (rules.allowPrivate === true ||
      (rules.allowLoopback === true && reserve === "a loopback address"));

  async function place(host: string, port: number, signal?: AbortSignal): Promise<CheckedPlace> {
    const name = checkName(host, port);
    const family = isIP(name);
    const addresses =
      family === 0 ? await unlessAborted(resolve(name), signal) : [{ address: name, family }];
    const hint = "Check the URL for typos, and check the network.";
    if (addresses.length === 0)
      throw new ToolError("unavailable", `The host ${quoteHost(name)} has no address.`, { hint });
    for (const { address } of addresses) checkAddress(address, name, port);
    return { host: name, port, addresses };
  }

  return {
    check(input) {
      const url = parseWebUrl(input);
      checkName(url.hostname, portOf(url));
      return url;
    },
    place,
    connect: async (host, port) => await open(await place(host, port)),
  };
}

export function portOf(url: Pick<URL, "port" | "protocol">): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/**
 * Parses a web URL. The WHATWG parser normalizes every notation of an IPv4 address (decimal, octal, hexadecimal, short,
 * full-width digits), so our checks don't have to handle them.
 *
 * @throws ToolError `invalid`; `denied` for another scheme or credentials.
 */
export function parseWebUrl(input: string | URL): URL {
  const text = String(input);
  const hint = "Use an absolute URL such as https://example.org/page.";
  const refusal = (kind: "invalid" | "denied", why: string) => new ToolError(kind, why, { hint });
  if (text.length > MAX_URL_CHARS)
    throw refusal(
      "invalid",
      `The URL has ${text.length} characters; the limit is ${MAX_URL_CHARS}.`,
    );
  if (!URL.canParse(text))
    throw refusal("invalid", `"${oneLine(text.slice(0, 200))}" is not a URL.`);
  const url = new URL(text);
  const { protocol, username, password, host } = url;
  if (!SCHEMES.includes(protocol)) {
    const message = `${oneLine(protocol.slice(0, 40))} URLs are not allowed`;
    const meant = suggestion(protocol.slice(0, -1), ["http", "https"]);
    throw refusal("denied", `${message}; use http: or https:.${meant}`);
  }
  if (username === "" && password === "") return url;
  const message = "URLs that contain a user name or password are not allowed";
  throw new ToolError("denied", `${message} (host ${oneLine(host)}).`, {
    hint: "Remove user@ from the URL; the user can configure credentials for a host.",
  });
}

/** One entry of `--allow-host` or `--deny-host`. */
interface HostRule {
  names(host: string, port: number): boolean;
  covers(address: string, port: number): boolean;
}

/**
 * Parses a rule: a name (`example.org`), its subdomains (`*.example.org`), an address (`192.0.2.7`, `[::1]`) or a
 * network (`10.0.0.0/8`); the first three optionally with a port (`localhost:3000`).
 *
 * @throws ToolError `invalid`
 */
export function parseHostRule(text: string): HostRule {
  const rule = text.trim().toLowerCase();
  const message = `"${oneLine(text.slice(0, 200))}" is not a valid host.`;
  const unreadable = new ToolError("invalid", message, {
    hint: "Use a name (example.org), its subdomains (*.example.org), an address, host:port, or a network (10.0.0.0/8).",
  });
  if (isNetwork(rule)) {
    const includes = (address: string) => isInNetwork(address, rule);
    return { names: includes, covers: includes };
  }
  const [, bracketed, plain, portText] =
    /^(?:\[([0-9a-f:.]+)\]|([^\s/@[\]]+?))(?::(\d{1,5}))?$/.exec(rule) ?? [];
  const wholeIsIp6 = isIP(rule) === 6;
  const host = wholeIsIp6 ? rule : (bracketed ?? plain);
  // A rule that no host can match would protect nobody.
  const isNever = /^$|\*/.test(host?.replace(/^\*\./, "") ?? "") || Number(portText) > 65_535;
  if (host === undefined || isNever) throw unreadable;
  const port = wholeIsIp6 || portText === undefined ? undefined : Number(portText);
  const fits = (at: number): boolean => port === undefined || port === at;
  if (host.startsWith("*.")) {
    const suffix = plainHost(host.slice(1));
    return { names: (name, at) => fits(at) && name.endsWith(suffix), covers: () => false };
  }
  const name = plainHost(host);
  if (name === "") throw unreadable;
  if (isIP(name) === 0)
    return { names: (target, at) => fits(at) && target === name, covers: () => false };
  const network = `${name}/${isIP(name) === 4 ? 32 : 128}`;
  const includes = (address: string, at: number) => fits(at) && isInNetwork(address, network);
  return { names: includes, covers: includes };
}

/**
 * A host in the form that rules and checks compare: lower case, ASCII, without brackets, zone or trailing dot.
 */
function plainHost(host: string): string {
  const bare = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (isIP(bare) !== 0) return bare;
  // A host that does not come from a parsed URL may contain an IPv4 address in one of the old notations.
  const hostname = URL.canParse(`http://${bare}/`)
    ? new URL(`http://${bare}/`).hostname
    : domainToASCII(bare);
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

async function systemResolve(host: string): Promise<readonly LookupAddress[]> {
  try {
    return await dns.lookup(host, { all: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    const hint = "The network or its DNS server is not responding; try again later.";
    const message = `The name ${quoteHost(host)} could not be resolved (${code}).`;
    throw new ToolError("unavailable", message, { hint, cause: error });
  }
}

/** Connects to the first checked address that responds. */
async function open({ addresses, port }: CheckedPlace): Promise<Socket> {
  for (const [index, { address }] of addresses.entries()) {
    const createError = () =>
      Object.assign(new Error(`${address}:${port} did not respond`), { code: "ETIMEDOUT" });
    const deadline = startDeadline(CONNECT_MS, undefined, createError);
    const socket = connect({ host: address, port });
    try {
      await once(socket, "connect", { signal: deadline.signal });
      return socket;
    } catch (error) {
      socket.destroy();
      if (index === addresses.length - 1) throw deadline.signal.reason ?? error;
    } finally {
      deadline.end();
    }
  }
  throw new TypeError("no address");
}

/** A lookup cannot be cancelled, but the caller doesn't have to wait for it. */
function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function reservedError(name: string, reserve: Reserve, address = name): ToolError {
  const reason = address === name ? `is ${reserve}` : `resolves to ${address}, ${reserve}`;
  const hint = `To allow it, the user can start the server with --allow-host ${oneLine(name)}.`;
  return blocked(name, reason, hint);
}

function blocked(name: string, why: string, hint: string): ToolError {
  return new ToolError("denied", `The host ${quoteHost(name)} ${why}, and is blocked.`, { hint });
}

/** A host in a message; names have at most 253 characters (RFC 1035). */
const quoteHost = (host: string): string => `"${oneLine(host.slice(0, 253))}"`;
