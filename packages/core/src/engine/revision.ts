import { clip } from "@refmcp/boundary/answer";
import { invalidParams, invalidRequest } from "./errors.ts";
import { MAX_SHOWN, show } from "./message.ts";
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
  ALL.map((revision) => [revision.version, revision]),
);

const versionsOf = (era: Era): readonly string[] =>
  ALL.filter((revision) => revision.era === era).map(({ version }) => version);

export const LEGACY_VERSIONS = versionsOf("legacy");
export const MODERN_VERSIONS = versionsOf("modern");

/** For a connection with a handshake before `initialize` has agreed on a revision: the newest one. */
const UNDECIDED: Revision = { ...FIFTH, version: "" };
/** The revision of a client that names none in its HTTP header (MCP 2025-06-18, "Protocol Version Header"). */
const WITHOUT_HEADER = THIRD;

/** The revision that `initialize` agrees on: the requested one if supported, otherwise the newest with a handshake. */
export function agreedRevision(requested: unknown): Revision {
  const revision = REVISIONS.get(String(requested));
  return revision?.era === "legacy" ? revision : FIFTH;
}

/**
 * What a connection or session has shown of its version so far.
 *
 * - `open`: no request has determined the era yet.
 * - `probe`: `server/discover` was answered; the client may continue in either era.
 * - `legacy`, `modern`: decided.
 */
export interface Dialogue {
  phase: "open" | "probe" | "legacy" | "modern";
  /** The negotiated revision, or that of the last modern request. */
  revision: Revision | undefined;
}

/** The headers with which an HTTP request describes its message (MCP 2026-07-28, "Standard request headers"). */
export interface HttpFacts {
  /** `MCP-Protocol-Version`. */
  readonly version: string | undefined;
  /** `Mcp-Method`. */
  readonly method?: string | undefined;
  /** `Mcp-Name`. */
  readonly name?: string | undefined;
}

/**
 * The revision that a message belongs to, or why it is refused; the only place that judges a version. An accepted
 * request of a connection may determine its era.
 *
 * Every modern message is accepted or refused by its own version (MCP 2026-07-28, "Versioning"), which HTTP repeats in a
 * header ("Streamable HTTP: request headers"). Other messages belong to the revision of their handshake.
 *
 * @param http undefined for a connection, on which earlier messages count.
 * @param isModernMethod whether this server has the method in the modern era.
 */
export function revisionOf(
  message: RequestMessage | NotificationMessage,
  dialogue: Dialogue,
  http: HttpFacts | undefined,
  isModernMethod: (method: string) => boolean,
): Revision | RpcError {
  if (http !== undefined)
    return isModern(message, http)
      ? modernOverHttp(message, http)
      : (sessionProblem(dialogue, http) ?? currentRevision(dialogue, http));
  if (!("id" in message)) return ofNotification(message, dialogue);
  const claim = claimOf(message);
  const { method, params } = message;
  const refusal =
    claim === undefined
      ? unclaimed(method, params?.protocolVersion, dialogue, isModernMethod)
      : claimed(method, params, claim, dialogue);
  return refusal ?? dialogue.revision ?? UNDECIDED;
}

/** Why a batch is refused: only 2025-03-26 has them. */
export function batchProblem(
  { revision }: Pick<Dialogue, "revision">,
  http: HttpFacts | undefined,
): RpcError | undefined {
  const current = http === undefined ? revision : currentRevision({ revision }, http);
  if (current?.batches === true) return undefined;
  const now =
    current === undefined
      ? "before initialize has negotiated a version"
      : `in protocol version ${current.version}`;
  const advice = `send one message per ${http === undefined ? "line" : "request"}`;
  return invalidRequest(`Batches are not allowed ${now}; ${advice}.`);
}

/** Why a response of the client is refused: only revisions with a handshake let the server ask. */
export function responseProblem(http: HttpFacts | undefined): RpcError | undefined {
  const version = http?.version ?? "";
  if (!MODERN_VERSIONS.includes(version)) return undefined;
  return invalidRequest(
    `The server asks nothing in protocol version ${version}, so no response is expected.`,
  );
}

