import { beforeAll, describe, expect, it } from "vitest";
import { conversation } from "./conversation.ts";
import { keyOf } from "./exchange.ts";
import { probeLauncher } from "./probe.ts";
import { type Fields, fieldsAt, MODERN, REVISIONS } from "./revisions.ts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const MIB = 1_048_576;

const latin1 = (byte: number) =>
  Buffer.from(`{"jsonrpc":"2.0","id":"${String.fromCharCode(byte)}"}`, "latin1");

/** Lines without a usable id, and the code of the one error that each gets. */
const REFUSED: readonly (readonly [name: string, line: string | Uint8Array, code: number])[] = [
  ["no JSON", "hello", PARSE_ERROR],
  ["a request that is cut off", '{"jsonrpc":"2.0","id":1,"method":"ping"', PARSE_ERROR],
  ["two messages", '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}', PARSE_ERROR],
  ["a byte order mark in the middle", '\ufeff{"jsonrpc":"2.0","method":"a"}', PARSE_ERROR],
  ["brackets that never close", "[".repeat(30_000), PARSE_ERROR],
  ["no UTF-8", latin1(0xff), PARSE_ERROR],
  ["a value", "42", INVALID_REQUEST],
  ["an empty object", "{}", INVALID_REQUEST],
  ["an empty array", "[]", INVALID_REQUEST],
  ["15,000 levels", `${"[".repeat(15_000)}${"]".repeat(15_000)}`, INVALID_REQUEST],
  ["a line over the limit", `{"x":"${"x".repeat(16 * MIB)}"}`, INVALID_REQUEST],
  ["the id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST],
  ["the id 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST],
  ["a notification without a method", '{"jsonrpc":"2.0","method":5}', INVALID_REQUEST],
];

/** Lines that get no answer. */
const SILENT: readonly (readonly [name: string, line: string])[] = [
  ["an empty line", ""],
  ["blanks", "  \t\r"],
  ["an unknown notification", '{"jsonrpc":"2.0","method":"notifications/nothing"}'],
  ["a bad notification", '{"jsonrpc":"2.0","method":"notifications/x","params":5}'],
  ["a response that nobody waits for", '{"jsonrpc":"2.0","id":7,"result":{}}'],
  ["a response without an id", '{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}'],
];

/** Requests with a usable id: changes of `tools/list` or of the named method, and the code of the error. */
const ANSWERED: readonly (readonly [name: string, change: Fields, code: number])[] = [
  ["jsonrpc 1.0", { jsonrpc: "1.0" }, INVALID_REQUEST],
  ["no jsonrpc", { jsonrpc: undefined }, INVALID_REQUEST],
  ["the method 5", { method: 5 }, INVALID_REQUEST],
  ["no method", { method: undefined }, INVALID_REQUEST],
  ["an unknown method", { method: "__proto__" }, METHOD_NOT_FOUND],
  ["a notification as a request", { method: "notifications/initialized" }, METHOD_NOT_FOUND],
  ["a request of servers", { method: "roots/list" }, METHOD_NOT_FOUND],
  ["a question of servers", { method: "elicitation/create" }, METHOD_NOT_FOUND],
  ["params in an array", { params: [1] }, INVALID_REQUEST],
  ["a request that is also a result", { result: {} }, INVALID_REQUEST],
];

/** Parameters of the wrong type: -32602 from each method. */
const PARAMETERS: readonly (readonly [method: string, params: Fields])[] = [
  ["tools/list", { cursor: 5 }],
  ["tools/list", { cursor: "not ours" }],
  ["resources/list", { cursor: "not ours" }],
  ["resources/templates/list", { cursor: "not ours" }],
  ["prompts/list", { cursor: "not ours" }],
  ["tools/call", {}],
  ["tools/call", { name: "probe_echo", arguments: [] }],
  ["tools/call", { name: "unknown" }],
  ["prompts/get", { name: "unknown" }],
  ["prompts/get", { name: "probe_greeting" }],
  ["prompts/get", { name: "probe_greeting", arguments: { who: 5 } }],
  ["resources/read", { uri: 5 }],
  ["completion/complete", { ref: { type: "ref/x" }, argument: { name: "a", value: "" } }],
];

describe.each(REVISIONS)("%s, malformed input", (revision) => {
  const launch = probeLauncher();
  const talk = conversation(() => launch("--roots", "off"), revision);

  // A modern client that has only probed might still continue in the legacy era.
  beforeAll(async () => {
    await talk.recorder.request("tools/list");
  });

  /** The codes of the errors for a line: those that name no request, and those for this id. */
  async function codes(line: string | Uint8Array, id?: unknown): Promise<unknown[]> {
    const { recorder } = talk;
    const from = recorder.messages.length;
    recorder.write(line);
    await recorder.alive();
    return recorder.messages
      .slice(from)
      .filter((message) => !("method" in message))
      .filter(
        (message) => (message.id ?? undefined) === undefined || keyOf(message.id) === keyOf(id),
      )
      .map((message) => fieldsAt(message, "error").code);
  }

  it.each(REFUSED)("%s is refused once, without an id", async (_name, line, code) => {
    expect(await codes(line)).toEqual([code]);
  });

  it.each(SILENT)("%s gets no answer", async (_name, line) => {
    expect(await codes(line)).toEqual([]);
  });

  it.each(ANSWERED)("%s is answered with its id", async (_name, change, code) => {
    const message = { ...talk.recorder.message("tools/list"), id: "odd", ...change };
    talk.recorder.expect(message);
    expect(await codes(JSON.stringify(message), "odd")).toEqual([code]);
  });

  it.each(PARAMETERS)("%s with %j is -32602", async (method, params) => {
    const { error } = await talk.recorder.request(method, params);
    expect(fieldsAt({ error }, "error").code).toBe(INVALID_PARAMS);
  });

  it.each([
    ["a number", 5],
    ["a progress token that is an object", { progressToken: {} }],
  ])("_meta that is %s is -32602", async (_name, meta) => {
    const message = { ...talk.recorder.message("tools/list"), params: { _meta: meta } };
    const { error } = await talk.recorder.sendRequest(message);
    expect(fieldsAt({ error }, "error").code).toBe(INVALID_PARAMS);
  });

  it("params that are null count as absent", async () => {
    const message = { ...talk.recorder.message("tools/list"), params: null };
    const answer = await talk.recorder.sendRequest(message);
    if (revision === MODERN) expect(fieldsAt(answer, "error").code).toBe(INVALID_PARAMS);
    else expect(answer).toHaveProperty("result");
  });
});
