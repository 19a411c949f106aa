import { isIP } from "node:net";
import type { CommonOptionValues } from "../../define/common-options.ts";

export type AuthSettings =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | {
      readonly kind: "oauth";
      readonly issuer: URL;
      /** The resource that tokens must be issued for (RFC 8707), which identifies this server to clients (RFC 9728). */
      readonly audience: URL;
      readonly scopes: readonly string[];
      /** Whether a call also needs the scope of its tool's effect. */
      readonly toolScopes: boolean;
    };

/**
 * Where a server listens: a name or an address (IPv6 without brackets) and a port, 0 for any free one; or a Unix
 * socket, on Windows a named pipe.
 */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

export interface HttpSettings {
  readonly address: ListenAddress;
  /** Paths of PEM files; undefined for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Whether clients of 2025 get no session, so that each of their requests may go to another process. */
  readonly isStateless: boolean;
  readonly sse: boolean;
  readonly websocket: boolean;
  readonly auth: AuthSettings;
  /** Additional host names allowed in requests, in the form that `URL` uses. */
  readonly allowedHosts: readonly string[];
  /** Host names of further web pages that may call this server. */
  readonly allowedOrigins: readonly string[];
  /** How long calls are accepted after the shutdown has begun, in milliseconds. */
  readonly drainMs: number;
  /** How long a running call may continue after that, in milliseconds. */
  readonly callMs: number;
  /** Signs the state of questions; shared by processes behind one load balancer. Default: a key of this process. */
  readonly stateKey: Uint8Array | undefined;
}

const MIB = 1_048_576;

/** The limits of one process. Times are in milliseconds. */
export const HTTP_LIMITS = {
  /** Bytes of a message. */
  messageBytes: 16 * MIB,
  /** Requests per minute of an authenticated caller, a tenth of them in one burst. */
  perMinute: 6_000,
  /** Requests that run at once, even if their clients no longer wait; subscriptions do not count. */
  inFlight: 2_048,
  connections: 8_192,
  sessions: 1_000,
  /** How long a session is kept without a request from its client. */
  idleMs: 30 * 60_000,
  /** Characters of the messages kept for clients that lost a stream, in all sessions together. */
  total: 64 * MIB,
  /** Unsent bytes for one client that does not read; a further event ends its stream. */
  queued: 8 * MIB,
  /** Unsent bytes for all clients together; beyond it, the client furthest behind is disconnected. */
  queuedTotal: 256 * MIB,
  /** How long unsent data may make no progress. */
  stalledMs: 30_000,
  /** How long a client may take to send a request or a message. */
  requestMs: 60_000,
};
export type HttpLimits = Readonly<typeof HTTP_LIMITS>;

type Environment = Readonly<Record<string, string | undefined>>;

const MIN_SECRET_CHARS = 32;

/** Invalid options; the message is one sentence, for exit code 2. */
export class HttpOptionError extends Error {}

/** Why a token is refused (RFC 6750, section 3.1). */
export class TokenError extends Error {
  readonly code: "invalid_token" | "insufficient_scope";

