import { describe, expect, it } from "vitest";
import { call, initialize, modern, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { requestProblem } from "./params.ts";

const prompt = { type: "ref/prompt", name: "p" };
const argument = { name: "a", value: "v" };

/** Method, problem, parameters, expected part of the message. */
const WRONG_IN_BOTH: [method: string, params: Record<string, unknown>, sentence: string][] = [
  ["tools/list", { cursor: 5 }, "params.cursor must be a string, not 5"],
  ["resources/list", { cursor: true }, "params.cursor must be a string, not true"],
  ["resources/templates/list", { cursor: {} }, "params.cursor must be a string, not an object"],
  ["prompts/list", { cursor: ["x"] }, "params.cursor must be a string, not an array"],
  ["tools/call", {}, "params.name is missing; it must be a string"],
  ["tools/call", { name: 5 }, "params.name must be a string, not 5"],
  [
    "tools/call",
    { name: "echo", arguments: [] },
    "params.arguments must be an object, not an array",
  ],
  ["tools/call", { name: "echo", arguments: "x" }, 'params.arguments must be an object, not "x"'],
  ["tools/call", { name: null }, "params.name is missing; it must be a string"],
  ["prompts/get", { arguments: {} }, "params.name is missing"],
  [
    "prompts/get",
    { name: "p", arguments: { x: 5 } },
    "params.arguments must be an object whose values are strings",
  ],
  [
    "prompts/get",
    { name: "p", arguments: [] },
    "params.arguments must be an object whose values are strings",
  ],
  ["resources/read", {}, "params.uri is missing"],
  ["resources/read", { uri: 5 }, "params.uri must be a string"],
  ["completion/complete", {}, "params.ref is missing"],
  [
    "completion/complete",
    { ref: { type: "ref/x" }, argument },
    'params.ref must be {"type":"ref/prompt"',
  ],
  ["completion/complete", { ref: { type: "ref/prompt" }, argument }, "params.ref must be"],
  [
    "completion/complete",
    { ref: { type: "ref/resource", uri: 1 }, argument },
    "params.ref must be",
  ],
  ["completion/complete", { ref: prompt }, "params.argument is missing"],
  [
    "completion/complete",
    { ref: prompt, argument: { name: "a" } },
    "params.argument.value is missing",
  ],
  [
    "completion/complete",
    { ref: prompt, argument: { name: 1, value: "" } },
    "params.argument.name must be a string",
  ],
  [
    "completion/complete",
    { ref: prompt, argument, context: 5 },
    "params.context must be an object",
  ],
  [
    "completion/complete",
    { ref: prompt, argument, context: { arguments: { a: 1 } } },
    "params.context.arguments must be an object whose values are strings",
  ],
];

const WRONG_IN_LEGACY: typeof WRONG_IN_BOTH = [
  ["resources/subscribe", {}, "params.uri is missing"],
  ["resources/subscribe", { uri: 5 }, "params.uri must be a string"],
  ["resources/unsubscribe", { uri: {} }, "params.uri must be a string"],
  ["logging/setLevel", {}, "params.level is missing"],
  [
    "logging/setLevel",
    { level: "loud" },
    'must be one of debug, info, notice, warning, error, critical, alert, emergency, not "loud"',
  ],
  ["logging/setLevel", { level: 5 }, "params.level must be one of"],
];

const WRONG_IN_MODERN: typeof WRONG_IN_BOTH = [
  [
    "tools/call",
    { name: "echo", inputResponses: 5 },
    "params.inputResponses must be an object, not 5",
  ],
  ["prompts/get", { name: "p", inputResponses: [] }, "params.inputResponses must be an object"],
  [
    "resources/read",
    { uri: "a:b", inputResponses: "x" },
    "params.inputResponses must be an object",
  ],
  ["subscriptions/listen", {}, "params.notifications is missing"],
  ["subscriptions/listen", { notifications: [] }, "params.notifications must be an object"],
  [
    "subscriptions/listen",
    { notifications: { toolsListChanged: "yes" } },
    "toolsListChanged must be true or false",
  ],
  [
    "subscriptions/listen",
    { notifications: { resourceSubscriptions: [5] } },
    "must be an array of at most 1,000 strings",
  ],
];

describe("wrong parameters", () => {
  it.each([...WRONG_IN_BOTH, ...WRONG_IN_LEGACY])(
    "legacy: %s %j",
    async (method, params, sentence) => {
      const wire = await Wire.legacy();
      const { id, error } = await wire.answer(request(1, method, params));
      expect({ id, code: error?.code }).toEqual({ id: 1, code: -32602 });
      expect(error?.message).toContain(sentence);
      expect(error?.message.startsWith(`${method}: params.`)).toBe(true);
      await wire.handle.close();
    },
  );

  it.each([...WRONG_IN_BOTH, ...WRONG_IN_MODERN])(
    "modern: %s %j",
    async (method, params, sentence) => {
      const wire = new Wire();
      const { id, error } = await wire.answer(modern(1, method, params), (last) =>
        modern(last, "server/discover"),
      );
      expect({ id, code: error?.code }).toEqual({ id: 1, code: -32602 });
      expect(error?.message).toContain(sentence);
      await wire.handle.close();
    },
  );

  it.each([
    ["resources/read", "params.uri is missing"],
    ["logging/setLevel", "params.level is missing"],
    ["tools/call", "params.name is missing"],
    ["prompts/get", "params.name is missing"],
    ["completion/complete", "params.ref is missing"],
  ])("%s without params", async (method, sentence) => {
    const wire = await Wire.legacy();
    expect((await wire.answer(request(1, method))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(sentence),
    });
    await wire.handle.close();
  });

  it.each([
    [{ protocolVersion: 5 }, "params.protocolVersion must be a string, not 5"],
    [{ capabilities: [] }, "params.capabilities must be an object whose"],
    [{ clientInfo: undefined }, "params.clientInfo is missing"],
    [{ clientInfo: { version: "1" } }, 'params.clientInfo must be an object with "name"'],
    [{ clientInfo: { name: "c", version: 1 } }, "params.clientInfo must be"],
    [
      { capabilities: { roots: 5 } },
      "params.capabilities must be an object whose values are objects.",
    ],
  ])("initialize with %j", async (wrong, sentence) => {
    const wire = new Wire();
    const right = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    wire.send(request(1, "initialize", { ...right, ...wrong }));
    const { error } = await wire.next();
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(sentence) });
    wire.send(initialize());
    expect((await wire.next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
    await wire.handle.close();
  });

  it("are reported at any depth", async () => {
    const wire = await Wire.legacy();
    const { error } = await wire.answer(
      request(1, "tools/call", { name: "echo", task: { ttl: "x" } }),
    );
    expect(error).toEqual({
      code: -32602,
      message: 'tools/call: params.task.ttl must be a number, not "x".',
    });
    await wire.handle.close();
  });
});

describe("right parameters", () => {
  const right: [string, Record<string, unknown>?][] = [
    ["tools/list"],
    ["tools/list", {}],
    ["tools/list", { cursor: "" }],
    ["tools/list", { cursor: null }],
    ["resources/list", { cursor: null }],
    ["resources/templates/list", { cursor: null }],
    ["prompts/list", { cursor: null }],
    ["tools/call", { name: "memory", arguments: null }],
    ["prompts/get", { name: "p", arguments: null }],
    ["completion/complete", { ref: prompt, argument, context: null }],
    ["completion/complete", { ref: prompt, argument, context: { arguments: null } }],
    ["tools/call", { name: "echo", arguments: { text: "x" } }],
    ["tools/call", { name: "memory" }],
    ["prompts/get", { name: "p" }],
    ["prompts/get", { name: "p", arguments: { a: "b" } }],
    ["resources/read", { uri: "demo:1" }],
    ["completion/complete", { ref: prompt, argument }],
    [
      "completion/complete",
      {
        ref: { type: "ref/resource", uri: "demo:{x}" },
        argument,
        context: { arguments: { a: "" } },
      },
    ],
  ];
  it.each(right)("are passed to the handler: %s %j", async (method, params) => {
    const legacy = await Wire.legacy();
    expect(await legacy.answer(request(1, method, params))).toHaveProperty("result");
    await legacy.handle.close();
    const wire = new Wire();
    const answer = await wire.answer(modern(1, method, params), (last) =>
      modern(last, "server/discover"),
    );
    expect(answer).toHaveProperty("result");
    await wire.handle.close();
  });

  it("are not checked if the era has no such method, or it is unknown", async () => {
    const wire = new Wire();
    const last = (id: string) => modern(id, "server/discover");
    for (const method of [
      "logging/setLevel",
      "resources/subscribe",
      "initialise",
      "constructor",
      "__proto__",
      "",
    ]) {
      expect((await wire.answer(modern(1, method), last)).error).toMatchObject({ code: -32601 });
    }
    await wire.handle.close();
    const legacy = await Wire.legacy();
    expect((await legacy.answer(request(1, "subscriptions/listen"))).error).toMatchObject({
      code: -32601,
    });
    expect((await legacy.answer(call(1, "echo", { text: "x" }))).result).toBeDefined();
    await legacy.handle.close();
  });

  it("are taken from own properties only", () => {
    const inherited = { method: "tools/call", params: Object.create({ name: "echo" }) };
    expect(requestProblem(inherited)?.message).toContain("is missing");
    expect(requestProblem({ method: "toString", params: {} })).toBeUndefined();
  });
});

describe("optional parameters that are null", () => {
  it("count as absent in initialize", async () => {
    const wire = new Wire();
    const clientInfo = { name: "c", version: "1", title: null, icons: null, websiteUrl: null };
    const capabilities = { roots: { listChanged: null }, sampling: null, elicitation: null };
    wire.send(
      request(1, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo }),
    );
    expect((await wire.next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
    await wire.handle.close();
  });

  it("count as absent in a subscription", async () => {
    const wire = new Wire();
    const notifications = { toolsListChanged: null, resourceSubscriptions: null };
    wire.send(modern(1, "subscriptions/listen", { notifications }));
    expect(await wire.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    await wire.handle.close();
  });

  it("count as absent in _meta", async () => {
    const wire = await Wire.legacy();
    expect(await wire.answer(request(1, "tools/list", { _meta: null }))).toHaveProperty("result");
    expect(
      await wire.answer(request(2, "tools/list", { _meta: { progressToken: null } })),
    ).toHaveProperty("result");
    await wire.handle.close();
  });

  it("are kept in a tool's arguments", async () => {
    const wire = await Wire.legacy();
    const { result } = await wire.answer(call(1, "echo", { text: null }));
    expect(result).toMatchObject({ content: [{ type: "text", text: "null" }] });
    await wire.handle.close();
  });
});
