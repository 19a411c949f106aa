import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { clip } from "@refmcp/boundary/answer";
import { EFFECTS } from "../../define/effect.ts";
import type { Awaitable } from "../../define/tool.ts";
import type { Principal } from "../../engine/caller.ts";
import { MAX_SHOWN, show } from "../../engine/message.ts";
import type { Service } from "../../engine/service.ts";
import { type Answer, jsonAnswer, type Reply, refuse } from "./reply.ts";
import { type AuthSettings, type HttpSettings, TokenError, urlText } from "./settings.ts";

/** Authenticates callers, and tells clients where to get a token. */
export interface Authenticator {
  /** The caller, or a response that requests a token. */
  authenticate(authorization: string | undefined): Awaitable<Principal | Answer>;
  /** A response that requests a token with a further scope (MCP, "Step-Up Authorization"). */
  stepUp(scope: string, principal: Principal): Answer;
  /** The protected-resource metadata (RFC 9728) by path; empty without OAuth. */
  readonly metadata: ReadonlyMap<string, object>;
}

/** The path of the metadata for a resource without a path (RFC 9728, section 3.1). */
const WELL_KNOWN = "/.well-known/oauth-protected-resource";

export async function createAuthenticator(
  settings: AuthSettings,
  service: Pick<Service, "identity" | "log" | "scopeFor">,
): Promise<Authenticator> {
  const stepUp = (scope: string) => challenge(lackOf(scope));
  if (settings.kind === "none")
    return { authenticate: () => ({ key: "", owner: "" }), stepUp, metadata: new Map() };
  if (settings.kind === "token") return { ...tokenAuthenticator(settings.token), stepUp };
  return oauthAuthenticator(settings, service);
}

function lackOf(scope: string): TokenError {
  return new TokenError("insufficient_scope", `The token lacks the scope ${scope}.`);
}

/** One secret for all callers. Digests of equal length are compared in constant time. */
function tokenAuthenticator(token: string): Omit<Authenticator, "stepUp"> {
  const expected = digest(token);
  return {
    metadata: new Map(),
    authenticate(authorization) {
      const given = bearerToken(authorization);
      if (given !== undefined && timingSafeEqual(digest(given), expected))
        return { key: "token", owner: "token" };
      return challenge(
        given === undefined ? undefined : new TokenError("invalid_token", "The token is invalid."),
      );
    },
  };
}

async function oauthAuthenticator(
  settings: Extract<AuthSettings, { kind: "oauth" }>,
  { identity, log, scopeFor }: Pick<Service, "identity" | "log" | "scopeFor">,
): Promise<Authenticator> {
  const { createTokenVerifier } = await import("./oauth.ts");
  const { issuer, audience, scopes, toolScopes } = settings;
  const supported = [...scopes, ...(toolScopes ? EFFECTS.map(scopeFor) : [])];
  const metadataUrl = new URL(WELL_KNOWN + audience.pathname.replace(/\/$/, ""), audience);
  metadataUrl.search = audience.search;
  const verify = createTokenVerifier(issuer, audience);
  // A client may request exactly these scopes, so they include those of this server that its token already has.
  const wider = (missing: readonly string[], held: readonly string[]) => {
    const kept = supported.filter((scope) => held.includes(scope));
    return challenge(lackOf(missing.join(" ")), [...scopes, ...kept, ...missing], metadataUrl);
  };
  let logged: unknown;
  const document = {
    resource: urlText(audience),
    authorization_servers: [urlText(issuer)],
    bearer_methods_supported: ["header"],
    // Shown on the authorization server's consent page.
    resource_name: identity.title ?? identity.name,
    ...(supported.length === 0 ? {} : { scopes_supported: supported }),
  };
  return {
    stepUp: (scope, { scopes: held = [] }) => wider([scope], held),
    metadata: new Map(
      [WELL_KNOWN, `${WELL_KNOWN}/mcp`, metadataUrl.pathname].map((path) => [path, document]),
    ),
    async authenticate(authorization) {
      try {
        const token = bearerToken(authorization);
        if (token === undefined) return challenge(undefined, scopes, metadataUrl);
        const found = await verify(token);
        const missing = scopes.filter((scope) => !found.scopes.includes(scope));
        if (missing.length > 0) return wider(missing, found.scopes);
        const { subject, clientId, expiresAt } = found;
        return {
          key: JSON.stringify([subject, clientId]),
          owner: subject,
          expiresAt,
          ...(toolScopes ? { scopes: found.scopes } : {}),
        };
      } catch (error) {
        if (error instanceof TokenError) return challenge(error, scopes, metadataUrl);
        // The verifier repeats a failure for a while, as the same object; log it once.
        if (error !== logged)
          log.error(
            `Tokens cannot be checked: ${error instanceof Error ? error.message : String(error)}`,
          );
        logged = error;
        const why = "The authorization server's keys are unavailable.";
        const body = { error: "temporarily_unavailable", error_description: why };
        return jsonAnswer(503, body, { "retry-after": "5" });
      }
    },
  };
}

