import { afterEach, describe, expect, it } from "vitest";
import { INITIALIZE, modernCall, openSession, post, useProbes } from "../../test/fixtures/http.ts";
import {
  call,
  claim,
  type Fields,
  initialize,
  modern,
  request,
} from "../../test/fixtures/messages.ts";
import { probeServer } from "../../test/fixtures/probe.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { serviceOf } from "../bind/server.ts";
import { prepare } from "../run/prepare.ts";
import { MAX_URI_CHARS } from "./message.ts";
import { META } from "./wire.ts";

const BIG = "x".repeat(5_500_000);
/** No refusal may be longer, in characters. */
const SMALL = 2_500;
/** A URI of the maximum length. */
const longUri = (start: string, filler = "x") => start.padEnd(MAX_URI_CHARS, filler);
/** A character that becomes nine when it is percent-encoded. */
const WIDE = "あ";

const { start } = useProbes();
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function probeWire(...first: unknown[]): Promise<{ wire: Wire; log: () => string }> {
  let log = "";
  const writeLog = (line: string) => {
    log += line;
  };
  const prepared = await prepare(probeServer(), [], {}, { writeLog });
  if (prepared.kind !== "run") throw new Error("not running");
  const wire = new Wire(
    { note: (line) => prepared.runtime.log.warning(line) },
    serviceOf(prepared.runtime),
  );
  open.push(async () => {
    await wire.handle.close();
    await prepared.runtime.close();
  });
  for (const message of first) {
    wire.send(message);
    await wire.nextLine();
  }
  return { wire, log: () => log };
}

const withMeta = (meta: Fields, method = "ping", params: Fields = {}) =>
  request(1, method, { ...params, _meta: { ...claim(), ...meta } });
const capabilities = (value: unknown) => withMeta({ [META.capabilities]: value });

/** Requests that repeat a string of 5.5 MB, in either era. */
const EITHER: readonly (readonly [what: string, message: unknown])[] = [
  ["no JSON", BIG],
  ["no object", JSON.stringify(BIG)],
  ["jsonrpc", { ...request(1, "ping"), jsonrpc: BIG }],
  ["an id", request(BIG, "ping")],
  ["params", { ...request(1, "ping"), params: BIG }],
  ["_meta", request(1, "ping", { _meta: BIG })],
  ["a progress token", withMeta({ progressToken: BIG })],
  ["a related task", withMeta({ [META.relatedTask]: BIG })],
  ["a claimed version", withMeta({ [META.version]: BIG })],
  ["capabilities", capabilities(BIG)],
  ["a capability", capabilities({ roots: BIG })],
  ["an unknown method without capabilities", withMeta({ [META.capabilities]: undefined }, BIG)],
];

const LEGACY: typeof EITHER = [
  ["a method", request(1, BIG)],
  ["a tool", call(1, BIG)],
  ["arguments", request(1, "tools/call", { name: "probe_echo", arguments: BIG })],
  ["an argument's name", call(1, "probe_echo", { text: "a", [BIG]: 1 })],
  ["an argument's value", call(1, "probe_count", { by: BIG })],
  ["a choice", call(1, "probe_echo", { text: "a", tone: BIG })],
  ["a prompt", request(1, "prompts/get", { name: BIG })],
  [
    "a prompt's argument",
    request(1, "prompts/get", { name: "probe_greeting", arguments: { who: BIG } }),
  ],
  ["a resource", request(1, "resources/read", { uri: `probe://${BIG}` })],
  ["a resource of a template", request(1, "resources/read", { uri: `probe://item/${BIG}` })],
  ["a resource, encoded", request(1, "resources/read", { uri: longUri("probe://", WIDE) })],
  [
    "a resource that is missing",
    request(1, "resources/read", { uri: longUri("probe://item/missing") }),
  ],
  [
    "a resource that is refused",
    request(1, "resources/read", { uri: longUri("probe://item/denied") }),
  ],
  ["a subscription", request(1, "resources/subscribe", { uri: BIG })],
  [
    "a subscription, encoded",
    request(1, "resources/subscribe", { uri: longUri("probe://", WIDE) }),
  ],
  ["a level", request(1, "logging/setLevel", { level: BIG })],
  [
    "a reference",
    request(1, "completion/complete", { ref: { type: BIG }, argument: { name: "a", value: "" } }),
  ],
  ...["tools", "prompts", "resources", "resources/templates"].map(
    (list) => [`a cursor of ${list}`, request(1, `${list}/list`, { cursor: BIG })] as const,
  ),
  ...[
    { ref: { type: "ref/prompt", name: BIG }, argument: { name: "who", value: "" } },
    { ref: { type: "ref/resource", uri: BIG }, argument: { name: "who", value: "" } },
    { ref: { type: "ref/prompt", name: "probe_greeting" }, argument: { name: BIG, value: "" } },
    { ref: { type: "ref/prompt", name: "probe_greeting" }, argument: { name: "who", value: BIG } },
    {
      ref: { type: "ref/prompt", name: "probe_greeting" },
      argument: { name: "who", value: "" },
      context: { arguments: { tone: BIG } },
    },
  ].map(
    (params, index) =>
      [`a completion (${index})`, request(1, "completion/complete", params)] as const,
  ),
];

