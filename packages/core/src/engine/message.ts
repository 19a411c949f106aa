import { clip, grouped } from "@refmcp/boundary/answer";
import { invalidParams, invalidRequest, parseError } from "./errors.ts";
import {
  META,
  type NotificationMessage,
  type Params,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type RpcError,
} from "./wire.ts";

/**
 * A parsed JSON value, classified: a valid message, one to answer with an error, or one that must not be answered (a
 * malformed notification or response).
 */
type Incoming =
  | { readonly kind: "request"; readonly message: RequestMessage }
  | { readonly kind: "notification"; readonly message: NotificationMessage }
  | { readonly kind: "response"; readonly message: ResponseMessage }
  | { readonly kind: "refused"; readonly id: RequestId | undefined; readonly error: RpcError }
  | { readonly kind: "dropped"; readonly why: string };

type JsonObject = Record<string, unknown>;

/**
 * Parses a JSON value as a JSON-RPC 2.0 message with MCP's restrictions: ids are strings or integers (never null),
 * `params` is an object. Unknown members are dropped.
 */
export function readMessage(value: unknown): Incoming {
  if (!isObject(value))
    return refused(undefined, `A message must be a JSON object, not ${show(value)}.`);
  const id = isRequestId(value.id) ? value.id : undefined;
  if (!("method" in value) && ("result" in value || "error" in value))
    return readResponse(value, id);
  if (value.jsonrpc !== "2.0")
    return refused(id, `"jsonrpc" must be "2.0", not ${show(value.jsonrpc)}.`);
  const method = value.method;
  if (typeof method !== "string")
    return refused(id, `"method" must be a string, not ${show(method)}.`);
  if ("id" in value && id === undefined) {
    return refused(
      undefined,
      `"id" must be a string of at most ${grouped(MAX_ID_CHARS)} characters or an integer within ±(2^53 - 1), not ${show(value.id)}.`,
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
    const { _meta: meta } = result;
    if (meta !== undefined && !isObject(meta)) return dropped(`"result._meta" is ${show(meta)}`);
    return { kind: "response", message: { jsonrpc: "2.0", id, result } };
  }
  if (!isObject(error)) return dropped("it has neither a result object nor an error object");
  const { code, message, data } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code))
    return dropped(`"error.code" is ${show(code)}`);
  if (typeof message !== "string") return dropped(`"error.message" is ${show(message)}`);
  const kept = {
    code,
    message: clip(message, MAX_ERROR_CHARS),
    ...(data === undefined ? {} : { data }),
  };
  return { kind: "response", message: { jsonrpc: "2.0", id, error: kept } };
}

function readParams({ params = null }: JsonObject): { params?: Params } | { error: RpcError } {
  if (params === null) return {};
  if (!isObject(params))
    return { error: invalidRequest(`"params" must be an object, not ${show(params)}.`) };
  dropNulls(params, NESTED);
  const { _meta: meta } = params;
  const problem = meta === undefined ? undefined : metaProblem(meta);
  return problem === undefined ? { params } : { error: invalidParams(problem) };
}

/** How deep the members of `params` that the protocol defines are nested. */
const NESTED = 4;
/** Values that belong to tools, prompts and questions, in which null may mean something. */
const FREE: ReadonlySet<string> = new Set(["arguments", "inputResponses"]);

/**
 * Removes members that are null, since many JSON libraries write an absent member as null. A version that is null stays:
 * a request without one belongs to another era.
 */
function dropNulls(value: JsonObject, depth: number): void {
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null && key !== META.version) delete value[key];
    else if (depth > 0 && !FREE.has(key) && isObject(member)) dropNulls(member, depth - 1);
  }
}