  constructor(code: TokenError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Parses the options for HTTP.
 *
 * @throws {HttpOptionError} for an invalid address, incomplete options, or an address that others can reach without
 *   authentication.
 */
export function readHttpSettings(
  options: CommonOptionValues & { readonly http: string },
  env: Environment,
): HttpSettings {
  const address = readAddress(options.http);
  const auth = readAuth(options, env);
  const tls = readTls(options);
  if ("host" in address && !isLoopback(address.host)) {
    if (auth.kind === "none")
      throw new HttpOptionError(
        `--http ${options.http} would let anyone who can reach this machine call the server. Add --auth-token-env NAME, or --oauth-issuer URL with --oauth-audience URI, or listen on 127.0.0.1.`,
      );
    if (tls === undefined && !options.allowPlainHttp)
      throw new HttpOptionError(
        `--http ${options.http} would send tokens and responses unencrypted over the network. Add --tls-cert FILE and --tls-key FILE, or --allow-plain-http if a proxy adds TLS, or listen on 127.0.0.1.`,
      );
  }
  const key = secretFrom("--http-state-key-env", options.httpStateKeyEnv, env);
  return {
    address,
    tls,
    isStateless: options.httpStateless,
    sse: options.sse,
    websocket: options.websocket,
    auth,
    allowedHosts: options.httpAllowHost.map((name) => hostName("--http-allow-host", name)),
    allowedOrigins: options.httpAllowOrigin.map((name) => hostName("--http-allow-origin", name)),
    drainMs: options.drainMs,
    callMs: options.timeoutMs,
    stateKey: key === undefined ? undefined : new TextEncoder().encode(key),
  };
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** A URL as the user most likely wrote it: without the slash that `URL` adds to a bare origin. */
export function urlText(url: URL): string {
  return url.pathname === "/" && url.search === "" ? url.origin : url.href;
}

function readTls({ tlsCert: cert, tlsKey: key }: CommonOptionValues): HttpSettings["tls"] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  throw new HttpOptionError(
    `HTTPS needs both --tls-cert FILE and --tls-key FILE; ${cert === undefined ? "--tls-cert" : "--tls-key"} is missing.`,
  );
}

/** Windows has named pipes where other systems have Unix sockets; a path of a file would fail there with EACCES. */
function socketPath(path: string, platform: NodeJS.Platform): string {
  if (platform !== "win32" || /^\\\\[.?]\\pipe\\[^\\]/i.test(path)) return path;
  if (/^[\w.-]+$/.test(path)) return `\\\\.\\pipe\\${path}`;
  throw new HttpOptionError(
    `On Windows, --http unix: takes the name of a pipe, for example unix:\\\\.\\pipe\\refmcp or unix:refmcp, not ${JSON.stringify(path)}.`,
  );
}

/** @throws HttpOptionError if the text is not an address */
export function readAddress(
  text: string,
  platform: NodeJS.Platform = process.platform,
): ListenAddress {
  const path = /^unix:(.+)$/s.exec(text.trim())?.[1];
  if (path !== undefined) return { path: socketPath(path, platform) };
  const found = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(text.trim());
  const host = found?.[1] ?? found?.[2] ?? "127.0.0.1";
  const port = Number(found?.[3]);
  const isHost = found?.[1] === undefined ? /^[\w.-]+$/.test(host) : isIP(host) === 6;
  if (found === null || port > 65_535 || !isHost) {
    throw new HttpOptionError(
      `--http takes PORT or HOST:PORT, for example 8080, 127.0.0.1:8080 or [::1]:8080, or unix:PATH, not ${JSON.stringify(text)}.`,
    );
  }
  return { host, port };
}

function readAuth(options: CommonOptionValues, env: Environment): AuthSettings {
  const { oauthIssuer: issuer, oauthAudience: audience, oauthScopes: scopes } = options;
  const token = secretFrom("--auth-token-env", options.authTokenEnv, env);
  const { oauthToolScopes: toolScopes } = options;
  if (issuer === undefined && audience === undefined && scopes.length === 0 && !toolScopes)
    return token === undefined ? { kind: "none" } : { kind: "token", token };
  if (token !== undefined)
    throw new HttpOptionError(
      "--auth-token-env and --oauth-issuer are mutually exclusive; use one of them.",
    );
  if (issuer === undefined || audience === undefined) {
    throw new HttpOptionError(
      `OAuth needs both --oauth-issuer URL and --oauth-audience URI; ${issuer === undefined ? "--oauth-issuer" : "--oauth-audience"} is missing.`,
    );
  }
  if (issuer.protocol !== "https:" && !isLoopback(issuer.hostname.replace(/^\[|\]$/g, "")))
    throw new HttpOptionError(`--oauth-issuer must be an https URL, not ${issuer.href}.`);
  if (audience.hash !== "")
    throw new HttpOptionError(
      `--oauth-audience must not have a fragment (RFC 8707, section 2): ${audience.href}.`,
    );
  return { kind: "oauth", issuer, audience, scopes, toolScopes };
}

function secretFrom(flag: string, name: string | undefined, env: Environment): string | undefined {
  if (name === undefined) return undefined;
  const value = env[name]?.trim() ?? "";
  if (value === "")
    throw new HttpOptionError(
      `${flag} refers to the environment variable ${name}, which is unset or empty.`,
    );
  if (value.length < MIN_SECRET_CHARS) {
    throw new HttpOptionError(
      `The secret in ${name} (${flag}) has ${value.length} characters; it needs at least ${MIN_SECRET_CHARS}, for example from: openssl rand -hex 32.`,
    );
  }
  return value;
}

function hostName(flag: string, text: string): string {
  const name = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(name) ? new URL(name) : undefined;
  if (url === undefined || url.hostname === "")
    throw new HttpOptionError(
      `${flag} takes a host name, for example mcp.example.com, not ${JSON.stringify(text)}.`,
    );
  return url.hostname;
}
