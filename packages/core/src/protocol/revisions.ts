import { clip } from "@refmcp/boundary/answer";
import { invalidParams, invalidRequest } from "./errors.ts";
import { MAX_SHOWN, show } from "./messages.ts";
import { envelopeProblem } from "./params.ts";
import {
  CODES,
  type Era,
  META,
  type NotificationMessage,
  type RequestMessage,
  type RpcError,
} from "./wire.ts";

/** The features of a protocol revision. Each revision is based on the previous one. */
export interface Revision {
  readonly version: string;
  readonly era: Era;
  readonly batches: boolean;
  /** The id in an error if the request's id is unknown: `null` (JSON-RPC 2.0), or no member (the schema). */
  readonly unknownId: "null" | "absent";
  readonly audio: boolean;
  readonly links: boolean;
  readonly structuredContent: boolean;
  /** What the server may ask the user: nothing, forms, or forms and URLs with a mode. */
  readonly elicitation: "none" | "forms" | "modes";
  readonly samplingTools: boolean;
  readonly icons: boolean;
  /** Whether a client asks for a task with a parameter of its call. */
  readonly taskParameter: boolean;
  /** Whether an event stream may begin with an event without data, from which it can be resumed. */
  readonly primingEvents: boolean;
}

const FIRST: Revision = {
  version: "2024-10-07",
  era: "legacy",
  batches: false,
  unknownId: "null",
  audio: false,
  links: false,
  structuredContent: false,
  elicitation: "none",
  samplingTools: false,
  icons: false,
  taskParameter: false,
  primingEvents: false,
};
const SECOND: Revision = { ...FIRST, version: "2024-11-05" };
const THIRD: Revision = { ...SECOND, version: "2025-03-26", batches: true, audio: true };
const FOURTH: Revision = {
  ...THIRD,
  version: "2025-06-18",
  batches: false,
  links: true,
  structuredContent: true,
  elicitation: "forms",
};
const FIFTH: Revision = {
  ...FOURTH,
  version: "2025-11-25",
  unknownId: "absent",
  elicitation: "modes",
  samplingTools: true,
  icons: true,
  taskParameter: true,
  primingEvents: true,
};
const SIXTH: Revision = {
  ...FIFTH,
  version: "2026-07-28",
  era: "modern",
  taskParameter: false,
  primingEvents: false,
};

const ALL = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH];

export const REVISIONS: ReadonlyMap<string, Revision> = new Map(
  ALL.map((one) => [one.version, one]),
);

const versionsOf = (era: Era): readonly string[] =>
  ALL.filter((one) => one.era === era).map(({ version }) => version);

export const LEGACY_VERSIONS = versionsOf("legacy");
export const MODERN_VERSIONS = versionsOf("modern");

/** For a legacy connection before `initialize` has agreed on a revision: the newest, except for unknown ids. */
export const UNDECIDED: Revision = { ...FIFTH, version: "", unknownId: "null" };

/** @throws TypeError for an unsupported version. */
export function revisionOf(version: string): Revision {
  const revision = REVISIONS.get(version);
  if (revision === undefined) throw new TypeError(`unknown protocol revision ${version}`);
  return revision;
}

