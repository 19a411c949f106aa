import { crypto } from "@refmcp/boundary/crypto";

/** How long a sealed state is accepted, in milliseconds. */
const TTL_MS = 10 * 60_000;

/**
 * Signs state that a client receives and returns (MCP 2026-07-28, `requestState`: it MUST be integrity-protected), with
 * HMAC-SHA-256 over the state, its expiry and its owner.
 */
export class Seal {
  #key: Uint8Array | undefined;

  /** @param key shared by the processes that serve the same clients. Default: a key of this process. */
  constructor(key?: Uint8Array) {
    this.#key = key;
  }

  /** @param owner what the state is for and who sent it; the same text is needed to open it. */
  seal(state: unknown, owner: string): string {
    const body = Buffer.from(JSON.stringify([Date.now() + TTL_MS, state])).toString("base64url");
    return `${body}.${this.#mac(body, owner).toString("base64url")}`;
  }

  /** The state; undefined for a text that was changed, has expired or belongs to another owner. */
  open(text: string, owner: string): unknown {
    const [body = "", mac = ""] = text.split(".", 2);
    const given = Buffer.from(mac, "base64url");
    const expected = this.#mac(body, owner);
    if (given.length !== expected.length || !crypto().timingSafeEqual(given, expected)) return undefined;
    const [expires, state]: [number, unknown] = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
    return Date.now() <= expires ? state : undefined;
  }

  #mac(body: string, owner: string): Buffer {
    const { createHmac, randomBytes } = crypto();
    this.#key ??= randomBytes(32);
    return createHmac("sha256", this.#key).update(`${body.length}:${body}${owner}`).digest();
  }
}
