import {
  answered,
  answeredLine,
  type Case,
  type Group,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  nested,
  RESULT,
  refused,
  silent,
  UNSUPPORTED_VERSION,
  withText,
} from "./malformed-case.ts";
import { type Fields, fieldsAt, MODERN } from "./revisions.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

function without(message: Fields, member: string): Fields {
  const { [member]: _, ...rest } = message;
  return rest;
}

/** Wrong `jsonrpc`, `method` and `params`. */
export const badEnvelopes: Group = (write, revision) => [
  ...["1.0", "2.00", 2, 2.0, null, true, {}].map((jsonrpc) =>
    answered(
      `jsonrpc ${JSON.stringify(jsonrpc)}`,
      { ...write("tools/list"), jsonrpc },
      INVALID_REQUEST,
    ),
  ),
  answered("no jsonrpc", without(write("tools/list"), "jsonrpc"), INVALID_REQUEST),
  ...[5, null, true, {}, ["tools/list"]].map((method) =>
    answered(
      `method ${JSON.stringify(method)}`,
      { ...write("tools/list"), method },
      INVALID_REQUEST,
    ),
  ),
  answered("no method", without(write("tools/list"), "method"), INVALID_REQUEST),
  ...[
    "",
    " ",
    "tools/list ",
    "Tools/List",
    "tools/list\u0000",
    "__proto__",
    "constructor",
    "toString",
    "x".repeat(10_000),
  ].map((method) =>
    answered(`the method ${JSON.stringify(method.slice(0, 20))}`, write(method), METHOD_NOT_FOUND),
  ),
  answered("a notification as a request", write("notifications/initialized"), METHOD_NOT_FOUND),
  answered("a request of servers", write("roots/list"), METHOD_NOT_FOUND),
  // They count as absent, as any null does; only in the modern era must a request have some.
  answered(
    "params null",
    { ...write("tools/list"), params: null },
    revision === MODERN ? INVALID_PARAMS : RESULT,
  ),
  ...[5, "x", true, [], [1]].map((params) =>
    answered(
      `params ${JSON.stringify(params)}`,
      { ...write("tools/list"), params },
      INVALID_REQUEST,
    ),
  ),
  answered(
    "a request that is also a result",
    { ...write("tools/list"), result: {} },
    INVALID_REQUEST,
  ),
  answered(
    "a request that is also an error",
    { ...write("tools/list"), error: { code: 1, message: "" } },
    INVALID_REQUEST,
  ),
  answered("unknown members", { ...write("tools/list"), extra: 1, toJSON: "x", __proto__: null }),
  answered("unknown parameters", write("tools/list", { extra: { deep: [1] }, constructor: 1 })),
  answeredLine("a key twice", ...keyTwice(write("tools/list"))),
  answeredLine("blanks around it", ...padded(write("tools/list"))),
  refused(
    "a notification with a number for a method",
    '{"jsonrpc":"2.0","method":5}',
    INVALID_REQUEST,
  ),
  silent(
    "a notification with bad parameters",
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":5}',
  ),
  silent(
    "a notification with a bad _meta",
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":7}}',
  ),
  silent(
    "an unknown notification",
    '{"jsonrpc":"2.0","method":"notifications/nothing","params":{"x":[1]}}',
  ),
  silent("a request without an id", '{"jsonrpc":"2.0","method":"tools/list"}'),
];

function keyTwice(message: Fields): [string, Fields] {
  return [`{"id":"another",${JSON.stringify(message).slice(1)}`, message];
}

function padded(message: Fields): [string, Fields] {
  return [` \t ${JSON.stringify(message)} \r`, message];
}

/** Ids that cannot be returned, and odd ones that must be. */
export const badIds: Group = (write) => [
  ...[null, true, {}, [], [1], 1.5, -0.5, 9007199254740992, -9007199254740992].map((id) =>
    refused(
      `the id ${JSON.stringify(id)}`,
      JSON.stringify({ ...write("tools/list"), id }),
      INVALID_REQUEST,
    ),
  ),
  refused(
    "an id beyond all numbers",
    withText({ ...write("tools/list"), id: "@" }, "1e400"),
    INVALID_REQUEST,
  ),
  refused(
    "an id of 300 digits",
    withText({ ...write("tools/list"), id: "@" }, "9".repeat(300)),
    INVALID_REQUEST,
  ),
  refused(
    "an id of 15,000 levels",
    withText({ ...write("tools/list"), id: "@" }, nested(15_000)),
    INVALID_REQUEST,
  ),
  ...[
    0,
    -1,
    9007199254740991,
    -9007199254740991,
    "",
    " ",
    "0",
    "null",
    "__proto__",
    "héllo ✓ 日本",
    "\u2028\u2029",
    "\u0000\u001f",
    "😀",
    "x".repeat(1000),
  ].map((id) =>
    answered(`the id ${JSON.stringify(id).slice(0, 30)}`, { ...write("tools/list"), id }),
  ),
  answered("an id with a lone surrogate", { ...write("tools/list"), id: "\ud800" }),
  answeredLine(
    "an integer with an exponent",
    withText({ ...write("tools/list"), id: "@" }, "1e3"),
    {
      id: 1000,
      method: "tools/list",
    },
  ),
  answeredLine(
    "an integer with a fraction of zero",
    withText({ ...write("tools/list"), id: "@" }, "77.0"),
    {
      id: 77,
      method: "tools/list",
    },
  ),
];