/** Calls `end` when the caller's token expires, unless the reply ends first: a stream could outlive its token. */
export function whenExpired(
  { expiresAt }: Principal,
  reply: Pick<Reply, "whenClosed">,
  end: () => void,
): void {
  if (expiresAt === undefined) return;
  const timer = setTimeout(end, Math.min(expiresAt - Date.now(), MAX_TIMER_MS));
  timer.unref();
  reply.whenClosed(() => clearTimeout(timer));
}

/** The maximum delay of a timer in Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const NO_TOKEN = "Send the header Authorization: Bearer TOKEN.";

/**
 * 401 or 403 with instructions to get a token (RFC 6750, section 3; RFC 9728, section 5.1).
 *
 * @param error undefined without a token, since RFC 6750 (section 3.1) has no error for it.
 */
function challenge(
  error: TokenError | undefined,
  scopes: readonly string[] = [],
  metadata?: URL,
): Answer {
  const what =
    error === undefined
      ? { error_description: NO_TOKEN }
      : { error: error.code, error_description: error.message };
  const parameters = {
    ...(error === undefined ? {} : what),
    ...(scopes.length === 0 ? {} : { scope: [...new Set(scopes)].join(" ") }),
    ...(metadata === undefined ? {} : { resource_metadata: metadata.href }),
  };
  const quoted = Object.entries(parameters).map(
    ([name, value]) =>
      `${name}="${value.replaceAll(/[^\x20-\x7e]/g, " ").replaceAll(/[\\"]/g, "\\$&")}"`,
  );
  return jsonAnswer(error?.code === "insufficient_scope" ? 403 : 401, what, {
    "www-authenticate": ["Bearer", quoted.join(", ")].join(" ").trim(),
  });
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*)$/i.exec(authorization?.trim() ?? "")?.[1];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const LOCALHOST = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Decides which requests may reach the endpoint, before authentication. Checks `Host` and `Origin` against DNS rebinding
 * (MCP, "Streamable HTTP: Security"): a web page from elsewhere can reach this machine, but cannot change the names that
 * its browser sends.
 */
export function createAccess(settings: HttpSettings) {
  const { address, auth, allowedHosts, allowedOrigins } = settings;
  const hosts = new Set([...LOCALHOST, ...allowedHosts]);
  const host = "host" in address ? address.host : "localhost";
  if (!WILDCARDS.has(host))
    hosts.add(new URL(`http://${host.includes(":") ? `[${host}]` : host}`).hostname);
  if (auth.kind === "oauth") hosts.add(auth.audience.hostname);
  const origins = new Set([...LOCALHOST, ...allowedOrigins]);
  const isAllowed = (origin: string | undefined) =>
    origin === undefined || origin === "" || origins.has(hostnameOf(origin) ?? "");
  return {
    /** The response to a request that must not reach the endpoint; undefined if it is allowed. */
    refusal({ headers, rawHeaders }: IncomingMessage): Answer | undefined {
      const hostNames = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
      const named = HOST.test(headers.host ?? "")
        ? hostnameOf(`http://${headers.host}`)
        : undefined;
      if (hostNames.length !== 1 || named === undefined)
        return refuse(400, "The request must have one valid Host header.");
      if (!hosts.has(named))
        return refuse(
          403,
          `The host ${clip(named, MAX_SHOWN)} is not allowed. Allow it with --http-allow-host.`,
        );
      const { origin } = headers;
      return isAllowed(origin)
        ? undefined
        : refuse(
            403,
            `The origin ${show(origin)} is not allowed. Allow it with --http-allow-origin.`,
          );
    },
    /** Lets pages of an allowed origin read the answers (CORS). */
    allowReading({ headers }: IncomingMessage, response: ServerResponse): void {
      const { origin } = headers;
      if (origin === undefined || !isAllowed(origin)) return;
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "origin");
      response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
    },
  };
}

/** A host and a port, without user information (RFC 9112, section 3.2: a request with another value MUST get 400). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

export const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "600",
} as const;
