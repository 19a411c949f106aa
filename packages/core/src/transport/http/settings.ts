import { isIP } from "node:net";
import type { CommonOptionValues } from "../../define/common-options.ts";

export type AuthSettings =
  | { readonly kind: "none"; readonly token?: undefined }
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

export type HttpSettings = ReturnType<typeof readHttpSettings>;

const MIB = 1_048_576;

/** The limits of one process. Times are in milliseconds. */
export const HTTP_LIMITS = {
  /** Bytes of a message. */
  messageBytes: 16 * MIB,
  /** Messages per minute of an authenticated caller. */
  perMinute: 6_000,
  /** Requests that run at once, even if their clients no longer wait; subscriptions do not count. */
  inFlight: 2_048,
  connections: 8_192,
  sessions: 1_000,
  /** How long a session is kept without a request from its client. */
  idleMs: 30 * 60_000,
  /** Unsent bytes for one client that does not read; a further event ends its stream. */
  queued: 8 * MIB,
  /** How long unsent data may make no progress. */
  stalledMs: 30_000,
  /** How long a client may take to send a request or a message. */
  requestMs: 60_000,
};
export type HttpLimits = Readonly<typeof HTTP_LIMITS>;

type HttpOptions = CommonOptionValues & { readonly http: string };
type Environment = Readonly<Record<string, string | undefined>>;

const MIN_SECRET_CHARS = 32;

/** Invalid options; the message is one sentence, for exit code 2. */
export class HttpOptionError extends Error {}

/** Why a token is not accepted. */
export class InvalidToken extends Error {}

/**
 * Parses the options for HTTP.
 *
 * @throws {HttpOptionError} for an invalid address, incomplete options, or an address that others can reach without
 *   authentication.
 */
export function readHttpSettings(options: HttpOptions, env: Environment) {
  const { http, tlsCert: cert, tlsKey: key } = options;
  const address = readAddress(http);
  const auth = readAuth(options, env);
  const tls = cert === undefined || key === undefined ? undefined : { cert, key };
  const isPublic = "host" in address && !isLoopback(address.host);
  const lacksCert = cert === undefined;
  refuseIf(
    lacksCert !== (key === undefined),
    `HTTPS needs both --tls-cert FILE and --tls-key FILE; ${lacksCert ? "--tls-cert" : "--tls-key"} is missing.`,
  );
  refuseIf(
    isPublic && auth.kind === "none",
    `--http ${http} would let anyone who can reach this machine call the server. Add --auth-token-env NAME, or --oauth-issuer URL with --oauth-audience URI, or listen on 127.0.0.1.`,
  );
  refuseIf(
    isPublic && tls === undefined && !options.allowPlainHttp,
    `--http ${http} would send tokens and responses unencrypted over the network. Add --tls-cert FILE and --tls-key FILE, or --allow-plain-http if a proxy adds TLS, or listen on 127.0.0.1.`,
  );
  const secret = secretFrom("--http-state-key-env", options.httpStateKeyEnv, env);
  return {
    address,
    /** Paths of PEM files; undefined for plain HTTP. */
    tls,
    /** Whether clients of 2025 get no session, so that each of their requests may go to another process. */
    isStateless: options.httpStateless,
    sse: options.sse,
    websocket: options.websocket,
    auth,
    /** Additional host names allowed in requests, in the form that `URL` uses. */
    allowedHosts: options.httpAllowHost.map((name) => hostName("--http-allow-host", name)),
    /** Host names of further web pages that may call this server. */
    allowedOrigins: options.httpAllowOrigin.map((name) => hostName("--http-allow-origin", name)),
    /** How long calls are accepted after the shutdown has begun, in milliseconds. */
    drainMs: options.drainMs,
    /** How long a running call may continue after that, in milliseconds. */
    callMs: options.timeoutMs,
    /** Signs the state of questions; shared by processes behind one load balancer. Default: a key of this process. */
    stateKey: secret === undefined ? undefined : new TextEncoder().encode(secret),
  };
}

function refuseIf(isWrong: boolean, message: string): void {
  if (isWrong) throw new HttpOptionError(message);
}

/** Whether only this machine can reach an address. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** A URL as the user most likely wrote it: without the slash that `URL` adds to a bare origin. */
export function urlText(url: URL): string {
  return url.pathname === "/" && url.search === "" ? url.origin : url.href;
}

/** @throws HttpOptionError if the text is not an address */
function readAddress(text: string): ListenAddress {
  const path = /^unix:(.+)$/s.exec(text.trim())?.[1];
  if (path !== undefined) return { path };
  const parts = /^(?:(?:\[([^\]]+)\]|([\w.-]+)):)?(\d{1,5})$/.exec(text.trim());
  const [, address, host = address ?? "127.0.0.1", digits] = parts ?? [];
  const port = Number(digits);
  refuseIf(
    parts === null || port > 65_535 || (address !== undefined && isIP(address) !== 6),
    `--http takes PORT or HOST:PORT, for example 8080, 127.0.0.1:8080 or [::1]:8080, or unix:PATH, not ${JSON.stringify(text)}.`,
  );
  return { host, port };
}

function readAuth(options: CommonOptionValues, env: Environment): AuthSettings {
  const { oauthIssuer: issuer, oauthAudience: audience } = options;
  const { oauthScopes: scopes, oauthToolScopes: toolScopes } = options;
  const token = secretFrom("--auth-token-env", options.authTokenEnv, env);
  if (issuer === undefined && audience === undefined && scopes.length === 0 && !toolScopes)
    return token === undefined ? { kind: "none" } : { kind: "token", token };
  refuseIf(
    token !== undefined,
    "--auth-token-env and --oauth-issuer are mutually exclusive; use one of them.",
  );
  if (issuer === undefined || audience === undefined)
    throw new HttpOptionError(
      `OAuth needs both --oauth-issuer URL and --oauth-audience URI; ${issuer === undefined ? "--oauth-issuer" : "--oauth-audience"} is missing.`,
    );
  refuseIf(
    issuer.protocol !== "https:" && !isLoopback(issuer.hostname.replace(/^\[|\]$/g, "")),
    `--oauth-issuer must be an https URL, not ${issuer.href}.`,
  );
  refuseIf(
    audience.hash !== "",
    `--oauth-audience must not have a fragment (RFC 8707, section 2): ${audience.href}.`,
  );
  return { kind: "oauth", issuer, audience, scopes, toolScopes };
}

function secretFrom(flag: string, name: string | undefined, env: Environment): string | undefined {
  if (name === undefined) return undefined;
  const value = env[name]?.trim() ?? "";
  refuseIf(
    value === "",
    `${flag} refers to the environment variable ${name}, which is unset or empty.`,
  );
  refuseIf(
    value.length < MIN_SECRET_CHARS,
    `The secret in ${name} (${flag}) has ${value.length} characters; it needs at least ${MIN_SECRET_CHARS}, for example from: openssl rand -hex 32.`,
  );
  return value;
}

function hostName(flag: string, text: string): string {
  const name = text.includes("://") ? text : `http://${text}`;
  const hostname = URL.canParse(name) ? new URL(name).hostname : "";
  refuseIf(
    hostname === "",
    `${flag} takes a host name, for example mcp.example.com, not ${JSON.stringify(text)}.`,
  );
  return hostname;
}