/** The revision that `initialize` agrees on: the requested one if supported, otherwise the newest with a handshake. */
export function agreedRevision(requested: unknown): Revision {
  const version = LEGACY_VERSIONS.find((one) => one === requested) ?? LEGACY_VERSIONS.at(-1) ?? "";
  return revisionOf(version);
}

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

  get isLegacy(): boolean {
    return this.#phase === "legacy";
  }

  negotiated(revision: Revision): void {
    this.#phase = "legacy";
    this.#revision = revision;
  }

  /** The revision of a request, or why it is refused. An accepted request may determine the era. */
  admit(message: RequestMessage): Revision | RpcError {
    const { method, params } = message;
    const claim = claimOf(message);
    const refusal =
      claim === undefined
        ? this.#unclaimed(method, params?.protocolVersion)
        : this.#claimed(method, params, claim);
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
  admitsNotification(message: NotificationMessage, cancels: boolean): boolean {
    if (this.#phase === "legacy") return true;
    if (this.#phase !== "modern" && !cancels) return false;
    const claim = claimOf(message);
    return claim === undefined || MODERN_VERSIONS.some((version) => version === claim);
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

/** The version that a message claims in its `_meta`, as modern messages do. */
function claimOf({ params }: RequestMessage | NotificationMessage): unknown {
  const meta = params?._meta;
  return meta !== undefined && Object.hasOwn(meta, META.version) ? meta[META.version] : undefined;
}

/**
 * Whether a message that came over HTTP belongs to the modern era: its body or header names a version in the modern way.
 *
 * @param header `MCP-Protocol-Version`.
 */
export function isModern(
  message: RequestMessage | NotificationMessage,
  header: string | undefined,
): boolean {
  const claim = claimOf(message);
  // A handshake that also names its legacy revision.
  if (message.method === "initialize" && LEGACY_VERSIONS.some((version) => version === claim))
    return false;
  return claim !== undefined || (header !== undefined && MODERN_VERSIONS.includes(header));
}

/**
 * What is wrong with the version of a modern message that came over HTTP: no envelope in the body, an unsupported
 * version, or a header that does not match the body (MCP 2026-07-28, "Streamable HTTP: request headers").
 *
 * @param header `MCP-Protocol-Version`.
 */
export function httpVersionProblem(
  message: RequestMessage | NotificationMessage,
  header: string | undefined,
): RpcError | undefined {
  const { method, params } = message;
  const claim = claimOf(message);
  const isRequest = "id" in message;
  const name = "MCP-Protocol-Version";
  if (isRequest && method === "initialize" && claim === undefined) {
    const body = `the body is an initialize request, which protocol version ${header} does not have`;
    return headerMismatch(name, header, body);
  }
  const problem = isRequest ? envelopeProblem(method, params) : claimProblem(claim);
  if (problem !== undefined)
    return invalidParams(problem.sentence, {
      envelope: { key: problem.key, problem: problem.sentence },
    });
  if (claim !== undefined && header !== undefined && header !== claim)
    return headerMismatch(name, header, `the body names protocol version ${show(claim)}`);
  const effective = claim ?? header;
  if (typeof effective !== "string" || !MODERN_VERSIONS.includes(effective))
    return unsupported(effective);
  return isRequest && header === undefined
    ? headerMismatch(name, header, `the body names protocol version ${effective}`)
    : undefined;
}

function claimProblem(claim: unknown): { key: string; sentence: string } | undefined {
  return claim === undefined || typeof claim === "string"
    ? undefined
    : { key: META.version, sentence: `params._meta["${META.version}"] must be a string.` };
}

/** -32020: a header is missing or does not match the body. */
export function headerMismatch(name: string, value: string | undefined, body: string): RpcError {
  return {
    code: CODES.headerMismatch,
    message:
      value === undefined
        ? `The header ${name} is missing; ${body}.`
        : `The headers and the body disagree: a header says ${show(value)}, but ${body}.`,
    data: { mismatch: { header: clip(value ?? "(missing)", MAX_SHOWN), body } },
  };
}

/**
 * What is wrong with the version of a POST in a session. Only unsupported versions in `MCP-Protocol-Version` are refused
 * (2025-06-18, "Protocol Version Header"): some clients, including the official suite, name an older revision than they
 * negotiated.
 */
export function sessionVersionProblem(
  negotiated: Revision | undefined,
  header: string | undefined,
  isBatch: boolean,
): string | undefined {
  if (header !== undefined && !LEGACY_VERSIONS.includes(header))
    return `The MCP-Protocol-Version header is ${show(header)}, but this session negotiated ${negotiated?.version}.`;
  return isBatch && negotiated?.batches !== true
    ? `Batches are not allowed in protocol version ${negotiated?.version}; send one message per request.`
    : undefined;
}
