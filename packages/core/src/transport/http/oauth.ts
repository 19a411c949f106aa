import { startDeadline } from "@refmcp/boundary";
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from "jose";
import * as z from "zod";
import { TokenError, urlText } from "./settings.ts";

/** Those with a public key. Shared secrets (HS256) and unsigned tokens are never accepted (RFC 8725, 3.1). */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");
/** Allowed difference between two machines' clocks, in seconds. */
const CLOCK_TOLERANCE_S = 30;
const DISCOVERY_TIMEOUT_MS = 5_000;
/** How long a failure is repeated without contacting the issuer again; clients are asked to wait as long. */
const RETRY_MS = 5_000;
const MAX_DOCUMENT_CHARS = 1_048_576;

const issuerMetadata = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** The verified content of an access token. `expiresAt` is in milliseconds of `Date.now()`. */
type AccessToken = ReturnType<typeof accessTokenOf>;

/**
 * Checks access tokens as a resource server (OAuth 2.1; RFC 9068): a signed JWT of this issuer, for this audience (RFC
 * 8707), within its lifetime. The issuer's keys are found through its metadata (RFC 8414, or OpenID Connect Discovery)
 * when the first token arrives. The token is checked and discarded, never passed on.
 */
export function createTokenVerifier(
  issuer: URL,
  audience: URL,
): (token: string) => Promise<AccessToken> {
  let trusting: ReturnType<typeof discover> | undefined;
  const find = sparing(() => discover(issuer));
  return async (token) => {
    trusting ??= find().catch((error: unknown) => {
      trusting = undefined;
      throw error;
    });
    const trusted = await trusting;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, trusted.keys, {
        issuer: trusted.issuer,
        audience: [...new Set([urlText(audience), audience.href])],
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      // Other signed JWTs of the same issuer (an ID token, a logout token) are not access tokens.
      if (!/^(?:(?:application\/)?(?:at\+)?jwt)$/i.test(protectedHeader.typ ?? "JWT"))
        throw invalid(`The token's type is ${protectedHeader.typ}, not an access token type.`);
      // Bound to a key of its client (RFC 9449, RFC 8705): unless that is checked, a stolen token would work.
      if (payload.cnf !== undefined)
        throw invalid(
          "The token is bound to a key (cnf), which this server cannot check. Request one without DPoP or mTLS.",
        );
      return accessTokenOf(payload);
    } catch (error) {
      throw refusalOf(error);
    }
  };
}

function accessTokenOf({ sub, client_id: client, azp, scope, scp, exp = 0 }: JWTPayload) {
  const scopes =
    typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  return {
    subject: String(sub),
    clientId: typeof client === "string" ? client : typeof azp === "string" ? azp : "",
    scopes: scopes.filter((one) => one !== ""),
    expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000,
  };
}

/** The error for the client: which check failed, without the token. */
function refusalOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return invalid("The token has expired.");
  if (error instanceof errors.JWTClaimValidationFailed) {
    const wrong: Record<string, string> = {
      aud: "The token was issued for another resource (aud).",
      iss: "The token was issued by another issuer (iss).",
      nbf: "The token is not valid yet (nbf).",
    };
    return invalid(wrong[error.claim] ?? `The token's claim ${error.claim} is missing or wrong.`);
  }
  if (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey
  )
    return invalid("The token is not signed with one of the issuer's keys.");
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return invalid("The token is signed with an algorithm that is not accepted.");
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid)
    return invalid("The token is not a signed JWT.");
  return error;
}

function invalid(message: string): TokenError {
  return new TokenError("invalid_token", message);
}

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

async function discover(issuer: URL) {
  const problems: string[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      const metadata = await read(url, issuerMetadata);
      // Metadata must belong to the issuer that was asked (RFC 8414, section 3.3).
      if (![urlText(issuer), issuer.href].includes(metadata.issuer))
        throw new Error(`it is the metadata of ${metadata.issuer}`);
      const keysUrl = new URL(metadata.jwks_uri);
      // Without TLS, anyone on the path could replace the keys (RFC 8414, section 2).
      if (issuer.protocol === "https:" && keysUrl.protocol !== "https:")
        throw new Error(`its jwks_uri ${keysUrl} is not https`);
      const readKeys = sparing(() =>
        read(keysUrl, keySet).catch((error: unknown) => {
          throw new Error(`no keys of the issuer (${keysUrl}: ${reasonOf(error)})`);
        }),
      );
      const keys = createRemoteJWKSet(keysUrl, {
        [customFetch]: async () => Response.json(await readKeys()),
      });
      return { issuer: metadata.issuer, keys };
    } catch (error) {
      problems.push(`${url}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`no metadata of the issuer ${urlText(issuer)} (${problems.join("; ")})`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A JSON document of the issuer. */
async function read<Document>(url: URL, schema: z.ZodType<Document>): Promise<Document> {
  const { signal, end } = startDeadline(DISCOVERY_TIMEOUT_MS);
  try {
    const headers = { accept: "application/json, application/jwk-set+json" };
    const response = await fetch(url, { redirect: "error", signal, headers });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const text = await response.text();
    if (text.length > MAX_DOCUMENT_CHARS) throw new Error("the document is too large");
    return schema.parse(JSON.parse(text));
  } finally {
    end();
  }
}

/** Possible URLs of an issuer's metadata, in the order of MCP, "Authorization server metadata discovery". */
function metadataUrls(issuer: URL): URL[] {
  const path = issuer.pathname.replace(/\/$/, "");
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (name) => new URL(`/.well-known/${name}${path}`, issuer),
  );
  return path === ""
    ? inserted
    : [...inserted, new URL(`${path}/.well-known/openid-configuration`, issuer)];
}
