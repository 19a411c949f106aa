import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { clip, reasonOf } from "@refmcp/boundary/answer";
import { EFFECTS } from "../../define/effect.ts";
import type { Awaitable } from "../../define/tool.ts";
import type { Caller, Principal } from "../../engine/caller.ts";
import { MAX_SHOWN, show } from "../../engine/message.ts";
import type { Service } from "../../engine/service.ts";
import { type Answer, jsonAnswer, type Reply, refuse } from "./reply.ts";
import { type AuthSettings, type HttpSettings, InvalidToken, urlText } from "./settings.ts";

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

type ServiceFacts = Pick<Service, "identity" | "log" | "scopeFor">;

export async function createAuthenticator(
  settings: AuthSettings,
  service: ServiceFacts,
): Promise<Authenticator> {
  if (settings.kind === "oauth") return oauthAuthenticator(settings, service);
  const { token } = settings;
  const tokenDigest = digest(token ?? "");
  return {
    metadata: new Map(),
    stepUp: (scope) => challenge(insufficientScope([scope])),
    authenticate(authorization) {
      if (token === undefined) return { key: "", owner: "" };
      const sentToken = bearerToken(authorization);
      if (sentToken === undefined) return challenge();
      // Digests of equal length are compared in constant time.
      return timingSafeEqual(digest(sentToken), tokenDigest)
        ? { key: "token", owner: "token" }
        : challenge({ error: "invalid_token", error_description: "The token is invalid." });
    },
  };
}

async function oauthAuthenticator(
  settings: Extract<AuthSettings, { kind: "oauth" }>,
  { identity, log, scopeFor }: ServiceFacts,
): Promise<Authenticator> {
  const { createTokenVerifier } = await import("./oauth.ts");
  const { issuer, audience, scopes, toolScopes } = settings;
  const supportedScopes = [...scopes, ...(toolScopes ? EFFECTS.map(scopeFor) : [])];
  const metadataUrl = new URL(WELL_KNOWN + audience.pathname.replace(/\/$/, ""), audience);
  metadataUrl.search = audience.search;
  const verify = createTokenVerifier(issuer, audience);
  // A client may request exactly these scopes, so they include those of this server that its token already has.
  const scopeChallenge = (missing: readonly string[], tokenScopes: readonly string[]) => {
    const granted = supportedScopes.filter((scope) => tokenScopes.includes(scope));
    return challenge(insufficientScope(missing), [...scopes, ...granted, ...missing], metadataUrl);
  };
  let lastLoggedError: unknown;
  const document = {
    resource: urlText(audience),
    authorization_servers: [urlText(issuer)],
    bearer_methods_supported: ["header"],
    // Shown on the authorization server's consent page.
    resource_name: identity.title ?? identity.name,
    ...(supportedScopes.length === 0 ? {} : { scopes_supported: supportedScopes }),
  };
  return {
    stepUp: (scope, { scopes: tokenScopes = [] }) => scopeChallenge([scope], tokenScopes),
    metadata: new Map(
      [WELL_KNOWN, `${WELL_KNOWN}/mcp`, metadataUrl.pathname].map((path) => [path, document]),
    ),
    async authenticate(authorization) {
      try {
        const token = bearerToken(authorization);
        if (token === undefined) return challenge(undefined, scopes, metadataUrl);
        const { subject, clientId, expiresAt, scopes: tokenScopes } = await verify(token);
        const missing = scopes.filter((scope) => !tokenScopes.includes(scope));
        if (missing.length > 0) return scopeChallenge(missing, tokenScopes);
        const key = JSON.stringify([subject, clientId]);
        return { key, owner: subject, expiresAt, ...(toolScopes ? { scopes: tokenScopes } : {}) };
      } catch (error) {
        const why = reasonOf(error);
        const invalid = { error: "invalid_token", error_description: why };
        if (error instanceof InvalidToken) return challenge(invalid, scopes, metadataUrl);
        // The verifier repeats a failure for a while, as the same object; log it once.
        if (error !== lastLoggedError) log.error(`Tokens cannot be checked: ${why}`);
        lastLoggedError = error;
        const description = "The authorization server's keys are unavailable.";
        const body = { error: "temporarily_unavailable", error_description: description };
        return jsonAnswer(503, body, { "retry-after": "5" });
      }
    },
  };
}

