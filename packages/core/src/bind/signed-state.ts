import { crypto } from "@refmcp/boundary/crypto";
import { invalidParams, ProtocolError } from "../engine/errors.ts";

/** How long a person may take to answer, and how long signed state is accepted, in milliseconds. */
export const ANSWER_MS = 10 * 60_000;

/**
 * Signs state that a client receives and returns (MCP 2026-07-28, `requestState`: it MUST be integrity-protected), with
 * HMAC-SHA-256 over the state, its expiry, and what it is for and who sent it (`owner`).
 */
export function signState(state: object, key: Uint8Array, owner: string): string {
  const json = JSON.stringify([Date.now() + ANSWER_MS, state]);
  const body = Buffer.from(json).toString("base64url");
  return `${body}.${signature(body, key, owner).toString("base64url")}`;
}

/** The state. @throws ProtocolError -32602 for one that this server did not issue for this owner, or too long ago. */
export function readState(text: string, key: Uint8Array, owner: string): Record<string, unknown> {
  const [body = "", mac = ""] = text.split(".", 2);
  const actual = Buffer.from(mac, "base64url");
  const expected = signature(body, key, owner);
  const isOurs = actual.length === expected.length && crypto().timingSafeEqual(actual, expected);
  const [expires, state]: [number, Record<string, unknown>] = isOurs
    ? JSON.parse(Buffer.from(body, "base64url").toString("utf8"))
    : [0, {}];
  if (Date.now() <= expires) return state;
  const why = isOurs
    ? "has expired."
    : "was changed, belongs to another request or caller, or was issued by another process: copies of a server accept each other's with the same --http-state-key-env.";
  const message = `The requestState ${why} Send the request again without it.`;
  throw new ProtocolError(invalidParams(message, { reason: "invalid_request_state" }));
}

function signature(body: string, key: Uint8Array, owner: string): Buffer {
  const hmac = crypto().createHmac("sha256", key);
  return hmac.update(`${body.length}:${body}${owner}`).digest();
}
