import { clip, HARD_ANSWER_CHARS, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { Log } from "../log.ts";
import { CODES, type RequestId, type RpcError } from "./wire.ts";

/** An error that ends a request with a JSON-RPC error. Its message never exceeds the hard limit of an answer. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  readonly rpc: RpcError;

  constructor(rpc: RpcError) {
    super(rpc.message);
    this.rpc = { ...rpc, message: clip(rpc.message, HARD_ANSWER_CHARS) };
  }
}

const rpcError =
  (code: keyof typeof CODES) =>
  (message: string, data?: unknown): RpcError => ({
    code: CODES[code],
    message,
    ...(data === undefined ? {} : { data }),
  });
export const parseError = rpcError("parseError");
export const invalidRequest = rpcError("invalidRequest");
export const invalidParams = rpcError("invalidParams");
export const internalError = rpcError("internalError");
export const METHOD_NOT_FOUND = rpcError("methodNotFound")("Method not found");

/** How much of a URI an error repeats: percent-encoded, the longest has 147,000 characters. */
const MAX_SHOWN_URI = 1_000;

/** -32602 with the URI (MCP, "Resources: error handling"). */
export function resourceNotFound(uri: string, message?: string): ProtocolError {
  const shortUri = clip(uri, MAX_SHOWN_URI);
  const text = message ?? `Resource not found: ${shortUri}`;
  return new ProtocolError(invalidParams(text, { uri: shortUri }));
}

/** Refuses any cursor for a list with a single page, which issues none. */
export function refuseCursor(cursor: unknown): void {
  if (cursor === undefined) return;
  throw new ProtocolError(invalidParams("Unknown cursor. This list has one page; omit cursor."));
}

/**
 * Logs an internal error with a new id, and returns an error that shows the caller only this id.
 *
 * @param where a tool's name, or a method.
 */
export function faultError(where: string, error: unknown, log: Log): ToolError {
  const id = crypto().randomBytes(4).toString("hex");
  log.error(`fault ${id} in ${where}: ${describeError(error)}`);
  return new ToolError("unavailable", `${where}: internal error (id ${id}).`, {
    hint: "The arguments are not the cause. The server's stderr log has the details under this id. Another approach may work.",
  });
}

export function describeError(error: unknown): string {
  if (error instanceof Error) return error.stack ?? error.message;
  // String() throws for an object without a prototype.
  return typeof error === "object" ? "an object that is not an Error" : String(error);
}

/** Converts what a handler threw to the error of a response. @param uri the requested resource. */
export function protocolError(error: unknown, where: string, log: Log, uri?: string) {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof ToolError))
    return new ProtocolError(internalError(faultError(where, error, log).message));
  const text = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  if (error.kind === "not_found" && uri !== undefined) return resourceNotFound(uri, text);
  const isServerFault = ["unavailable", "timeout", "cancelled"].includes(error.kind);
  const data = { kind: error.kind, uri: uri === undefined ? uri : clip(uri, MAX_SHOWN_URI) };
  return new ProtocolError((isServerFault ? internalError : invalidParams)(text, data));
}

/**
 * An error response as JSON text. An unknown id is null (JSON-RPC 2.0, section 5), except in 2025-11-25 and later: their
 * schemas omit the member (`id?: string | integer`).
 *
 * @param version the current protocol version, if any.
 */
export function errorText(id: RequestId | undefined, error: RpcError, version = ""): string {
  const missingId = version >= "2025-11-25" ? undefined : null;
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? missingId, error });
}