/** Whether a body that came over HTTP is modern: it or its header names a version in the modern way. */
export function isModern(body: unknown, { version }: HttpFacts): boolean {
  const message: Partial<RequestMessage> = Object(body);
  const claim = claimOf(message);
  // A handshake that also names its revision in _meta.
  if (message.method === "initialize" && LEGACY_VERSIONS.some((known) => known === claim))
    return false;
  return claim !== undefined || (version !== undefined && MODERN_VERSIONS.includes(version));
}

function modernOverHttp(
  message: RequestMessage | NotificationMessage,
  http: HttpFacts,
): Revision | RpcError {
  const { method, params } = message;
  const { version: header } = http;
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
  const revision = REVISIONS.get(String(effective));
  if (revision?.era !== "modern") return unsupported(effective);
  if (isRequest && header === undefined)
    return headerMismatch(name, header, `the body names protocol version ${revision.version}`);
  return headerProblem(message, http) ?? revision;
}

/** The parameter that the header `Mcp-Name` repeats (MCP 2026-07-28, "Standard request headers"; SEP-2663). */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Whether `Mcp-Method` and `Mcp-Name` are missing or do not match the body of a modern message. */
function headerProblem(
  message: RequestMessage | NotificationMessage,
  http: HttpFacts,
): RpcError | undefined {
  const { method, params } = message;
  if (http.method === undefined ? "id" in message : http.method !== method)
    return headerMismatch("Mcp-Method", http.method, `the body names method ${show(method)}`);
  const parameter = NAMED_BY.get(method);
  if (parameter === undefined || !("id" in message)) return undefined;
  const value = params?.[parameter];
  const name = http.name === undefined ? undefined : decoded(http.name);
  if (http.name !== undefined && name === undefined)
    return headerMismatch("Mcp-Name", http.name, "its Base64 encoding is invalid");
  if (typeof value !== "string" || name === value) return undefined;
  return headerMismatch("Mcp-Name", http.name, `the body has params.${parameter} = ${show(value)}`);
}

/** Decodes a header's value, which is written as `=?base64?…?=` if it has non-ASCII characters. */
function decoded(value: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/s.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === base64.replace(/=+$/, "")
    ? bytes.toString("utf8")
    : undefined;
}

/**
 * Why an HTTP request of a client with a handshake is refused. Only unsupported versions in the header are (MCP
 * 2025-06-18, "Protocol Version Header"): some clients, including the official suite, name an older revision than they
 * negotiated.
 */
export function sessionProblem(
  { revision }: Pick<Dialogue, "revision">,
  { version }: HttpFacts,
): RpcError | undefined {
  if (version === undefined || LEGACY_VERSIONS.includes(version)) return undefined;
  const expected =
    revision === undefined
      ? `this server supports ${LEGACY_VERSIONS.join(", ")}`
      : `this session negotiated ${revision.version}`;
  return invalidRequest(`The MCP-Protocol-Version header is ${show(version)}, but ${expected}.`);
}

/** The revision of a session, or that of a client without one, which its header names. */
function currentRevision(
  { revision }: Pick<Dialogue, "revision">,
  { version }: HttpFacts,
): Revision {
  return revision ?? REVISIONS.get(version ?? "") ?? WITHOUT_HEADER;
}

/** Only a request can determine the era, so earlier notifications are ignored. */
function ofNotification(message: NotificationMessage, dialogue: Dialogue): Revision | RpcError {
  const { phase, revision = UNDECIDED } = dialogue;
  if (phase === "legacy") return revision;
  const cancels = message.method === "notifications/cancelled";
  if (phase === "open" || (phase === "probe" && !cancels))
    return invalidRequest("no request has opened the connection");
  const claim = claimOf(message);
  return claim === undefined || MODERN_VERSIONS.some((version) => version === claim)
    ? revision
    : unsupported(claim);
}

