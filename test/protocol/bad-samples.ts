import { type Fields, MODERN, type Revision } from "./revisions.ts";

/** A message that no server of these revisions may send. */
export interface BadSample {
  readonly name: string;
  readonly message: unknown;
  /** The method that it would answer. */
  readonly method?: string;
}

const CALL = "tools/call";
const text = { type: "text", text: "x" };

/** Messages that are wrong in every revision. `done` is what a modern result has in addition. */
function always(done: Fields): BadSample[] {
  const result = (value: unknown) => ({ jsonrpc: "2.0", id: 1, result: value });
  const error = (value: unknown) => ({ jsonrpc: "2.0", id: 1, error: value });
  const content = (...blocks: Fields[]) => result({ ...done, content: blocks });
  const good = content(text);
  const { jsonrpc: _, ...unversioned } = good;
  const listed = { ...done, ttlMs: 0, cacheScope: "private" };
  return [
    { name: "null", message: null },
    { name: "a string", message: "pong" },
    { name: "an array", message: [good], method: CALL },
    { name: "an empty object", message: {} },
    { name: "an id alone", message: { jsonrpc: "2.0", id: 1 }, method: CALL },
    { name: "a result that answers nothing", message: good },
    { name: "a result of an unknown method", message: good, method: "nothing/such" },
    { name: "a result of a notification", message: result(done), method: "notifications/initialized" },
    { name: "a result of JSON-RPC 1.0", message: { ...good, jsonrpc: "1.0" }, method: CALL },
    { name: "a result without jsonrpc", message: unversioned, method: CALL },
    { name: "a result with the id null", message: { ...good, id: null }, method: CALL },
    { name: "a result with a fraction for an id", message: { ...good, id: 1.5 }, method: CALL },
    { name: "a result with an error", message: { ...good, error: { code: 1, message: "x" } }, method: CALL },
    { name: "a result with another member", message: { ...good, extra: 1 }, method: CALL },
    { name: "a result that is an array", message: result([]), method: CALL },
    {
      name: "the result of another method",
      message: result({ ...listed, prompts: [] }),
      method: "tools/list",
    },
    { name: "an answer without content", message: result({ ...done, toolResult: "x" }), method: CALL },
    { name: "content that is a string", message: result({ ...done, content: "x" }), method: CALL },
    {
      name: "an unknown block",
      message: content({ type: "video", data: "AAAA", mimeType: "a/b" }),
      method: CALL,
    },
    { name: "a text block without text", message: content({ type: "text" }), method: CALL },
    { name: "an image without a type", message: content({ type: "image", data: "AAAA" }), method: CALL },
    {
      name: "an image that is not base64",
      message: content({ type: "image", data: "?!", mimeType: "image/png" }),
      method: CALL,
    },
    {
      name: "a resource without text or bytes",
      message: content({ type: "resource", resource: { uri: "a://b" } }),
      method: CALL,
    },
    {
      name: "a priority beyond 1",
      message: content({ ...text, annotations: { priority: 2 } }),
      method: CALL,
    },
    {
      name: "a resource whose URI is none",
      message: result({ ...listed, contents: [{ uri: "not a uri", text: "x" }] }),
      method: "resources/read",
    },
    {
      name: "a template that is none",
      message: result({ ...listed, resourceTemplates: [{ name: "x", uriTemplate: "a://{" }] }),
      method: "resources/templates/list",
    },
    {
      name: "a tool without a schema",
      message: result({ ...listed, tools: [{ name: "x", description: "y" }] }),
      method: "tools/list",
    },
    {
      name: "a tool whose input is not an object",
      message: result({ ...listed, tools: [{ name: "x", inputSchema: { type: "array" } }] }),
      method: "tools/list",
    },
    {
      name: "a message of an unknown role",
      message: result({ ...done, messages: [{ role: "system", content: text }] }),
      method: "prompts/get",
    },
    {
      name: "a completion without values",
      message: result({ ...done, completion: {} }),
      method: "completion/complete",
    },
    { name: "an error without a code", message: error({ message: "x" }), method: CALL },
    { name: "an error without a message", message: error({ code: -32602 }), method: CALL },
    {
      name: "an error with a fraction for a code",
      message: error({ code: -1.5, message: "x" }),
      method: CALL,
    },
    {
      name: "an error with another member",
      message: error({ code: -1, message: "x", stack: "y" }),
      method: CALL,
    },
    { name: "an error that is a string", message: error("x"), method: CALL },
    {
      name: "an answering error without an id",
      message: { jsonrpc: "2.0", error: { code: -1, message: "x" } },
      method: CALL,
    },
    {
      name: "an error about parameters that names no request",
      message: { jsonrpc: "2.0", id: null, error: { code: -32602, message: "x" } },
    },
    { name: "an unknown notification", message: { jsonrpc: "2.0", method: "notifications/nothing" } },
    { name: "a notification of clients", message: { jsonrpc: "2.0", method: "notifications/initialized" } },
    {
      name: "a notification with an id",
      message: { jsonrpc: "2.0", id: 1, method: "notifications/tools/list_changed" },
    },
    { name: "a notification without jsonrpc", message: { method: "notifications/tools/list_changed" } },
    { name: "a request of clients", message: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
    {
      name: "an unknown log level",
      message: { jsonrpc: "2.0", method: "notifications/message", params: { level: "loud", data: "x" } },
    },
    {
      name: "progress without a token",
      message: { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } },
    },
    { name: "an update of nothing", message: { jsonrpc: "2.0", method: "notifications/resources/updated" } },
  ];
}

