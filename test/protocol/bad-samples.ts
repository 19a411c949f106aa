import { type Fields, MODERN, type Revision } from "./revisions.ts";

/** A message that no server of these revisions may send. */
interface BadSample {
  readonly name: string;
  readonly message: unknown;
  /** The method that it would answer. */
  readonly method?: string;
}

const bad = (name: string, message: unknown, method?: string): BadSample => ({
  name,
  message,
  ...(method !== undefined && { method }),
});
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
    bad("null", null),
    bad("a string", "pong"),
    bad("an array", [good], CALL),
    bad("an empty object", {}),
    bad("an id alone", { jsonrpc: "2.0", id: 1 }, CALL),
    bad("a result that answers nothing", good),
    bad("a result of an unknown method", good, "nothing/such"),
    bad("a result of a notification", result(done), "notifications/initialized"),
    bad("a result of JSON-RPC 1.0", { ...good, jsonrpc: "1.0" }, CALL),
    bad("a result without jsonrpc", unversioned, CALL),
    bad("a result with the id null", { ...good, id: null }, CALL),
    bad("a result with a fraction for an id", { ...good, id: 1.5 }, CALL),
    bad("a result with an error", { ...good, error: { code: 1, message: "x" } }, CALL),
    bad("a result with another member", { ...good, extra: 1 }, CALL),
    bad("a result that is an array", result([]), CALL),
    bad("the result of another method", result({ ...listed, prompts: [] }), "tools/list"),
    bad("an answer without content", result({ ...done, toolResult: "x" }), CALL),
    bad("content that is a string", result({ ...done, content: "x" }), CALL),
    bad("an unknown block", content({ type: "video", data: "AAAA", mimeType: "a/b" }), CALL),
    bad("a text block without text", content({ type: "text" }), CALL),
    bad("an image without a type", content({ type: "image", data: "AAAA" }), CALL),
    bad(
      "an image that is not base64",
      content({ type: "image", data: "?!", mimeType: "image/png" }),
      CALL,
    ),
    bad(
      "a resource without text or bytes",
      content({ type: "resource", resource: { uri: "a://b" } }),
      CALL,
    ),
    bad("a priority beyond 1", content({ ...text, annotations: { priority: 2 } }), CALL),
    bad(
      "a resource whose URI is none",
      result({ ...listed, contents: [{ uri: "not a uri", text: "x" }] }),
      "resources/read",
    ),
    bad(
      "a template that is none",
      result({ ...listed, resourceTemplates: [{ name: "x", uriTemplate: "a://{" }] }),
      "resources/templates/list",
    ),
    bad(
      "a tool without a schema",
      result({ ...listed, tools: [{ name: "x", description: "y" }] }),
      "tools/list",
    ),
    bad(
      "a tool whose input is not an object",
      result({ ...listed, tools: [{ name: "x", inputSchema: { type: "array" } }] }),
      "tools/list",
    ),
    bad(
      "a message of an unknown role",
      result({ ...done, messages: [{ role: "system", content: text }] }),
      "prompts/get",
    ),
    bad("a completion without values", result({ ...done, completion: {} }), "completion/complete"),
    bad("an error without a code", error({ message: "x" }), CALL),
    bad("an error without a message", error({ code: -32602 }), CALL),
    bad("an error with a fraction for a code", error({ code: -1.5, message: "x" }), CALL),
    bad("an error with another member", error({ code: -1, message: "x", stack: "y" }), CALL),
    bad("an error that is a string", error("x"), CALL),
    bad(
      "an answering error without an id",
      { jsonrpc: "2.0", error: { code: -1, message: "x" } },
      CALL,
    ),
    bad("an error about parameters that names no request", {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32602, message: "x" },
    }),
    bad("an unknown notification", { jsonrpc: "2.0", method: "notifications/nothing" }),
    bad("a notification of clients", { jsonrpc: "2.0", method: "notifications/initialized" }),
    bad("a notification with an id", {
      jsonrpc: "2.0",
      id: 1,
      method: "notifications/tools/list_changed",
    }),
    bad("a notification without jsonrpc", { method: "notifications/tools/list_changed" }),
    bad("a request of clients", { jsonrpc: "2.0", id: 1, method: "tools/list" }),
    bad("an unknown log level", {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "loud", data: "x" },
    }),
    bad("progress without a token", {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progress: 1 },
    }),
    bad("an update of nothing", { jsonrpc: "2.0", method: "notifications/resources/updated" }),
  ];
}

