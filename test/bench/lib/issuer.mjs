// A minimal authorization server: publishes its metadata and its key, and signs access tokens for whoever asks.
import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import { listen } from "../../../scripts/lib/bench-kit.mjs";

/** @param {object} part */
const encoded = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

/** @param {string} audience */
export async function startIssuer(audience) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey: foreign } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "main", alg: "RS256", use: "sig" };
  const server = createServer((request, response) => {
    const isMetadata = request.url === "/.well-known/oauth-authorization-server";
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: [key] }),
    );
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const head = encoded({ alg: "RS256", kid: "main", typ: "at+jwt" });
  return {
    issuer,
    /**
     * The `Authorization` header of a person, by whatever client.
     *
     * @param {string} subject @param {string} client @param {boolean} [isForged] signed by another key
     */
    bearer(subject, client, isForged = false) {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: issuer,
        aud: audience,
        sub: subject,
        client_id: client,
        iat: now,
        exp: now + 86_400,
      };
      const signed = `${head}.${encoded(claims)}`;
      const signature = sign("sha256", Buffer.from(signed), isForged ? foreign : privateKey);
      return `Bearer ${signed}.${signature.toString("base64url")}`;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