const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
const link = { type: "resource_link", uri: "a://b", name: "b" };

function legacy(revision: Revision): BadSample[] {
  const result = (value: Fields) => ({ jsonrpc: "2.0", id: 1, result: value });
  const anonymous = { jsonrpc: "2.0", error: { code: -32700, message: "x" } };
  return [
    { name: "an empty result with data", message: result({ more: 1 }), method: "ping" },
    {
      name: "an opening without a server",
      message: result({ protocolVersion: revision, capabilities: {} }),
      method: "initialize",
    },
    { name: "a result of server/discover", message: result({}), method: "server/discover" },
    {
      name: "a question of the modern era",
      message: result({ resultType: "input_required", requestState: "x" }),
      method: CALL,
    },
    {
      name: "an acknowledgement",
      message: {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: {} },
      },
    },
    {
      name: "a question without its text",
      message: { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} },
    },
    revision < "2025-11-25"
      ? { name: "an anonymous error without an id", message: anonymous }
      : { name: "an anonymous error with the id null", message: { ...anonymous, id: null } },
    ...(revision < "2025-03-26"
      ? [{ name: "audio", message: result({ content: [audio] }), method: CALL }]
      : []),
    ...(revision < "2025-06-18"
      ? [
          { name: "a link", message: result({ content: [link] }), method: CALL },
          {
            name: "an elicitation",
            message: {
              jsonrpc: "2.0",
              id: 1,
              method: "elicitation/create",
              params: { message: "x", requestedSchema: { type: "object", properties: {} } },
            },
          },
        ]
      : []),
    ...(revision === "2025-06-18"
      ? [
          {
            name: "a page to visit",
            message: {
              jsonrpc: "2.0",
              id: 1,
              method: "elicitation/create",
              params: { mode: "url", message: "x", url: "https://a.b", elicitationId: "1" },
            },
          },
        ]
      : []),
  ];
}

function modern(): BadSample[] {
  const result = (value: Fields) => ({ jsonrpc: "2.0", id: 1, result: value });
  const error = (code: number, data?: Fields) => ({
    jsonrpc: "2.0",
    id: 1,
    error: { code, message: "x", ...(data === undefined ? {} : { data }) },
  });
  const list = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
  const lists = (change: Fields) => result({ ...list, ...change });
  const asks = (request: Fields) => result({ resultType: "input_required", inputRequests: { a: request } });
  return [
    { name: "no resultType", message: result({ content: [] }), method: CALL },
    { name: "an unknown resultType", message: result({ resultType: "partial", content: [] }), method: CALL },
    { name: "a list without ttlMs", message: lists({ ttlMs: undefined }), method: "tools/list" },
    { name: "a list with a negative ttlMs", message: lists({ ttlMs: -1 }), method: "tools/list" },
    { name: "a list without cacheScope", message: lists({ cacheScope: undefined }), method: "tools/list" },
    {
      name: "a list with an unknown cacheScope",
      message: lists({ cacheScope: "shared" }),
      method: "tools/list",
    },
    {
      name: "a list that asks",
      message: result({ resultType: "input_required", requestState: "x" }),
      method: "tools/list",
    },
    {
      name: "a question with nothing in it",
      message: result({ resultType: "input_required" }),
      method: CALL,
    },
    {
      name: "a question with content",
      message: result({ resultType: "input_required", requestState: "x", content: [] }),
      method: CALL,
    },
    { name: "a question of an unknown kind", message: asks({ method: "ping" }), method: CALL },
    {
      name: "a form without a schema",
      message: asks({ method: "elicitation/create", params: { message: "x" } }),
      method: CALL,
    },
    { name: "a request", message: { jsonrpc: "2.0", id: 1, method: "roots/list" } },
    { name: "a result of ping", message: result({ resultType: "complete" }), method: "ping" },
    { name: "the code of 2025-11-25 for a resource", message: error(-32002), method: "resources/read" },
    { name: "the code of 2025-11-25 for a page to visit", message: error(-32042), method: CALL },
    { name: "a reserved code", message: error(-32050), method: CALL },
    { name: "an unsupported version without the supported ones", message: error(-32022), method: CALL },
    { name: "a missing capability that is not named", message: error(-32021, {}), method: CALL },
    {
      name: "an anonymous error with the id null",
      message: { jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } },
    },
    {
      name: "the end of a subscription that is not named",
      message: result({ resultType: "complete" }),
      method: "subscriptions/listen",
    },
  ];
}

/** Messages that a validator of this revision must reject. */
export function badSamples(revision: Revision): BadSample[] {
  return revision === MODERN
    ? [...always({ resultType: "complete" }), ...modern()]
    : [...always({}), ...legacy(revision)];
}