/** Methods that only the modern era has; without a version, they are a modern client's mistake. */
const MODERN_ONLY: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);

/** Why a connection refuses a request that names a version in its `_meta`. */
function claimed(
  method: string,
  params: unknown,
  claim: unknown,
  dialogue: Dialogue,
): RpcError | undefined {
  if (typeof claim !== "string")
    return invalidParams(`params._meta["${META.version}"] must be a string, not ${show(claim)}.`);
  const revision = REVISIONS.get(claim);
  const isSupported = revision?.era === "modern";
  if (dialogue.phase === "legacy") {
    // Repeating the negotiated version is harmless, but a modern request would get a legacy answer.
    if (claim === dialogue.revision?.version) return undefined;
    if (!isSupported) return unsupported(claim);
    const opened =
      dialogue.revision === undefined
        ? "without a protocol version"
        : `with initialize, for ${dialogue.revision.version}`;
    return invalidRequest(
      `This connection was opened ${opened}. Omit _meta["${META.version}"], or restart the server for ${claim}.`,
    );
  }
  if (method === "initialize") {
    if (isSupported)
      return {
        code: CODES.methodNotFound,
        message: `Protocol version ${claim} has no initialize. Send it without _meta["${META.version}"] for an earlier one.`,
        data: { supported: MODERN_VERSIONS },
      };
    // A handshake that also names its revision in _meta.
    if (revision !== undefined) return unclaimed(method, undefined, dialogue, () => true);
  }
  if (!isSupported) return unsupported(claim);
  const problem = envelopeProblem(method, params);
  if (problem !== undefined) return invalidParams(problem.sentence);
  if (method !== "server/discover") dialogue.phase = "modern";
  else if (dialogue.phase === "open") dialogue.phase = "probe";
  dialogue.revision = revision;
  return undefined;
}

/** Why a connection refuses a request that names no version. */
function unclaimed(
  method: string,
  requested: unknown,
  dialogue: Dialogue,
  isModernMethod: (method: string) => boolean,
): RpcError | undefined {
  if (dialogue.phase === "legacy") return undefined;
  if (dialogue.phase !== "modern") return opensLegacy(method, dialogue);
  if (method === "initialize") return unsupported(requested);
  // The error for an unknown method takes precedence over a missing version.
  return isModernMethod(method) ? missingClaim(method) : undefined;
}

function opensLegacy(method: string, dialogue: Dialogue): RpcError | undefined {
  const opens = dialogue.phase === "open" || method === "initialize" || method === "ping";
  if (MODERN_ONLY.has(method) || !opens) return missingClaim(method);
  dialogue.phase = "legacy";
  dialogue.revision = undefined;
  return undefined;
}

function missingClaim(method: string): RpcError {
  return invalidParams(
    `${clip(method, MAX_SHOWN)}: params._meta["${META.version}"] is missing; it must name the protocol version, for example "${MODERN_VERSIONS[0]}".`,
  );
}

/** -32022 (MCP 2026-07-28, "Unsupported protocol version"). */
function unsupported(requested: unknown): RpcError {
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
function claimOf({ params }: Pick<Partial<RequestMessage>, "params">): unknown {
  const meta = params?._meta ?? {};
  return Object.hasOwn(meta, META.version) ? meta[META.version] : undefined;
}

function claimProblem(claim: unknown): { key: string; sentence: string } | undefined {
  return claim === undefined || typeof claim === "string"
    ? undefined
    : { key: META.version, sentence: `params._meta["${META.version}"] must be a string.` };
}

/** -32020: a header is missing or does not match the body. */
function headerMismatch(name: string, value: string | undefined, body: string): RpcError {
  return {
    code: CODES.headerMismatch,
    message:
      value === undefined
        ? `The header ${name} is missing; ${body}.`
        : `The headers and the body disagree: a header says ${show(value)}, but ${body}.`,
    data: { mismatch: { header: clip(value ?? "(missing)", MAX_SHOWN), body } },
  };
}
