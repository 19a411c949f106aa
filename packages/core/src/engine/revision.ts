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

/** The features of a protocol revision. */
export type Revision = ReturnType<typeof revisionFor>;

function revisionFor(version: string) {
  const era: Era = version < "2026" ? "legacy" : "modern";
  const asks: "forms" | "modes" = version < "2025-11-25" ? "forms" : "modes";
  return {
    version,
    era,
    batches: version === "2025-03-26",
    audio: version >= "2025-03-26",
    links: version >= "2025-06-18",
    structuredContent: version >= "2025-06-18",
    /** What the server may ask the user: nothing, forms, or forms and URLs with a mode. */
    elicitation: version < "2025-06-18" ? ("none" as const) : asks,
    icons: version >= "2025-11-25",
    /** Whether a client asks for a task with a parameter of its call. */
    taskParameter: version === "2025-11-25",
  };
}

export const LEGACY_VERSIONS = "2024-10-07 2024-11-05 2025-03-26 2025-06-18 2025-11-25".split(" ");
export const MODERN_VERSIONS = ["2026-07-28"];
export const REVISIONS: ReadonlyMap<string, Revision> = new Map(
  [...LEGACY_VERSIONS, ...MODERN_VERSIONS].map((version) => [version, revisionFor(version)]),
);
const eraOf = (version: unknown): Era | undefined => REVISIONS.get(String(version))?.era;
/** The newest one with a handshake. */
const NEWEST = revisionFor("2025-11-25");
/** For a connection with a handshake before `initialize` has agreed on a revision. */
const BEFORE_INITIALIZE: Revision = { ...NEWEST, version: "" };
/** What a client without the header is taken for (MCP 2025-06-18, "Protocol Version Header"). */
const WITHOUT_HEADER = revisionFor("2025-03-26");

/** The revision that `initialize` agrees on: the requested one if supported, otherwise the newest with a handshake. */
export function agreedRevision(version: unknown): Revision {
  const revision = REVISIONS.get(String(version));
  return revision?.era === "legacy" ? revision : NEWEST;
}

/** What a connection or session has shown of its version so far. */
export interface Dialogue {
  /** Undefined until a request determines it. `server/discover` does not: its client may continue in either era. */
  era: Era | undefined;
  /** The negotiated revision, or that of the last modern request. */
  revision: Revision | undefined;
}

type Message = RequestMessage | NotificationMessage;

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
 */
export function revisionOf(message: Message, dialogue: Dialogue, http?: HttpFacts) {
  if (http !== undefined)
    return isModern(message, http)
      ? modernRevision(message, http)
      : (sessionProblem(dialogue, http) ?? currentRevision(dialogue, http));
  const { era, revision = BEFORE_INITIALIZE } = dialogue;
  const { method, params } = message;
  const claim = claimOf(message);
  // Repeating the negotiated version is harmless, but a modern request would get a legacy answer.
  if (era === "legacy")
    return claim === undefined || claim === revision.version || !("id" in message)
      ? revision
      : eraOf(claim) === "modern"
        ? invalidRequest(
            `This connection was opened for an earlier protocol version. Omit _meta["${META.version}"], or restart the server for ${claim}.`,
          )
        : unsupportedVersion(claim);
  if (!("id" in message)) {
    // Only a request can determine the era, so earlier notifications are ignored.
    if (era === undefined) return invalidRequest("no request has opened the connection");
    return claim === undefined || eraOf(claim) === "modern" ? revision : unsupportedVersion(claim);
  }
  const isHandshake = method === "initialize" && (claim === undefined || eraOf(claim) === "legacy");
  if (claim !== undefined && !isHandshake) {
    const claimedRevision = modernRevision(message, undefined);
    if ("code" in claimedRevision || method === "initialize") return claimedRevision;
    if (method !== "server/discover") dialogue.era = "modern";
    dialogue.revision = claimedRevision;
    return claimedRevision;
  }
  if (era === "modern" && isHandshake) return unsupportedVersion(params?.protocolVersion);
  const isProbing = dialogue.revision !== undefined;
  if (
    era === "modern" ||
    MODERN_ONLY.has(method) ||
    (isProbing && !isHandshake && method !== "ping")
  )
    return invalidParams(
      `${clip(method, MAX_SHOWN)}: params._meta["${META.version}"] is missing; it must name the protocol version, for example "${MODERN_VERSIONS[0]}".`,
    );
  dialogue.era = "legacy";
  dialogue.revision = undefined;
  return BEFORE_INITIALIZE;
}

