import {
  CLIENT_INFO_META_KEY,
  type JSONRPCErrorResponse,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  LOG_LEVEL_META_KEY,
  ProtocolErrorCode,
  type RequestId,
  type RequestParams,
} from "@modelcontextprotocol/server";

/** The `error` member of a JSON-RPC response. */
export interface RpcError {
  readonly code: number;
  /** One sentence for people. */
  readonly message: string;
  readonly data?: unknown;
}

/**
 * What a parsed JSON value is to a server: a message to pass on, one to answer with an error, or one that may
 * not be answered (a malformed notification or response).
 */
export type Incoming =
  | { readonly kind: "request"; readonly message: JSONRPCRequest }
  | { readonly kind: "notification"; readonly message: JSONRPCNotification }
  | {
      readonly kind: "response";
      readonly id: RequestId;
      readonly message: JSONRPCResultResponse | JSONRPCErrorResponse;
    }
  | { readonly kind: "refused"; readonly id: RequestId | undefined; readonly error: RpcError }
  | { readonly kind: "dropped"; readonly why: string };

type JsonObject = Record<string, unknown>;

/**
 * Reads one JSON value as a JSON-RPC 2.0 message within MCP's limits: ids are strings or integers (never null),
 * `params` is an object. Members that neither knows are left out, since the SDK stays silent on a request that
 * has one.
 */
export function readMessage(value: unknown): Incoming {
  if (!isObject(value)) return refused(undefined, `A message must be a JSON object, not ${show(value)}.`);
  const id = isRequestId(value.id) ? value.id : undefined;
  if (!("method" in value) && ("result" in value || "error" in value)) return readResponse(value, id);
  if (value.jsonrpc !== "2.0") return refused(id, `"jsonrpc" must be "2.0", not ${show(value.jsonrpc)}.`);
  const method = value.method;
  if (typeof method !== "string") return refused(id, `"method" must be a string, not ${show(method)}.`);
  if ("id" in value && id === undefined) {
    return refused(
      undefined,
      `"id" must be a string or an integer within ±(2^53 - 1), not ${show(value.id)}.`,
    );
  }
  const params = readParams(value);
  if (id === undefined) {
    if ("error" in params)
      return { kind: "dropped", why: `notification ${show(method)}: ${params.error.message}` };
    return { kind: "notification", message: { jsonrpc: "2.0", method, ...params } };
  }
  if ("result" in value || "error" in value) {
    return refused(
      id,
      'A message is a request (with "method") or a response (with "result" or "error"), not both.',
    );
  }
  if ("error" in params) return { kind: "refused", id, error: params.error };
  return { kind: "request", message: { jsonrpc: "2.0", id, method, ...params } };
}

function readResponse(value: JsonObject, id: RequestId | undefined): Incoming {
  const { result, error } = value;
  if (value.jsonrpc !== "2.0") return dropped(`"jsonrpc" is ${show(value.jsonrpc)}`);
  if (id === undefined) return dropped(`"id" is ${show(value.id)}`);
  if ("result" in value && "error" in value) return dropped('it has both "result" and "error"');
  if (isObject(result)) {
    const { _meta: meta, ...rest } = result;
    if (meta !== undefined && !isObject(meta)) return dropped(`"result._meta" is ${show(meta)}`);
    return {
      kind: "response",
      id,
      message: { jsonrpc: "2.0", id, result: meta === undefined ? rest : { ...rest, _meta: meta } },
    };
  }
  if (!isObject(error)) return dropped("it has neither a result object nor an error object");
  const { code, message, data } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code))
    return dropped(`"error.code" is ${show(code)}`);
  if (typeof message !== "string") return dropped(`"error.message" is ${show(message)}`);
  const kept = { code, message, ...(data === undefined ? {} : { data }) };
  return { kind: "response", id, message: { jsonrpc: "2.0", id, error: kept } };
}

function readParams(value: JsonObject): { params?: RequestParams } | { error: RpcError } {
  if (!("params" in value)) return {};
  const { params } = value;
  if (!isObject(params)) {
    return { error: invalidRequest(`"params" must be an object, not ${show(params)}.`) };
  }
  dropNullMeta(params);
  const problem = "_meta" in params ? metaProblem(params._meta) : undefined;
  return problem === undefined ? { params } : { error: invalidParams(problem) };
}

