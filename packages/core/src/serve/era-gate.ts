import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { invalidParams, invalidRequest, type RpcError, show } from "./jsonrpc.ts";

/** The revisions of the modern era that SDK 2.4 serves. */
export const MODERN_REVISIONS: readonly string[] = ["2026-07-28"];

/** Methods that only the modern era has: without the claim they are a modern client's mistake. */
const MODERN_ONLY: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);

/**
 * Checks the protocol version of every message before `serveStdio` sees it, and knows what `serveStdio` then does.
 *
 * SDK 2.4 decides the era of a connection by its first message and looks at the version in `_meta` (the claim) no
 * more after that; any first message without a claim, be it a stray notification, makes the connection legacy for
 * good. MCP 2026-07-28 wants every request accepted or refused by its own version ("Versioning").
 *
 * - `open`: nothing has come yet that decides.
 * - `probe`: `server/discover` was answered; the client may go on in either era.
 * - `legacy`, `modern`: decided.
 */
export class EraGate {
  #phase: "open" | "probe" | "legacy" | "modern" = "open";
  #version: string | undefined;

  /** The protocol revision in force: the negotiated one, or the last that a modern request named. */
  get version(): string | undefined {
    return this.#version;
  }

  get era(): "legacy" | "modern" {
    return this.#phase === "legacy" || this.#phase === "open" ? "legacy" : "modern";
  }

  /** `initialize` agreed on this revision. */
  negotiated(version: string): void {
    this.#phase = "legacy";
    this.#version = version;
  }

  /** Why a request is refused; undefined where it may go on (which may decide the era). */
  request({ method, params }: JSONRPCRequest): RpcError | undefined {
    const meta = params?._meta;
    return meta !== undefined && Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)
      ? this.#claimed(method, meta[PROTOCOL_VERSION_META_KEY])
      : this.#unclaimed(method);
  }

  #claimed(method: string, claim: unknown): RpcError | undefined {
    if (typeof claim !== "string") {
      return invalidParams(
        `params._meta["${PROTOCOL_VERSION_META_KEY}"] must be a string, not ${show(claim)}.`,
      );
    }
    const supported = MODERN_REVISIONS.includes(claim);
    if (this.#phase === "legacy") {
      // Repeating what was negotiated is harmless; a modern request would get a legacy answer.
      if (claim === this.#version) return undefined;
      if (!supported) return unsupported(claim);
      const opened =
        this.#version === undefined ? "without a protocol version" : `with initialize, for ${this.#version}`;
      return invalidRequest(
        `This connection was opened ${opened}. Leave out _meta["${PROTOCOL_VERSION_META_KEY}"], or start the server anew for ${claim}.`,
      );
    }
    if (method === "initialize") {
      if (supported) {
        return {
          code: ProtocolErrorCode.MethodNotFound,
          message: `Protocol version ${claim} has no initialize. Send it without _meta["${PROTOCOL_VERSION_META_KEY}"] for an earlier one.`,
          data: { supported: MODERN_REVISIONS },
        };
      }
      // A handshake that also names its own, legacy revision.
      if (SUPPORTED_PROTOCOL_VERSIONS.includes(claim)) return this.#unclaimed(method);
    }
    if (!supported) return unsupported(claim);
    if (method !== "server/discover") this.#phase = "modern";
    else if (this.#phase === "open") this.#phase = "probe";
    this.#version = claim;
    return undefined;
  }

  #unclaimed(method: string): RpcError | undefined {
    // A modern connection: the SDK answers, since an unknown method outranks a missing claim.
    if (this.#phase === "legacy" || this.#phase === "modern") return undefined;
    const opensLegacy = this.#phase === "open" || method === "initialize" || method === "ping";
    if (MODERN_ONLY.has(method) || !opensLegacy) {
      return invalidParams(
        `${method}: params._meta["${PROTOCOL_VERSION_META_KEY}"] is missing; it must name the protocol version, for example "${MODERN_REVISIONS[0]}".`,
      );
    }
    this.#phase = "legacy";
    this.#version = undefined;
    return undefined;
  }

  /**
   * A notification as `serveStdio` may get it; undefined where it must not.
   *
   * @param cancels whether it cancels a request in flight.
   */
  notification(message: JSONRPCNotification, cancels: boolean): JSONRPCNotification | undefined {
    if (this.#phase === "legacy") return message;
    // Before the era is decided only a request may decide it.
    if (this.#phase !== "modern" && !cancels) return undefined;
    const meta = message.params?._meta;
    if (meta !== undefined && Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)) {
      const claim = meta[PROTOCOL_VERSION_META_KEY];
      return typeof claim === "string" && MODERN_REVISIONS.includes(claim) ? message : undefined;
    }
    // Modern notifications need no claim, yet without one the SDK would take a probing client for a legacy one.
    const claimed = {
      ...meta,
      [PROTOCOL_VERSION_META_KEY]: this.#version,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    };
    return { ...message, params: { ...message.params, _meta: claimed } };
  }
}

function unsupported(requested: string): RpcError {
  return {
    code: ProtocolErrorCode.UnsupportedProtocolVersion,
    message: `Protocol version ${show(requested)} is not supported in _meta; supported: ${MODERN_REVISIONS.join(", ")}.`,
    data: { supported: MODERN_REVISIONS, requested },
  };
}
