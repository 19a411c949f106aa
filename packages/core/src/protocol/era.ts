import { clip } from "@refmcp/boundary/answer";
import { invalidParams, invalidRequest } from "./errors.ts";
import { MAX_SHOWN, show } from "./messages.ts";
import { envelopeProblem } from "./params.ts";
import { LEGACY_VERSIONS, MODERN_VERSIONS, type Revision, revisionOf, UNDECIDED } from "./revisions.ts";
import { CODES, META, type NotificationMessage, type RequestMessage, type RpcError } from "./wire.ts";

/** Methods that only the modern era has; without a version, they are a modern client's mistake. */
const MODERN_ONLY: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);

/**
 * Determines the era of a connection from its first request, and checks the version in the `_meta` of every message
 * (MCP 2026-07-28, "Versioning": every request is accepted or refused by its own version).
 *
 * - `open`: no message has determined the era yet.
 * - `probe`: `server/discover` was answered; the client may continue in either era.
 * - `legacy`, `modern`: decided.
 */
export class EraGate {
  #phase: "open" | "probe" | "legacy" | "modern" = "open";
  #revision: Revision | undefined;
  readonly #isModernMethod: (method: string) => boolean;

  /** @param isModernMethod whether this server has the method in the modern era. */
  constructor(isModernMethod: (method: string) => boolean) {
    this.#isModernMethod = isModernMethod;
  }

  /** The current revision: the negotiated one, or that of the last modern request. */
  get revision(): Revision | undefined {
    return this.#revision;
  }

  /** Whether the connection is definitely of the legacy era. */
  get isLegacy(): boolean {
    return this.#phase === "legacy";
  }

  /** Sets the revision that `initialize` agreed on. */
  negotiated(revision: Revision): void {
    this.#phase = "legacy";
    this.#revision = revision;
  }

  /** The revision of a request, or why it is refused. An accepted request may determine the era. */
  admit({ method, params }: RequestMessage): Revision | RpcError {
    const meta = params?._meta;
    const refusal =
      meta !== undefined && Object.hasOwn(meta, META.version)
        ? this.#claimed(method, params, meta[META.version])
        : this.#unclaimed(method, params?.protocolVersion);
    return refusal ?? this.#revision ?? UNDECIDED;
  }

  #claimed(method: string, params: unknown, claim: unknown): RpcError | undefined {
    if (typeof claim !== "string")
      return invalidParams(`params._meta["${META.version}"] must be a string, not ${show(claim)}.`);
    const supported = MODERN_VERSIONS.includes(claim);
    if (this.#phase === "legacy") {
      // Repeating the negotiated version is harmless, but a modern request would get a legacy answer.
      if (claim === this.#revision?.version) return undefined;
      if (!supported) return unsupported(claim);
      const opened =
        this.#revision === undefined
          ? "without a protocol version"
          : `with initialize, for ${this.#revision.version}`;
      return invalidRequest(
        `This connection was opened ${opened}. Omit _meta["${META.version}"], or restart the server for ${claim}.`,
      );
    }
    if (method === "initialize") {
      if (supported) {
        return {
          code: CODES.methodNotFound,
          message: `Protocol version ${claim} has no initialize. Send it without _meta["${META.version}"] for an earlier one.`,
          data: { supported: MODERN_VERSIONS },
        };
      }
      // A handshake that also names its legacy revision.
      if (LEGACY_VERSIONS.includes(claim)) return this.#unclaimed(method);
    }
    if (!supported) return unsupported(claim);
    const problem = envelopeProblem(method, params);
    if (problem !== undefined) return invalidParams(problem.sentence);
    if (method !== "server/discover") this.#phase = "modern";
    else if (this.#phase === "open") this.#phase = "probe";
    this.#revision = revisionOf(claim);
    return undefined;
  }

  #unclaimed(method: string, requested?: unknown): RpcError | undefined {
    if (this.#phase === "legacy") return undefined;
    if (this.#phase === "modern") {
      if (method === "initialize") return unsupported(requested);
      // The error for an unknown method takes precedence over a missing version.
      return this.#isModernMethod(method) ? missingClaim(method) : undefined;
    }
    const opensLegacy = this.#phase === "open" || method === "initialize" || method === "ping";
    if (MODERN_ONLY.has(method) || !opensLegacy) return missingClaim(method);
    this.#phase = "legacy";
    this.#revision = undefined;
    return undefined;
  }

  /**
   * Whether to process a notification: only a request can determine the era, so earlier notifications are ignored.
   *
   * @param cancels whether it cancels a request in flight.
   */
  admitsNotification({ params }: NotificationMessage, cancels: boolean): boolean {
    if (this.#phase === "legacy") return true;
    const meta = params?._meta;
    if (this.#phase !== "modern" && !cancels) return false;
    if (meta === undefined || !Object.hasOwn(meta, META.version)) return true;
    const claim = meta[META.version];
    return typeof claim === "string" && MODERN_VERSIONS.includes(claim);
  }
}

function missingClaim(method: string): RpcError {
  return invalidParams(
    `${clip(method, MAX_SHOWN)}: params._meta["${META.version}"] is missing; it must name the protocol version, for example "${MODERN_VERSIONS[0]}".`,
  );
}

/** -32022 (MCP 2026-07-28, "Unsupported protocol version"). */
export function unsupported(requested: unknown): RpcError {
  const named =
    requested === undefined
      ? "The request has no protocol version"
      : `Protocol version ${show(requested)} is not supported`;
  return {
    code: CODES.unsupportedVersion,
    message: `${named} in _meta; supported: ${MODERN_VERSIONS.join(", ")}.`,
    data: {
      supported: MODERN_VERSIONS,
      ...(typeof requested === "string" ? { requested: clip(requested, MAX_SHOWN) } : {}),
    },
  };
}
