import { createHash, timingSafeEqual } from "node:crypto";
import {
  type AuthInfo,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type { Log } from "../../log.ts";
import { type AuthSettings, spelled } from "./settings.ts";

/** Who calls: what sessions and questions belong to. */
export interface Principal {
  /** Differs between any two callers that must not see each other's sessions. */
  readonly key: string;
  readonly authInfo?: AuthInfo;
}

/** Tells who calls, and shows clients where to get a token. */
export interface Authenticator {
  /** The caller, or the response that asks for a token. */
  authenticate(authorization: string | undefined): Promise<Principal | Response>;
  /** The protected-resource metadata (RFC 9728) by path; empty without OAuth. */
  readonly metadata: ReadonlyMap<string, object>;
}

const ANYBODY: Principal = { key: "" };
/** Where metadata stands for a resource without a path (RFC 9728, section 3.1). */
const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** @param title the server's name for people, shown by the authorization server's consent page. */
export async function createAuthenticator(
  settings: AuthSettings,
  title: string,
  log: Log,
): Promise<Authenticator> {
  if (settings.kind === "none") return { authenticate: async () => ANYBODY, metadata: new Map() };
  if (settings.kind === "token") return tokenAuthenticator(settings.token);
  return oauthAuthenticator(settings, title, log);
}

/** One secret for all callers. It is compared in constant time: by digests, which are equally long. */
function tokenAuthenticator(token: string): Authenticator {
  const expected = digest(token);
  return {
    metadata: new Map(),
    async authenticate(authorization) {
      const given = bearerToken(authorization);
      if (given !== undefined && timingSafeEqual(digest(given), expected)) return { key: "token" };
      const why =
        given === undefined
          ? "Send the header Authorization: Bearer TOKEN."
          : "The token is not the right one.";
      return bearerAuthChallengeResponse(new OAuthError(OAuthErrorCode.InvalidToken, why));
    },
  };
}

async function oauthAuthenticator(
  settings: Extract<AuthSettings, { kind: "oauth" }>,
  title: string,
  log: Log,
): Promise<Authenticator> {
  const { createTokenVerifier } = await import("./oauth.ts");
  const { issuer, audience, scopes } = settings;
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(audience);
  const challenge = { requiredScopes: [...scopes], resourceMetadataUrl };
  const verifier = createTokenVerifier({ issuer, audience });
  const document = {
    resource: spelled(audience),
    authorization_servers: [spelled(issuer)],
    bearer_methods_supported: ["header"],
    resource_name: title,
    ...(scopes.length === 0 ? {} : { scopes_supported: [...scopes] }),
  };
  return {
    metadata: new Map([
      [WELL_KNOWN, document],
      [`${WELL_KNOWN}/mcp`, document],
      [new URL(resourceMetadataUrl).pathname, document],
    ]),
    async authenticate(authorization) {
      try {
        const authInfo = await verifyBearerToken(authorization, { verifier, ...challenge });
        return { key: JSON.stringify([authInfo.extra?.subject, authInfo.clientId]), authInfo };
      } catch (error) {
        if (error instanceof OAuthError) return bearerAuthChallengeResponse(error, challenge);
        log.error(`Tokens cannot be checked: ${error instanceof Error ? error.message : String(error)}`);
        return Response.json(
          {
            error: "temporarily_unavailable",
            error_description: "The authorization server's keys cannot be had now.",
          },
          { status: 503, headers: { "retry-after": "5" } },
        );
      }
    },
  };
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*)$/i.exec(authorization?.trim() ?? "")?.[1];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
