import { clip, digits, shorten } from "@refmcp/boundary/answer";
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
type ReadResult =
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
export function readMessage(value: unknown): ReadResult {
  if (!isObject(value))
    return refusal(undefined, `A message must be a JSON object, not ${show(value)}.`);
  const id = isRequestId(value.id) ? value.id : undefined;
  const { jsonrpc, method } = value;
  const isResponse = "result" in value || "error" in value;
  if (isResponse && !("method" in value)) return readResponse(value, id);
  if (jsonrpc !== "2.0") return refusal(id, `"jsonrpc" must be "2.0", not ${show(jsonrpc)}.`);
  if (typeof method !== "string")
    return refusal(id, `"method" must be a string, not ${show(method)}.`);
  if ("id" in value && id === undefined)
    return refusal(id, `"id" must ${AN_ID}, not ${show(value.id)}.`);
  const params = readParams(value);
  if (id === undefined) {
    if ("code" in params)
      return { kind: "dropped", why: `notification ${show(method)}: ${params.message}` };
    return { kind: "notification", message: { jsonrpc, method, ...params } };
  }
  if (isResponse) return refusal(id, 'A message with "method" cannot have "result" or "error".');
  if ("code" in params) return { kind: "refused", id, error: params };
  return { kind: "request", message: { jsonrpc, id, method, ...params } };
}

function readResponse(value: JsonObject, id: RequestId | undefined): ReadResult {
  const { jsonrpc, result, error } = value;
  const { code, message, data } = Object(error);
  const isError = Number.isSafeInteger(code) && typeof message === "string" && result === undefined;
  const isResult = isObject(result) && isObject(result._meta ?? {}) && error === undefined;
  if (jsonrpc === "2.0" && id !== undefined && isResult)
    return { kind: "response", message: { jsonrpc, id, result } };
  if (jsonrpc === "2.0" && id !== undefined && isError) {
    const text = clip(message, MAX_ERROR_CHARS);
    return { kind: "response", message: { jsonrpc, id, error: { code, message: text, data } } };
  }
  const rule =
    "it must have an id, and either a result object or an error with a code and a message";
  return { kind: "dropped", why: `a response, because ${rule}` };
}

function readParams({ params = null }: JsonObject): { params?: Params } | RpcError {
  if (params === null) return {};
  if (!isObject(params)) return invalidRequest(`"params" must be an object, not ${show(params)}.`);
  dropNulls(params, MAX_PARAM_DEPTH);
  const { _meta: meta = {} } = params;
  if (!isObject(meta)) return invalidParams(`"params._meta" must be an object, not ${show(meta)}.`);
  const { progressToken: token } = meta;
  if (token !== undefined && !isRequestId(token))
    return invalidParams(`"params._meta.progressToken" must ${AN_ID}, not ${show(token)}.`);
  return { params };
}

/** How deep the members of `params` that the protocol defines are nested. */
const MAX_PARAM_DEPTH = 4;
/** Values that belong to tools, prompts and questions, in which null may mean something. */
const UNCHECKED: ReadonlySet<string> = new Set(["arguments", "inputResponses"]);

/**
 * Removes members that are null, since many JSON libraries write an absent member as null. A version that is null stays:
 * a request without one belongs to another era.
 */
function dropNulls(value: JsonObject, depth: number): void {
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null && key !== META.version) delete value[key];
    else if (depth > 0 && !UNCHECKED.has(key) && isObject(member)) dropNulls(member, depth - 1);
  }
}

/** How much of a client's error message is kept; ours may repeat it. */
const MAX_ERROR_CHARS = 1_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Maximum length of an id or progress token, which answers repeat. */
const MAX_ID_CHARS = 1_024;
const AN_ID = `be a string of at most ${digits(MAX_ID_CHARS)} characters or an integer within ±(2^53 - 1)`;

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
  return JSON.stringify(typeof value === "string" ? shorten(value, MAX_SHOWN + 1) : value);
}

function refusal(id: RequestId | undefined, message: string): ReadResult {
  return { kind: "refused", id, error: invalidRequest(message) };
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
 * millions, and each costs memory and work in everything that checks it.
 */
export const MAX_VALUES = 100_000;

/** The value of a message, or why it is refused and the id to answer with. */
type ParseResult = { value: unknown } | { error: RpcError; id?: RequestId | undefined };

/** The id of a message that is too large to be parsed, if it is its first or last member. */
function idOf(text: string): RequestId | undefined {
  const id = (FIRST_ID.exec(text.slice(0, 2_048)) ?? LAST_ID.exec(text.slice(-2_048)))?.[1];
  return id === undefined ? undefined : JSON.parse(id);
}

const ID = String.raw`"id"\s*:\s*(-?(?:0|[1-9]\d{0,14})|"(?:[ !#-[\]-\uffff]|\\["\\/])*")\s*`;
const FIRST_ID = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}[,}]`);
const LAST_ID = new RegExp(String.raw`${ID}\}\s*$`);

/** Parses a message or a batch; its values are counted before any of them is created. */
export function parseMessage(text: string): ParseResult {
  if (hasTooManyValues(text))
    return {
      id: idOf(text),
      error: invalidRequest(
        `The message has more than ${digits(MAX_VALUES)} values (array items and object members). Split the request into several.`,
      ),
    };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : "?";
    return { error: parseError(`The message is not JSON: ${why}.`) };
  }
}

/** Counts the commas and opening brackets outside strings: at least one for every value but the first. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MAX_VALUES) return false;
  let values = 0;
  let isInString = false;
  for (let at = 0; at < text.length && values <= MAX_VALUES; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) isInString = !isInString;
    else if (!isInString && (code === COMMA || code === BRACKET || code === BRACE)) values += 1;
  }
  return values > MAX_VALUES;
}

const [QUOTE, COMMA, BACKSLASH, BRACKET, BRACE] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];