const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Optional members of `_meta` that the protocol defines; null counts as absent, as it does for parameters. */
const OPTIONAL_META = ["progressToken", CLIENT_INFO_META_KEY, LOG_LEVEL_META_KEY, RELATED_TASK];

function dropNullMeta(params: JsonObject): void {
  const meta = params._meta;
  if (meta === null) delete params._meta;
  if (isObject(meta)) for (const key of OPTIONAL_META) if (meta[key] === null) delete meta[key];
}

/** What is wrong with `_meta`, of all that the SDK looks at: a message with such a `_meta` it leaves unanswered. */
function metaProblem(meta: unknown): string | undefined {
  if (!isObject(meta)) return `"params._meta" must be an object, not ${show(meta)}.`;
  const token = meta.progressToken;
  if (token !== undefined && !isRequestId(token)) {
    return `"params._meta.progressToken" must be a string or an integer, not ${show(token)}.`;
  }
  const task = meta[RELATED_TASK];
  if (task !== undefined && !(isObject(task) && typeof task.taskId === "string")) {
    return `"params._meta["${RELATED_TASK}"]" must be an object with a string "taskId", not ${show(task)}.`;
  }
  return undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string, or an integer that a double holds exactly: beyond, an id could not come back unchanged. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/** A value in a sentence: short, and never a whole document. */
export function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, 80) : value);
  return typeof value === "string" && value.length > 80 ? `${text}…` : text;
}

export function invalidRequest(message: string): RpcError {
  return { code: ProtocolErrorCode.InvalidRequest, message };
}

export function invalidParams(message: string): RpcError {
  return { code: ProtocolErrorCode.InvalidParams, message };
}

export function internalError(message: string): RpcError {
  return { code: ProtocolErrorCode.InternalError, message };
}

function refused(id: RequestId | undefined, message: string): Incoming {
  return { kind: "refused", id, error: invalidRequest(message) };
}

function dropped(what: string): Incoming {
  return { kind: "dropped", why: `a response, because ${what}` };
}

/** The revisions whose schema requires an `id` in an error; JSON-RPC 2.0 then says null where it is unknown. */
const NULL_ID_REVISIONS: ReadonlySet<string | undefined> = new Set([
  undefined,
  "2024-10-07",
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
]);

/**
 * An error response as JSON text.
 *
 * Where the id of the request is unknown, the schemas of 2025-11-25 and later want the member left out (`id?:
 * string | integer`), which JSON-RPC 2.0 does not know. The earlier ones have no form for it at all (`id` is
 * required and never null), so there, and before a revision is agreed on, JSON-RPC 2.0 section 5 holds: null.
 *
 * @param version the protocol revision in force, if one is.
 */
export function errorText(id: RequestId | undefined, error: RpcError, version: string | undefined): string {
  if (id !== undefined) return JSON.stringify({ jsonrpc: "2.0", id, error });
  return NULL_ID_REVISIONS.has(version)
    ? JSON.stringify({ jsonrpc: "2.0", id: null, error })
    : JSON.stringify({ jsonrpc: "2.0", error });
}

const ID = String.raw`(-?\d{1,16}|"(?:[^"\\]|\\.)*")`;
const JSONRPC = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*`;
const METHOD = String.raw`"method"\s*:\s*"[^"\\]*"\s*`;
/** The orders in which clients write a request: id before params (most), or id at the end (the TypeScript SDK). */
const ID_FIRST = new RegExp(
  String.raw`^\s*\{\s*(?:${JSONRPC},\s*)?(?:${METHOD},\s*"id"\s*:\s*${ID}\s*,|"id"\s*:\s*${ID}\s*,\s*(?:${JSONRPC},\s*)?${METHOD},)`,
);
const METHOD_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${JSONRPC},\s*)?${METHOD},`);
const ID_LAST = new RegExp(String.raw`,\s*(?:${JSONRPC},\s*)?"id"\s*:\s*${ID}\s*(?:,\s*${JSONRPC})?\}\s*$`);

/**
 * The id of a request of which only both ends are known; undefined unless it surely is the id of a request, since
 * an answer to a wrong id would be taken for the answer to another request.
 */
export function recoverId(start: string, end: string): RequestId | undefined {
  const found = ID_FIRST.exec(start) ?? (METHOD_FIRST.test(start) ? ID_LAST.exec(end) : null);
  const text = found?.[1] ?? found?.[2];
  if (text === undefined || text.includes("\ufffd")) return undefined;
  try {
    const id: unknown = JSON.parse(text);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
