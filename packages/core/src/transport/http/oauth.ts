import { startDeadline } from "@refmcp/boundary";
import { reasonOf } from "@refmcp/boundary/answer";
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from "jose";
import * as z from "zod";
import { InvalidToken, urlText } from "./settings.ts";

/** Those with a public key. Shared secrets (HS256) and unsigned tokens are never accepted (RFC 8725, 3.1). */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");
/** Allowed difference between two machines' clocks, in seconds. */
const CLOCK_TOLERANCE_S = 30;
const DISCOVERY_TIMEOUT_MS = 5_000;
/** How long a failure is repeated without contacting the issuer again; clients are asked to wait as long. */
const RETRY_MS = 5_000;

const issuerMetadata = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/**
 * Checks access tokens as a resource server (OAuth 2.1; RFC 9068): a signed JWT of this issuer, for this audience (RFC
 * 8707), within its lifetime. The issuer's keys are found through its metadata (RFC 8414, or OpenID Connect Discovery)
 * when the first token arrives. The token is checked and discarded, never passed on.
 */
export function createTokenVerifier(issuer: URL, audience: URL) {
  let issuerPromise: ReturnType<typeof discover> | undefined;
  const find = sparing(() => discover(issuer));
  return async (token: string) => {
    issuerPromise ??= find().catch((error: unknown) => {
      issuerPromise = undefined;
      throw error;
    });
    const issuerKeys = await issuerPromise;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, issuerKeys.keys, {
        issuer: issuerKeys.issuer,
        audience: [...new Set([urlText(audience), audience.href])],
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      // Other signed JWTs of the same issuer (an ID token, a logout token) are not access tokens.
      const { typ = "JWT" } = protectedHeader;
      if (!/^(?:(?:application\/)?(?:at\+)?jwt)$/i.test(typ))
        throw new InvalidToken(`The token's type is ${typ}, not an access token type.`);
      // Bound to a key of its client (RFC 9449, RFC 8705): unless that is checked, a stolen token would work.
      if (payload.cnf !== undefined)
        throw new InvalidToken(
          "The token is bound to a key (cnf), which this server cannot check. Request one without DPoP or mTLS.",
        );
      return accessTokenOf(payload);
    } catch (error) {
      throw refusalOf(error);
    }
  };
}

/** The verified content of an access token. `expiresAt` is in milliseconds of `Date.now()`. */
function accessTokenOf({ sub, client_id: client, azp, scope, scp, exp = 0 }: JWTPayload) {
  const scopes = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp : [];
  return {
    subject: String(sub),
    clientId: String(client ?? azp ?? ""),
    scopes: scopes.map(String).filter((name) => name !== ""),
    expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000,
  };
}

/** The error for the client: which check failed, without the token. Other errors are those of the issuer. */
function refusalOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return new InvalidToken("The token has expired.");
  if (error instanceof errors.JWTClaimValidationFailed)
    return new InvalidToken(`The token's claim ${error.claim} is missing or wrong.`);
  const isToken = error instanceof errors.JOSEError && OF_TOKEN.test(error.code);
  return isToken
    ? new InvalidToken("The token is not a JWT signed with one of the issuer's keys.")
    : error;
}

/** The codes of jose for what a token may be, apart from its claims. */
const OF_TOKEN =
  /^ERR_(?:JWS_|JWT_INVALID|JWKS_(?:NO|MULTIPLE)_MATCHING|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

/** Repeats a failure for a while instead of contacting the issuer again, since anyone can send tokens. */
function sparing<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let failure: { readonly error: unknown; readonly until: number } | undefined;
  return async () => {
    if (failure !== undefined && performance.now() < failure.until) throw failure.error;
    try {
      return await ask();
    } catch (error) {
      failure = { error, until: performance.now() + RETRY_MS };
      throw error;
    }
  };
}

/** Finds an issuer's keys through its metadata (MCP, "Authorization server metadata discovery"). */
async function discover(issuer: URL) {
  const path = issuer.pathname.replace(/\/$/, "");
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === "" ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  const problems: string[] = [];
  for (const place of places) {
    const url = new URL(place, issuer);
    try {
      const metadata = issuerMetadata.parse(await (await read(url)).json());
      // Metadata must belong to the issuer that was asked (RFC 8414, section 3.3).
      if (![urlText(issuer), issuer.href].includes(metadata.issuer))
        throw new Error(`it is the metadata of ${metadata.issuer}`);
      const keysUrl = new URL(metadata.jwks_uri);
      // Without TLS, anyone on the path could replace the keys (RFC 8414, section 2).
      if (issuer.protocol === "https:" && keysUrl.protocol !== "https:")
        throw new Error(`its jwks_uri ${keysUrl} is not https`);
      const keys = createRemoteJWKSet(keysUrl, { [customFetch]: sparing(() => read(keysUrl)) });
      return { issuer: metadata.issuer, keys };
    } catch (error) {
      problems.push(`${url}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`no metadata of the issuer ${urlText(issuer)} (${problems.join("; ")})`);
}

/** Asks the issuer for a document. */
async function read(url: URL): Promise<Response> {
  const headers = { accept: "application/json, application/jwk-set+json" };
  const { signal } = startDeadline(DISCOVERY_TIMEOUT_MS);
  const response = await fetch(url, { redirect: "error", signal, headers });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return new Response(await response.text());
}
