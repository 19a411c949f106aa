import type { IncomingHttpHeaders } from "node:http";
import { clip } from "@refmcp/boundary/answer";
import { unsupported } from "../../protocol/era.ts";
import { invalidParams } from "../../protocol/errors.ts";
import { MAX_SHOWN, show } from "../../protocol/messages.ts";
import { envelopeProblem } from "../../protocol/params.ts";
import { LEGACY_VERSIONS, MODERN_VERSIONS } from "../../protocol/revisions.ts";
import {
  CODES,
  META,
  type NotificationMessage,
  type RequestMessage,
  type RpcError,
} from "../../protocol/wire.ts";

/** The parameter that the header `Mcp-Name` repeats (MCP 2026-07-28, "Standard request headers"). */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** A header's value, trimmed; undefined if it is missing. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

/** Whether a POST belongs to the modern era: its body or header names a protocol version in the modern way. */
export function isModern(
  headers: IncomingHttpHeaders,
  message: RequestMessage | NotificationMessage,
): boolean {
  const named = headerOf(headers, "mcp-protocol-version");
  const claim = claimOf(message);
  // A handshake that also names its legacy revision.
  if (message.method === "initialize" && LEGACY_VERSIONS.some((version) => version === claim)) return false;
  return claim !== undefined || (named !== undefined && MODERN_VERSIONS.includes(named));
}

function claimOf({ params }: RequestMessage | NotificationMessage): unknown {
  const meta = params?._meta;
  return meta !== undefined && Object.hasOwn(meta, META.version) ? meta[META.version] : undefined;
}

/**
 * Why a message of the modern era is refused with status 400: no envelope in the body, an unsupported version, or
 * headers that do not match the body (MCP 2026-07-28, "Streamable HTTP: request headers").
 */
export function headerProblem(
  headers: IncomingHttpHeaders,
  message: RequestMessage | NotificationMessage,
): RpcError | undefined {
  const { method } = message;
  const claim = claimOf(message);
  const version = headerOf(headers, "mcp-protocol-version");
  const isRequest = "id" in message;
  if (isRequest && method === "initialize" && claim === undefined)
    return mismatch(
      version,
      `the body is an initialize request, which protocol version ${version} does not have`,
    );
  if (isRequest || claim !== undefined) {
    const problem = isRequest ? envelopeProblem(method, message.params) : notAVersion(claim);
    if (problem !== undefined)
      return invalidParams(problem.sentence, { envelope: { key: problem.key, problem: problem.sentence } });
    if (version !== undefined && version !== claim)
      return mismatch(version, `the body names protocol version ${show(claim)}`);
  }
  const named = headerOf(headers, "mcp-method");
  if (named !== undefined && named !== method)
    return mismatch(named, `the body names method ${show(method)}`);
  const effective = claim ?? version;
  if (typeof effective !== "string" || !MODERN_VERSIONS.includes(effective)) return unsupported(effective);
  if (!isRequest) return undefined;
  if (version === undefined)
    return missing("MCP-Protocol-Version", `the body names protocol version ${effective}`);
  if (named === undefined) return missing("Mcp-Method", `the body names method ${show(method)}`);
  return nameProblem(headers, message);
}

function notAVersion(claim: unknown): { key: string; sentence: string } | undefined {
  return typeof claim === "string"
    ? undefined
    : { key: META.version, sentence: `params._meta["${META.version}"] must be a string.` };
}

function nameProblem(headers: IncomingHttpHeaders, { method, params }: RequestMessage): RpcError | undefined {
  const parameter = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const value = parameter === undefined ? undefined : params?.[parameter];
  const given = headerOf(headers, "mcp-name");
  if (parameter === undefined || (given === undefined && typeof value !== "string")) return undefined;
  const body = `the body has params.${parameter} = ${show(value)}`;
  if (given === undefined) return missing("Mcp-Name", body);
  const name = decoded(given);
  if (name === undefined) return mismatch(given, "its Base64 encoding is invalid");
  return typeof value === "string" && name !== value ? mismatch(given, body) : undefined;
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

function mismatch(header: string | undefined, body: string): RpcError {
  return {
    code: CODES.headerMismatch,
    message: `The headers and the body disagree: a header says ${show(header ?? "")}, but ${body}.`,
    data: { mismatch: { header: clip(header ?? "(missing)", MAX_SHOWN), body } },
  };
}

function missing(name: string, body: string): RpcError {
  return {
    code: CODES.headerMismatch,
    message: `The header ${name} is missing; ${body}.`,
    data: { mismatch: { header: "(missing)", body } },
  };
}