/** Methods that only the modern era has; without a version, they are a modern client's mistake. */
const MODERN_ONLY: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);

/** Why a batch is refused: only 2025-03-26 has them. */
export function batchProblem(dialogue: Dialogue, http?: HttpFacts): RpcError | undefined {
  const current = http === undefined ? dialogue.revision : currentRevision(dialogue, http);
  return current?.batches === true
    ? undefined
    : invalidRequest(`Only protocol version 2025-03-26 has batches; send single messages.`);
}

/** Whether a body that came over HTTP is modern: it or its header names a version in the modern way. */
export function isModern(body: unknown, { version }: HttpFacts): boolean {
  const message: Partial<RequestMessage> = Object(body);
  const claim = claimOf(message);
  // A handshake that also names its revision in _meta.
  if (message.method === "initialize" && eraOf(claim) === "legacy") return false;
  return claim !== undefined || eraOf(version) === "modern";
}

/** The revision that a modern message names, or why it is refused. */
function modernRevision(message: Message, http?: HttpFacts): Revision | RpcError {
  const header = http?.version;
  const claim = claimOf(message);
  const isRequest = "id" in message;
  const problem = isRequest ? envelopeProblem(message) : undefined;
  if (problem !== undefined) return problem;
  const version = claim ?? header;
  const revision = REVISIONS.get(String(version));
  if (http !== undefined && header !== version && (isRequest || header !== undefined))
    return headerMismatch("MCP-Protocol-Version", header, `the body names ${show(version)}`);
  if (revision?.era !== "modern") return unsupportedVersion(version);
  return (http === undefined ? undefined : headerProblem(message, http)) ?? revision;
}

/** The parameter that the header `Mcp-Name` repeats (MCP 2026-07-28, "Standard request headers"; SEP-2663). */
function nameOf(method: string): string | undefined {
  if (method === "tools/call" || method === "prompts/get") return "name";
  if (method === "resources/read") return "uri";
  return /^tasks\/(?:get|update|cancel)$/.test(method) ? "taskId" : undefined;
}

/** Whether `Mcp-Method` and `Mcp-Name` are missing or do not match the body of a modern message. */
function headerProblem(message: Message, http: HttpFacts): RpcError | undefined {
  const { method, params } = message;
  if (http.method === undefined ? "id" in message : http.method !== method)
    return headerMismatch("Mcp-Method", http.method, `the body names method ${show(method)}`);
  const parameter = nameOf(method);
  if (parameter === undefined || !("id" in message)) return undefined;
  const value = params?.[parameter];
  if (typeof value !== "string" || decodeHeader(http.name) === value) return undefined;
  return headerMismatch("Mcp-Name", http.name, `the body has params.${parameter} = ${show(value)}`);
}

/** Decodes a header's value, which is written as `=?base64?…?=` if it has non-ASCII characters. */
function decodeHeader(value = ""): string | undefined {
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
export function sessionProblem({ revision }: Dialogue, { version }: HttpFacts) {
  if (version === undefined || eraOf(version) === "legacy") return undefined;
  const valid = revision?.version ?? LEGACY_VERSIONS.join(", ");
  return invalidRequest(`The MCP-Protocol-Version header is ${show(version)}, expected ${valid}.`);
}

/** The revision of a session, or that of a client without one, which its header names. */
function currentRevision({ revision }: Dialogue, { version }: HttpFacts): Revision {
  return revision ?? REVISIONS.get(version ?? "") ?? WITHOUT_HEADER;
}

/** -32022 (MCP 2026-07-28, "Unsupported protocol version"). */
function unsupportedVersion(version: unknown): RpcError {
  const message = `Protocol version ${show(version)} is not supported; supported: ${MODERN_VERSIONS.join(", ")}.`;
  const versionData = typeof version === "string" ? { requested: clip(version, MAX_SHOWN) } : {};
  const data = { supported: MODERN_VERSIONS, ...versionData };
  return { code: CODES.unsupportedVersion, message, data };
}

/** The version that a message claims in its `_meta`, as modern messages do. */
function claimOf({ params }: Pick<Partial<RequestMessage>, "params">): unknown {
  const meta = params?._meta ?? {};
  return Object.hasOwn(meta, META.version) ? meta[META.version] : undefined;
}

/** -32020: a header is missing or does not match the body. */
function headerMismatch(name: string, value: string | undefined, body: string): RpcError {
  const header = clip(value ?? "(missing)", MAX_SHOWN);
  const message = `The header ${name} is ${show(value)}, but ${body}.`;
  return { code: CODES.headerMismatch, message, data: { mismatch: { header, body } } };
}