const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
const link = { type: "resource_link", uri: "a://b", name: "b" };

function legacy(revision: Revision): BadSample[] {
  const result = (value: Fields) => ({ jsonrpc: "2.0", id: 1, result: value });
  const anonymous = { jsonrpc: "2.0", error: { code: -32700, message: "x" } };
  return [
    bad("an empty result with data", result({ more: 1 }), "ping"),
    bad(
      "an opening without a server",
      result({ protocolVersion: revision, capabilities: {} }),
      "initialize",
    ),
    bad("a result of server/discover", result({}), "server/discover"),
    bad(
      "a question of the modern era",
      result({ resultType: "input_required", requestState: "x" }),
      CALL,
    ),
    bad("an acknowledgement", {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: {} },
    }),
    bad("a question without its text", {
      jsonrpc: "2.0",
      id: 1,
      method: "elicitation/create",
      params: {},
    }),
    revision < "2025-11-25"
      ? bad("an anonymous error without an id", anonymous)
      : bad("an anonymous error with the id null", { ...anonymous, id: null }),
    ...(revision < "2025-03-26" ? [bad("audio", result({ content: [audio] }), CALL)] : []),
    ...(revision < "2025-06-18"
      ? [
          bad("a link", result({ content: [link] }), CALL),
          bad("an elicitation", {
            jsonrpc: "2.0",
            id: 1,
            method: "elicitation/create",
            params: { message: "x", requestedSchema: { type: "object", properties: {} } },
          }),
        ]
      : []),
    ...(revision === "2025-06-18"
      ? [
          bad("a page to visit", {
            jsonrpc: "2.0",
            id: 1,
            method: "elicitation/create",
            params: { mode: "url", message: "x", url: "https://a.b", elicitationId: "1" },
          }),
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
  const asks = (request: Fields) =>
    result({ resultType: "input_required", inputRequests: { a: request } });
  return [
    bad("no resultType", result({ content: [] }), CALL),
    bad("an unknown resultType", result({ resultType: "partial", content: [] }), CALL),
    bad("a list without ttlMs", lists({ ttlMs: undefined }), "tools/list"),
    bad("a list with a negative ttlMs", lists({ ttlMs: -1 }), "tools/list"),
    bad("a list without cacheScope", lists({ cacheScope: undefined }), "tools/list"),
    bad("a list with an unknown cacheScope", lists({ cacheScope: "shared" }), "tools/list"),
    bad(
      "a list that asks",
      result({ resultType: "input_required", requestState: "x" }),
      "tools/list",
    ),
    bad("a question with nothing in it", result({ resultType: "input_required" }), CALL),
    bad(
      "a question with content",
      result({ resultType: "input_required", requestState: "x", content: [] }),
      CALL,
    ),
    bad("a question of an unknown kind", asks({ method: "ping" }), CALL),
    bad(
      "a form without a schema",
      asks({ method: "elicitation/create", params: { message: "x" } }),
      CALL,
    ),
    bad("a request", { jsonrpc: "2.0", id: 1, method: "roots/list" }),
    bad("a result of ping", result({ resultType: "complete" }), "ping"),
    bad("the code of 2025-11-25 for a resource", error(-32002), "resources/read"),
    bad("the code of 2025-11-25 for a page to visit", error(-32042), CALL),
    bad("a reserved code", error(-32050), CALL),
    bad("an unsupported version without the supported ones", error(-32022), CALL),
    bad("a missing capability that is not named", error(-32021, {}), CALL),
    bad("an anonymous error with the id null", {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, message: "x" },
    }),
    bad(
      "the end of a subscription that is not named",
      result({ resultType: "complete" }),
      "subscriptions/listen",
    ),
  ];
}

/** Messages that a validator of this revision must reject. */
export function badSamples(revision: Revision): BadSample[] {
  return revision === MODERN
    ? [...always({ resultType: "complete" }), ...modern()]
    : [...always({}), ...legacy(revision)];
}