/** The maximum delay of a timer in Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Closable = Pick<Reply, "whenClosed">;

/**
 * Calls `end` when the last token that the caller sent has expired, unless the reply ends first: a stream could outlive
 * its token.
 */
export function whenExpired(caller: Caller, reply: Closable, end: () => void) {
  const { expiresAt } = caller.principal ?? {};
  if (expiresAt === undefined) return;
  const leftMs = expiresAt - Date.now();
  if (leftMs <= 0) return end();
  const check = () => whenExpired(caller, reply, end);
  const timer = setTimeout(check, Math.min(leftMs, MAX_TIMER_MS)).unref();
  reply.whenClosed(() => clearTimeout(timer));
}

function insufficientScope(scopes: readonly string[]) {
  const error_description = `The token lacks the scope ${scopes.join(" ")}.`;
  return { error: "insufficient_scope", error_description };
}

/**
 * 401 or 403 with instructions to get a token (RFC 6750, section 3; RFC 9728, section 5.1).
 *
 * @param problem undefined without a token, since RFC 6750 (section 3.1) has no error for it.
 */
function challenge(
  problem?: ReturnType<typeof insufficientScope>,
  scopes: readonly string[] = [],
  metadata?: URL,
) {
  const parameters = {
    ...problem,
    ...(scopes.length === 0 ? {} : { scope: [...new Set(scopes)].join(" ") }),
    ...(metadata === undefined ? {} : { resource_metadata: metadata.href }),
  };
  const headerParameters = Object.entries(parameters).map(
    ([name, value]) =>
      `${name}="${value.replaceAll(/[^\x20-\x7e]/g, " ").replaceAll(/[\\"]/g, "\\$&")}"`,
  );
  const body = problem ?? { error_description: "Send the header Authorization: Bearer TOKEN." };
  return jsonAnswer(problem?.error === "insufficient_scope" ? 403 : 401, body, {
    "www-authenticate": ["Bearer", headerParameters.join(", ")].join(" ").trim(),
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
/** A host and a port, without user information (RFC 9112, section 3.2: a request with another value MUST get 400). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

export const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "600",
} as const;

/**
 * Decides which requests may reach the endpoint, before authentication. Checks `Host` and `Origin` against DNS rebinding
 * (MCP, "Streamable HTTP: Security"): a web page from elsewhere can reach this machine, but cannot change the names that
 * its browser sends.
 */
export function createAccess({ address, auth, allowedHosts, allowedOrigins }: HttpSettings) {
  const hosts = new Set([...LOCALHOST, ...allowedHosts]);
  const host = "host" in address ? address.host : "localhost";
  if (!WILDCARDS.has(host))
    hosts.add(new URL(`http://${host.includes(":") ? `[${host}]` : host}`).hostname);
  if (auth.kind === "oauth") hosts.add(auth.audience.hostname);
  const origins = new Set([...LOCALHOST, ...allowedOrigins]);
  return {
    /** The response to a request for a host that is not this server; undefined if it is. */
    hostRefusal({ headers, rawHeaders }: IncomingMessage): Answer | undefined {
      const names = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
      const hostName = HOST.test(headers.host ?? "")
        ? hostnameOf(`http://${headers.host}`)
        : undefined;
      if (names.length !== 1 || hostName === undefined)
        return refuse(400, "The request must have one valid Host header.");
      const text = `The host ${clip(hostName, MAX_SHOWN)} is not allowed. Allow it with --http-allow-host.`;
      return hosts.has(hostName) ? undefined : refuse(403, text);
    },
    /** The response to a web page that is not allowed; for others, lets it read the answers (CORS). */
    originRefusal({ headers: { origin = "" } }: IncomingMessage, response?: ServerResponse) {
      if (origin === "") return undefined;
      if (!origins.has(hostnameOf(origin) ?? "")) {
        const text = `The origin ${show(origin)} is not allowed. Allow it with --http-allow-origin.`;
        return refuse(403, text);
      }
      response?.setHeader("access-control-allow-origin", origin);
      response?.setHeader("vary", "origin");
      response?.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
      return undefined;
    },
  };
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}