/** `_meta` of any revision. */
export const badMeta: Group = (write) => [
  ...[5, "x", [], true].map((meta) => {
    const message = write("tools/list");
    return answered(
      `_meta ${JSON.stringify(meta)}`,
      { ...message, params: { _meta: meta } },
      INVALID_PARAMS,
    );
  }),
  ...[{}, [], true, 1.5].map((progressToken) =>
    answered(
      `the progress token ${JSON.stringify(progressToken)}`,
      write("tools/list", {}, { progressToken }),
      INVALID_PARAMS,
    ),
  ),
  ...["", 0, -1, "x".repeat(1000), "\ud800"].map((progressToken) =>
    answered(
      `the progress token ${JSON.stringify(progressToken).slice(0, 20)}`,
      write("tools/call", { name: "probe_slow", arguments: { ms: 0 } }, { progressToken }),
    ),
  ),
  answered(
    "keys of _meta that are odd",
    write("tools/list", {}, { "": 1, "a b": 2, "/": 3, constructor: 4, toString: 5 }),
  ),
  answeredLine("_meta of 15,000 levels", ...deepMeta(write("tools/list", {}, { deep: "@" }))),
  answeredLine(
    "the key __proto__ in _meta",
    ...deepMeta(write("tools/list", {}, { "@key": "@" }), '{"__proto__":null}'),
  ),
];

function deepMeta(message: Fields, text = nested(15_000)): [string, Fields] {
  return [withText(message, text), message];
}

/** Optional members that are null count as absent. */
export const nullMeta: Group = (write, revision) => [
  answered("the progress token null", write("tools/list", {}, { progressToken: null }), RESULT),
  ...(revision === MODERN
    ? [CLIENT_INFO, LOG_LEVEL].map((key) =>
        answered(
          `${key.slice(key.indexOf("/") + 1)} null`,
          write("tools/list", {}, { [key]: null }),
          RESULT,
        ),
      )
    : [answered("_meta null", { ...write("tools/list"), params: { _meta: null } }, RESULT)]),
];

/** The declarations of a modern request. */
export const modernMeta: Group = (write) => [
  ...[null, 5, {}, ["2026-07-28"], true].map((version) =>
    answered(
      `the version ${JSON.stringify(version)}`,
      write("tools/list", {}, { [VERSION]: version }),
      INVALID_PARAMS,
    ),
  ),
  ...[
    "",
    "1900-01-01",
    "2026-07-29",
    "2025-11-25",
    "2024-11-05",
    "2026-07-28 ",
    "DRAFT",
    "x".repeat(1000),
  ].map((version) =>
    answered(
      `the version ${version.slice(0, 20)}`,
      write("tools/list", {}, { [VERSION]: version }),
      UNSUPPORTED_VERSION,
    ),
  ),
  answered(
    "an unknown method of another version",
    write("nothing/such", {}, { [VERSION]: "1900-01-01" }),
    UNSUPPORTED_VERSION,
  ),
  answered("no version", claimless(write("tools/list"), VERSION), INVALID_PARAMS),
  answered("no capabilities", claimless(write("tools/list"), CAPABILITIES), INVALID_PARAMS),
  answered("no claim at all", { ...write("tools/list"), params: {} }, INVALID_PARAMS),
  answered("no parameters at all", without(write("tools/list"), "params"), INVALID_PARAMS),
  answered(
    "no claim with server/discover",
    { ...write("server/discover"), params: {} },
    INVALID_PARAMS,
  ),
  ...wrongClaims(write, CAPABILITIES, [
    null,
    5,
    "x",
    [],
    { elicitation: 5 },
    { roots: "yes" },
    { sampling: [] },
  ]),
  ...wrongClaims(write, CLIENT_INFO, [5, {}, { name: "x" }, { name: 1, version: "1" }]),
  ...wrongClaims(write, LOG_LEVEL, [5, "loud", {}]),
  answered("client information left out", claimless(write("tools/list"), CLIENT_INFO)),
  silent(
    "a notification of another version",
    JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, _meta: { [VERSION]: "1900-01-01" } },
    }),
  ),
];

function claimless(message: Fields, key: string): Fields {
  return { ...message, params: { _meta: without(fieldsAt(message, "params", "_meta"), key) } };
}

function wrongClaims(write: Parameters<Group>[0], key: string, values: readonly unknown[]): Case[] {
  return values.map((value) => {
    const name = `${key.slice(key.indexOf("/") + 1)} ${JSON.stringify(value)}`;
    return answered(name, write("tools/list", {}, { [key]: value }), INVALID_PARAMS);
  });
}