const MODERN: typeof EITHER = [
  ["a method", modern(1, BIG)],
  ["a method without a version", request(1, BIG)],
  ["initialize in another era", initialize(BIG)],
  ["a tool", modern(1, "tools/call", { name: BIG })],
  ["a state", modern(1, "tools/call", { name: "probe_wipe", requestState: BIG })],
  ["answers", modern(1, "tools/call", { name: "probe_wipe", inputResponses: BIG })],
  [
    "a filter",
    modern(1, "subscriptions/listen", { notifications: { resourceSubscriptions: BIG } }),
  ],
  ["a log level", withMeta({ [META.logLevel]: BIG }, "tools/list")],
  ["a client's name", withMeta({ [META.clientInfo]: { name: BIG, version: 1 } }, "tools/list")],
];

describe("what a client sent is not repeated at length", () => {
  it.each([...EITHER, ["a version", initialize(BIG)] as const])(
    "%s, first",
    async (_what, message) => {
      const { wire, log } = await probeWire();
      wire.send(message);
      expect((await wire.nextLine()).length).toBeLessThan(SMALL);
      expect(log().length).toBeLessThan(SMALL);
    },
  );

  it.each([...EITHER, ...LEGACY])("%s, in 2025-11-25", async (_what, message) => {
    const { wire, log } = await probeWire(initialize());
    wire.send(message);
    expect((await wire.nextLine()).length).toBeLessThan(SMALL);
    expect(log().length).toBeLessThan(SMALL);
  });

  it.each([...EITHER, ...MODERN])("%s, in 2026-07-28", async (_what, message) => {
    const { wire, log } = await probeWire(modern(0, "server/discover"));
    wire.send(message);
    expect((await wire.nextLine()).length).toBeLessThan(SMALL);
    expect(log().length).toBeLessThan(SMALL);
  });

  it("in logs, for messages that are not answered", async () => {
    const { wire, log } = await probeWire(initialize());
    const answers = await wire.answers([
      { jsonrpc: "2.0", method: BIG, params: BIG },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: BIG } },
      { jsonrpc: "2.0", id: BIG, result: {} },
      { jsonrpc: "2.0", id: 5, error: { code: BIG } },
      { jsonrpc: BIG, id: 5, result: {} },
    ]);
    expect(answers).toEqual([]);
    expect(log().length).toBeLessThan(SMALL);
  });

  it("in errors that a client answers", async () => {
    const { wire } = await probeWire(initialize("2025-11-25", { elicitation: {} }));
    wire.send(call(1, "probe_wipe"));
    const { id } = await wire.next();
    wire.send({ jsonrpc: "2.0", id, error: { code: 1, message: BIG } });
    expect((await wire.nextLine()).length).toBeLessThan(SMALL);
  });

  it("in the state that carries a user's answers, which are refused if they are long", async () => {
    const asks = { [META.capabilities]: { elicitation: { form: {} } } };
    const wipe = (more: Fields = {}) =>
      withMeta(asks, "tools/call", { name: "probe_wipe", ...more });
    const { wire } = await probeWire();
    wire.send(wipe());
    const { result } = await wire.next();
    const [key = ""] = Object.keys(Object(result?.inputRequests));
    const answer = (content: Fields) => ({
      action: "accept",
      content: { confirm: true, ...content },
    });
    const { requestState } = Object(result);
    wire.send(
      wipe({ requestState, inputResponses: { [key]: answer({}), unasked: BIG, [BIG]: 1 } }),
    );
    const next = await wire.nextLine();
    expect(next).toContain("input_required");
    expect(next.length).toBeLessThan(SMALL);
    wire.send(wipe({ requestState, inputResponses: { [key]: answer({ more: BIG }) } }));
    const last = await wire.nextLine();
    expect(last).toContain("The user's answers are too long");
    expect(last.length).toBeLessThan(SMALL);
  });
});

describe("over HTTP", () => {
  const { message, headers } = modernCall("probe_echo", { text: "a" });
  const params: Fields = Object(message.params);
  const meta: Fields = Object(params._meta);
  const long = "x".repeat(12_000);

  it.each([
    ["a method other than the header's", { ...message, method: BIG }, headers],
    ["a name other than the header's", { ...message, params: { ...params, name: BIG } }, headers],
    [
      "a version other than the header's",
      { ...message, params: { ...params, _meta: { ...meta, [META.version]: BIG } } },
      headers,
    ],
    [
      "a version without a header",
      { ...message, params: { ...params, _meta: { ...meta, [META.version]: BIG } } },
      {},
    ],
    [
      "a method without a header",
      { ...message, method: BIG },
      { "mcp-protocol-version": "2026-07-28" },
    ],
    ["a method header", message, { ...headers, "mcp-method": long }],
    ["a name header", message, { ...headers, "mcp-name": long }],
    ["a version header", message, { ...headers, "mcp-protocol-version": long }],
    ["a session", message, { "mcp-session-id": long }],
    ["an origin", message, { ...headers, origin: `http://${long}` }],
    ["no JSON", BIG, headers],
    ["an initialize with a long version", { ...INITIALIZE, id: BIG }, {}],
  ])("%s is not repeated at length", async (_what, body, sent) => {
    const { url } = await start();
    const answer = await post(url, body, sent);
    const text = await answer.text();
    expect(answer.status, text.slice(0, 200)).toBeGreaterThanOrEqual(400);
    expect(text.length).toBeLessThan(SMALL);
  });

  it("in a session, neither are a version header and a method", async () => {
    const { url } = await start();
    const session = await openSession(url);
    for (const [body, more] of [
      [request(2, "ping"), { "mcp-protocol-version": long }],
      [request(2, BIG), {}],
      [request(2, "tools/call", { name: BIG }), {}],
    ] as const) {
      const answer = await post(url, body, { ...session, ...more });
      expect((await answer.text()).length).toBeLessThan(SMALL);
    }
  });
});