/** A problem in the members of `_meta` that every revision has; undefined if there is none. */
function metaProblem(meta: unknown): string | undefined {
  if (!isObject(meta)) return `"params._meta" must be an object, not ${show(meta)}.`;
  const token = meta.progressToken;
  if (token !== undefined && !isRequestId(token))
    return `"params._meta.progressToken" must be a string of at most ${grouped(MAX_ID_CHARS)} characters or an integer, not ${show(token)}.`;
  const task = meta[META.relatedTask];
  if (task !== undefined && !(isObject(task) && typeof task.taskId === "string"))
    return `"params._meta["${META.relatedTask}"]" must be an object with a string "taskId", not ${show(task)}.`;
  return undefined;
}

/** How much of a client's error message is kept; ours may repeat it. */
const MAX_ERROR_CHARS = 1_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Maximum length of an id or progress token, which answers repeat. */
const MAX_ID_CHARS = 1_024;

/** A string or a safe integer: a larger id could not be returned unchanged. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string"
    ? value.length <= MAX_ID_CHARS
    : typeof value === "number" && Number.isSafeInteger(value);
}

/** How much of a client's text a message repeats. */
export const MAX_SHOWN = 80;

/** A short form of a value for a message. */
export function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(typeof value === "string" ? clip(value, MAX_SHOWN) : value);
  return typeof value === "string" && value.length > MAX_SHOWN ? `${text}…` : text;
}

function refused(id: RequestId | undefined, message: string): Incoming {
  return { kind: "refused", id, error: invalidRequest(message) };
}

function dropped(what: string): Incoming {
  return { kind: "dropped", why: `a response, because ${what}` };
}

/** Maximum length of a URI that is matched. */
export const MAX_URI_CHARS = 16_384;

/**
 * Percent-encodes the characters of a client's URI that RFC 3986 does not allow, since answers must contain a valid
 * URI.
 */
export function asUri(text: string): string {
  return encodeURI(text.toWellFormed()).replaceAll("%25", "%");
}

/**
 * Maximum values of a message: items of arrays and members of objects. Within the limit of bytes, a message could have
 * millions, each of which costs memory and work in everything that checks it.
 */
export const MAX_VALUES = 100_000;

/** The value of a message, or why it is refused, and the id to answer with. */
type Parsed =
  | { readonly value: unknown }
  | { readonly error: RpcError; readonly id?: RequestId | undefined };

/** Parses a message or a batch; its values are counted before any of them is created. */
export function parseMessage(text: string): Parsed {
  if (hasTooManyValues(text))
    return {
      id: idOf(text),
      error: invalidRequest(
        `The message has more than ${grouped(MAX_VALUES)} values (array items and object members). Split the request into several.`,
      ),
    };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : "?";
    return { error: parseError(`The message is not JSON: ${why}.`) };
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const END_OF_BRACKET = 0x5d;
const END_OF_BRACE = 0x7d;

/** Counts the commas and opening brackets outside strings: at least one for every value but the first. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MAX_VALUES) return false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) {
      values += 1;
      if (values > MAX_VALUES) return true;
    }
  }
  return false;
}

/** The id of a message that is too large to be parsed, without which its sender would wait for an answer. */
function idOf(text: string): RequestId | undefined {
  const value =
    /\s*:\s*(-?(?:0|[1-9]\d{0,15})|"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*")\s*[,}]/iy;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at;
      at = endOfString(text, start);
      value.lastIndex = at + 1;
      const isId = depth === 1 && at - start === 3 && text.startsWith('"id"', start);
      const id: unknown = isId ? JSON.parse(value.exec(text)?.[1] ?? "null") : undefined;
      if (isRequestId(id)) return id;
    } else if (code === BRACE || code === BRACKET) depth += 1;
    else if (code === END_OF_BRACE || code === END_OF_BRACKET) depth -= 1;
  }
  return undefined;
}

/** Where the string that begins at `start` ends; the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end;
    while (text.charCodeAt(slash - 1) === BACKSLASH) slash -= 1;
    if ((end - slash) % 2 === 0) return end;
  }
  return text.length;
}
