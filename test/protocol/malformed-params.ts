import {
  answered,
  answeredLine,
  type Case,
  type Group,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  nested,
  RESULT,
  silent,
  type Writer,
  withText,
} from "./malformed-case.ts";
import { type Fields, MODERN } from "./revisions.ts";

/** Names each value by its truncated JSON. */
function each(
  write: Writer,
  method: string,
  member: string,
  values: readonly unknown[],
  others: Fields = {},
): Case[] {
  return values.map((value) => {
    const name = `${method} with ${member} ${(JSON.stringify(value) ?? "missing").slice(0, 30)}`;
    return answered(name, write(method, { ...others, [member]: value }), INVALID_PARAMS);
  });
}

const NOT_STRINGS = [undefined, null, 5, true, {}, []];
const NOT_OBJECTS = [null, 5, "x", true, []];

/** Parameters of methods in all revisions. */
export const badParameters: Group = (write) => [
  ...["tools/list", "resources/list", "resources/templates/list", "prompts/list"].flatMap(
    (method) =>
      each(write, method, "cursor", [5, {}, [], "", "nonsense", "MQ==", "x".repeat(5000)]),
  ),
  ...each(write, "tools/call", "name", [
    ...NOT_STRINGS,
    "",
    "nothing",
    "__proto__",
    "constructor",
    "x".repeat(5000),
  ]),
  ...each(write, "tools/call", "arguments", [5, "x", true, []], { name: "probe_echo" }),
  ...each(write, "resources/read", "uri", [
    ...NOT_STRINGS,
    "",
    "nothing",
    "file:///etc/passwd",
    "probe://",
    "\ud800",
    "http://[",
    "x".repeat(5000),
  ]),
  ...each(write, "prompts/get", "name", [...NOT_STRINGS, "", "nothing", "__proto__"]),
  ...each(
    write,
    "prompts/get",
    "arguments",
    [null, 5, "x", true, [], { who: 5 }, { who: null }, {}],
    {
      name: "probe_greeting",
    },
  ),
  answered(
    "an argument that a prompt does not know",
    write("prompts/get", { name: "probe_greeting", arguments: { who: "a", more: "b" } }),
  ),
  ...strangeUris(write),
  ...completions(write),
  ...toolArguments(write),
];

/** The response must contain a URI or be an error, whatever was requested (RFC 3986, section 2: characters). */
function strangeUris(write: Writer): Case[] {
  const names = [
    "a b",
    "日本",
    '"',
    "<x>",
    "[",
    "\u0000",
    "\ud800",
    "%ZZ",
    "%00",
    "%FF",
    "%",
    "a?b#c",
    "x".repeat(5000),
  ];
  return names.map((name) => {
    const title = `resources/read of an item ${JSON.stringify(name).slice(0, 20)}`;
    return answered(title, write("resources/read", { uri: `probe://item/${name}` }));
  });
}

function completions(write: Writer): Case[] {
  const ref = { type: "ref/prompt", name: "probe_greeting" };
  const argument = { name: "who", value: "A" };
  const refs = [
    undefined,
    null,
    "x",
    [],
    {},
    { type: "ref/other" },
    { type: "ref/prompt" },
    { type: "ref/prompt", name: "nothing" },
  ];
  return [
    ...each(
      write,
      "completion/complete",
      "ref",
      [...refs, { type: "ref/resource", uri: 5 }, { type: "ref/resource", uri: "nothing" }],
      { argument },
    ),
    ...each(
      write,
      "completion/complete",
      "argument",
      [undefined, null, "x", {}, { name: "who" }, { name: "who", value: 5 }],
      { ref },
    ),
    ...each(
      write,
      "completion/complete",
      "context",
      ["x", { arguments: 5 }, { arguments: { tone: 5 } }],
      {
        ref,
        argument,
      },
    ),
  ];
}

/** Wrong or extreme arguments of a tool: an error result or an answer, never silence. */
function toolArguments(write: Writer): Case[] {
  const call = (args: unknown) => write("tools/call", { name: "probe_echo", arguments: args });
  const deep = call({ text: "@" });
  const proto = call({ text: "@" });
  return [
    answered("a missing argument", call({})),
    answered("an argument of another type", call({ text: 5 })),
    answered("an argument out of range", call({ text: "a", times: 1e300 })),
    answered("an argument that is unknown", call({ text: "a", toString: 1 })),
    answered("a lone surrogate", call({ text: "\ud800x\udc00" })),
    answered("control characters", call({ text: "\u0000\u001b[31m\u2028\u2029\ufeff" })),
    answeredLine("the key __proto__", withText(proto, '"a","__proto__":{"times":3}'), proto),
    answeredLine("15,000 levels", withText(deep, nested(15_000)), deep),
    answered(
      "5,000 unknown arguments",
      call(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))),
    ),
  ];
}

const EMPTY_CALL = { name: "probe_link", arguments: {} };

/** Methods that only the handshake revisions have. */
export const legacyParameters: Group = (write, revision) => [
  ...each(write, "logging/setLevel", "level", [...NOT_STRINGS, "", "loud", "INFO", "trace"]),
  ...each(write, "resources/subscribe", "uri", [...NOT_STRINGS, "", "nothing"]),
  ...each(write, "resources/unsubscribe", "uri", NOT_STRINGS),
  answered(
    "unsubscribing from what nobody subscribed to",
    write("resources/unsubscribe", { uri: "probe://count" }),
  ),
  // Before 2025-11-25 there are no tasks, and the parameter is ignored.
  answered("a task", write("tools/call", { ...EMPTY_CALL, task: { ttl: 1000 } })),
  answered("server/discover", write("server/discover"), METHOD_NOT_FOUND),
  answered(
    "subscriptions/listen",
    write("subscriptions/listen", { notifications: {} }),
    METHOD_NOT_FOUND,
  ),
  answered(
    "a second initialize",
    write("initialize", {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
    }),
  ),
  ...each(write, "initialize", "protocolVersion", NOT_STRINGS, {
    capabilities: {},
    clientInfo: { name: "a", version: "1" },
  }),
  ...each(
    write,
    "initialize",
    "clientInfo",
    [undefined, null, "x", {}, { name: "a" }, { name: 1, version: "1" }],
    {
      protocolVersion: "2025-11-25",
      capabilities: {},
    },
  ),
];

/** Optional parameters that are null count as absent, since many JSON libraries write them so. */
export const nullParameters: Group = (write, revision) => {
  const ref = { type: "ref/prompt", name: "probe_greeting" };
  const argument = { name: "who", value: "A" };
  const requests: [method: string, params: Fields][] = [
    ["tools/list", { cursor: null }],
    ["resources/list", { cursor: null }],
    ["resources/templates/list", { cursor: null }],
    ["prompts/list", { cursor: null }],
    ["tools/call", { name: "probe_count", arguments: null }],
    ["completion/complete", { ref, argument, context: null }],
    ["completion/complete", { ref, argument, context: { arguments: null } }],
  ];
  const modern: typeof requests = [
    ["tools/call", { name: "probe_count", inputResponses: null, requestState: null }],
    ["resources/read", { uri: "probe://count", inputResponses: null, requestState: null }],
  ];
  return [...requests, ...(revision === MODERN ? modern : [])].map(([method, params]) =>
    answered(`${method} with ${JSON.stringify(params)}`, write(method, params), RESULT),
  );
};

/** Methods that only the modern era has. */
export const modernParameters: Group = (write) => [
  ...["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].map(
    (method) =>
      answered(method, write(method, { uri: "probe://count", level: "info" }), METHOD_NOT_FOUND),
  ),
  ...each(write, "subscriptions/listen", "notifications", [undefined, ...NOT_OBJECTS]),
  ...each(write, "subscriptions/listen", "notifications", [
    { toolsListChanged: "yes" },
    { resourceSubscriptions: "probe://count" },
    { resourceSubscriptions: [5] },
  ]),
  ...["tools/call", "prompts/get", "resources/read"].flatMap((method) => {
    const others = {
      name: method === "tools/call" ? "probe_wipe" : "probe_tour",
      uri: "probe://count",
    };
    return [
      ...each(write, method, "inputResponses", [5, "x", true, []], others),
      ...each(write, method, "requestState", [5, {}, [], "", "forged", "a.b.c", "\ud800"], others),
    ];
  }),
  ...[null, 5, "x", [], {}, { action: "maybe" }, { roots: 5 }].map((response) =>
    answered(
      `an answer ${JSON.stringify(response)} that nobody asked for`,
      write("tools/call", {
        name: "probe_wipe",
        arguments: {},
        inputResponses: { nothing: response },
      }),
    ),
  ),
];

const response = (more: Fields): string => JSON.stringify({ jsonrpc: "2.0", ...more });

/** Responses without a request: they must not be answered. */
export const strangeResponses: Group = () => [
  silent("a result that nobody waits for", response({ id: 123_456, result: {} })),
  silent(
    "an error that nobody waits for",
    response({ id: "nothing", error: { code: -32603, message: "x" } }),
  ),
  silent("a result without an id", response({ result: {} })),
  silent("a result with the id null", response({ id: null, result: {} })),
  silent(
    "an error with the id null",
    response({ id: null, error: { code: -32700, message: "x" } }),
  ),
  silent(
    "a result that is also an error",
    response({ id: 123_457, result: {}, error: { code: 1, message: "x" } }),
  ),
  silent("a result that is not an object", response({ id: 123_458, result: 5 })),
  silent("an error that is not an object", response({ id: 123_459, error: "x" })),
  silent("a result of JSON-RPC 1.0", '{"id":1,"result":{},"error":null}'),
  ...[undefined, null, {}, [], "nothing", 987_654, 1.5].map((requestId) =>
    silent(
      `a cancellation of ${JSON.stringify(requestId)}`,
      response({ method: "notifications/cancelled", params: { requestId, reason: 5 } }),
    ),
  ),
  silent(
    "progress of nothing",
    response({ method: "notifications/progress", params: { progressToken: 99, progress: 1 } }),
  ),
];
