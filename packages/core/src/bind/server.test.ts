import type { ElicitResult } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  type Connected,
  type ConnectOptions,
  connectInMemory,
  type Era,
} from "../../../testing/src/connect.ts";
import { initialize, modern } from "../../test/fixtures/messages.ts";
import { type Probe, probeServer } from "../../test/fixtures/probe.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { type Reply, Wire } from "../../test/fixtures/wire.ts";
import { defineServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";
import { prepare } from "../run/prepare.ts";
import { serviceOf } from "./server.ts";

const open: Connected[] = [];

async function connect(options: ConnectOptions): Promise<Connected & { probes: Probe[] }> {
  const probes: Probe[] = [];
  const connected = await connectInMemory(probeServer(probes), options);
  open.push(connected);
  return { ...connected, probes };
}

afterEach(async () => {
  for (const connected of open.splice(0)) await connected.close();
});

const agree =
  (reason: string) =>
  (params: { message: string }): ElicitResult =>
    params.message === "Why?"
      ? { action: "accept", content: { reason } }
      : { action: "accept", content: { confirm: true } };

describe.each<Era>(["legacy", "modern"])("a bound server, %s era", (era) => {
  it("reports its name, version and instructions", async () => {
    const { client } = await connect({ era });
    expect(client.getServerVersion()).toMatchObject({
      name: "refmcp-probe",
      title: "Probe",
      version: "1.2.3",
    });
    expect(client.getInstructions()).toBe("Call the probes.");
  });

  it("lists tools by name, without those that need a flag, a toolset, or are aliases", async () => {
    const { client } = await connect({ era });
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "probe_count",
      "probe_echo",
      "probe_fail",
      "probe_link",
      "probe_slow",
      "probe_wipe",
    ]);
    expect(tools[1]).toEqual({
      name: "probe_echo",
      title: "Echo",
      description: "Answer with the text that was given.",
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string", description: "Any text." },
          times: {
            type: "integer",
            minimum: 1,
            maximum: 5,
            default: 1,
            description: "How often, 1 to 5.",
          },
          tone: {
            type: "string",
            enum: ["plain", "loud"],
            description: "How it sounds.",
          },
        },
        required: ["text"],
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      ...(era === "legacy" && { execution: { taskSupport: "optional" } }),
    });
  });

  it.each([
    [["--read-only"], ["probe_echo", "probe_fail", "probe_link", "probe_slow"]],
    [
      ["--tools", "probe_echo,probe_extra"],
      ["probe_echo", "probe_extra"],
    ],
    [
      ["--exclude-tools", "probe_fail,probe_slow,probe_link,probe_wipe"],
      ["probe_count", "probe_echo"],
    ],
    [["--toolsets", "extra"], ["probe_extra"]],
    [
      ["--allow-write", "--toolsets", "extra", "--tools", "probe_write"],
      ["probe_extra", "probe_write"],
    ],
    [["--toolsets", "extra", "--tools", "probe_write"], ["probe_extra"]],
    [
      ["--toolsets", "slim"],
      ["probe_echo", "probe_slow"],
    ],
    [
      ["--toolsets", "slim,extra", "--exclude-tools", "probe_say"],
      ["probe_extra", "probe_slow"],
    ],
    [
      [
        "--allow-write",
        "--toolsets",
        "default,extra",
        "--exclude-tools",
        "probe_link,probe_slow,probe_wipe",
      ],
      ["probe_count", "probe_echo", "probe_extra", "probe_fail", "probe_write"],
    ],
    [["--read-only", "--toolsets", "all", "--tools", "probe_say"], undefined],
    [["--tools", "probe_say"], ["probe_echo"]],
  ])("offers with %j what the options allow", async (args, expected) => {
    const { client } = await connect({ era, args });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(names).toEqual(
      expected ?? ["probe_echo", "probe_extra", "probe_fail", "probe_link", "probe_slow"],
    );
  });

  it("runs a text tool, fills in defaults, treats null as omitted, and accepts an older name", async () => {
    const { client } = await connect({ era });
    const result = await client.callTool({
      name: "probe_say",
      arguments: { text: "ab", times: 2, tone: null },
    });
    expect(result.content).toEqual([{ type: "text", text: "abab" }]);
    expect(result.structuredContent).toBeUndefined();
  });

  it("accepts an argument under another name, and refuses it under both", async () => {
    const { client } = await connect({ era });
    const say = (given: object) => client.callTool({ name: "probe_echo", arguments: { ...given } });
    expect((await say({ message: "ab" })).content).toEqual([{ type: "text", text: "ab" }]);
    expect(await say({ message: "ab", text: "cd" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('unknown argument "message"') }],
    });
  });

  it("sends data as structured content and as the same JSON, without unknown keys", async () => {
    const { client } = await connect({ era });
    const result = await client.callTool({ name: "probe_count", arguments: { by: 3 } });
    expect(result.structuredContent).toEqual({ count: 3, inner: { kept: true } });
    expect(result.content).toEqual([{ type: "text", text: '{"count":3,"inner":{"kept":true}}' }]);
  });

  it("adds links to data", async () => {
    const { client } = await connect({ era });
    const result = await client.callTool({ name: "probe_link", arguments: {} });
    expect(result.content).toEqual([
      { type: "text", text: "See it." },
      { type: "resource_link", uri: "probe://count", name: "count", mimeType: "text/plain" },
    ]);
  });

  it("lists each wrong argument on its own line, with similar names and what is expected", async () => {
    const { client } = await connect({ era });
    const result = await client.callTool({
      name: "probe_echo",
      arguments: { txt: "a", times: 9, tone: "quiet", __proto__x: 1 },
    });
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([
      {
        type: "text",
        text: [
          "Invalid arguments for probe_echo:",
          "- text: expected a string, got nothing.",
          "- times: expected at most 5, got 9.",
          '- tone: expected "plain" or "loud", got "quiet".',
          '- unknown argument "txt". Did you mean text? Expected: text, times, tone.',
          '- unknown argument "__proto__x". Expected: text, times, tone.',
        ].join("\n"),
      },
    ]);
  });

  it("compares an unknown argument with the names on the same level", async () => {
    const nested = toolFor<null>()({
      ...TOOL,
      name: "test_nested",
      input: z.strictObject({
        entities: z.array(z.strictObject({ name: z.string(), notes: z.array(z.string()) })),
        name_of_all: z.string().optional(),
      }),
      run: () => "done",
    });
    const server = defineServer({ ...SERVER, name: "test", tools: [nested], open: () => null });
    const connected = await connectInMemory(server, { era });
    open.push(connected);
    const call = async (input: Record<string, unknown>) => {
      const result = await connected.client.callTool({ name: "test_nested", arguments: input });
      return JSON.stringify(result.content);
    };
    const wrong = { entities: [{ name: "Ada", notes: [], note: "x" }] };
    expect(await call(wrong)).toContain(
      'entities.0: unknown argument \\"note\\". Did you mean notes?',
    );
    expect(await call({ entites: [] })).toContain("Did you mean entities?");
  });

  it("shows a tool's error in full and an internal error as an id that is also in the log", async () => {
    const { client, stderr } = await connect({ era });
    const error = await client.callTool({ name: "probe_fail", arguments: { how: "error" } });
    expect(error).toMatchObject({
      isError: true,
      content: [{ text: "There is no such thing.\nMake one." }],
    });
    expect(error._meta?.["io.github.refmcp/error"]).toEqual({
      kind: "not_found",
      code: "no_thing",
    });
    for (const how of ["fault", "schema"]) {
      const fault = await client.callTool({ name: "probe_fail", arguments: { how } });
      const text = JSON.stringify(fault.content);
      const id = /id ([0-9a-f]{8})/.exec(text)?.[1];
      expect(fault.isError).toBe(true);
      expect(text).not.toContain("secret-of-the-stack");
      expect(stderr()).toContain(`fault ${id}`);
    }
    expect(stderr()).toContain("secret-of-the-stack");
  });

  it("refuses an answer over the hard limit", async () => {
    const { client } = await connect({ era });
    const result = await client.callTool({ name: "probe_fail", arguments: { how: "huge" } });
    expect(JSON.stringify(result.content)).toContain("the limit is 80,000");
    expect(result.isError).toBe(true);
  });

  it("answers an unknown tool, prompt and cursor with -32602", async () => {
    const { client } = await connect({ era });
    await expect(client.callTool({ name: "probe_ecko", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Did you mean probe_echo?"),
    });
    await expect(client.getPrompt({ name: "probe_greting" })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.listTools({ cursor: "made up" })).rejects.toMatchObject({ code: -32602 });
    await expect(client.listResources({ cursor: "made up" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("opens the context once, on the first call that needs it", async () => {
    const { client, probes } = await connect({ era });
    await client.listTools();
    expect(probes).toHaveLength(0);
    await Promise.all(
      [1, 2, 3].map((by) => client.callTool({ name: "probe_count", arguments: { by } })),
    );
    expect(probes).toHaveLength(1);
    expect(probes[0]?.count).toBe(6);
  });

  it("asks the user in sequence and changes nothing before the last answer", async () => {
    const asked: string[] = [];
    const { client, probes } = await connect({
      era,
      elicit(params) {
        asked.push(params.message);
        if (probes[0] !== undefined) expect(probes[0].count).toBe(7);
        return agree("tidy")(params);
      },
    });
    await client.callTool({ name: "probe_count", arguments: { by: 7 } });
    const result = await client.callTool({ name: "probe_wipe", arguments: {} });
    expect(result.structuredContent).toEqual({ lost: 7, reason: "tidy" });
    expect(asked).toEqual(["Lose the count of 7?", "Why?"]);
    expect(probes[0]?.events.filter((event) => event === "wiped")).toHaveLength(1);
  });

  it.each<[string, ElicitResult]>([
    ["declines", { action: "decline" }],
    ["cancels", { action: "cancel" }],
    ["does not tick the box", { action: "accept", content: { confirm: false } }],
  ])("changes nothing if the user %s", async (_how, answer) => {
    const { client, probes } = await connect({ era, elicit: () => answer });
    await client.callTool({ name: "probe_count", arguments: { by: 2 } });
    const result = await client.callTool({ name: "probe_wipe", arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain("The user declined. Nothing was changed.");
    expect(probes[0]?.count).toBe(2);
  });

  it("refuses to confirm if the user cannot be asked, and does not ask with --confirm never", async () => {
    const silent = await connect({ era });
    const refused = await silent.client.callTool({ name: "probe_wipe", arguments: {} });
    expect(JSON.stringify(refused.content)).toContain("--confirm never");
    const forced = await connect({ era, args: ["--confirm", "never"], elicit: agree("sure") });
    const done = await forced.client.callTool({ name: "probe_wipe", arguments: {} });
    expect(done.structuredContent).toEqual({ lost: 0, reason: "sure" });
  });

  it("reports progress to a client that wants it", async () => {
    const { client } = await connect({ era });
    const seen: unknown[] = [];
    await client.callTool(
      { name: "probe_slow", arguments: { ms: 50 } },
      { onprogress: (progress) => void seen.push(progress) },
    );
    expect(seen).toEqual([{ progress: 1, total: 2, message: "half" }]);
  });

  it("limits how often progress is reported, but always reports the last", async () => {
    const parts = 5_000;
    const busy = toolFor<null>()({
      ...TOOL,
      name: "test_busy",
      input: z.strictObject({}),
      async run(_, __, call) {
        for (let part = 1; part <= parts; part++) call.progress(part, parts);
        return "done";
      },
    });
    const server = defineServer({ ...SERVER, name: "test", tools: [busy], open: () => null });
    const connected = await connectInMemory(server, { era });
    open.push(connected);
    const seen: number[] = [];
    await connected.client.callTool(
      { name: "test_busy", arguments: {} },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(seen.length).toBeLessThan(200);
    expect(seen[0]).toBe(1);
    expect(seen.at(-1)).toBe(parts);
  });

  it("stops the work when the client cancels", async () => {
    const { client, probes } = await connect({ era });
    const controller = new AbortController();
    const call = client.callTool(
      { name: "probe_slow", arguments: { ms: 30_000 } },
      { signal: controller.signal },
    );
    await expect.poll(() => probes.length).toBe(1);
    controller.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => probes[0]?.events).toEqual(["aborted"]);
  });

  it("stops the work at the time limit and says which option changes it", async () => {
    const { client, probes } = await connect({ era, args: ["--timeout-ms", "100"] });
    const result = await client.callTool({ name: "probe_slow", arguments: { ms: 30_000 } });
    expect(JSON.stringify(result.content)).toContain("--timeout-ms");
    expect(probes[0]?.events).toEqual(["aborted"]);
  });

  it("restarts the time limit with each progress report, requested or not, at most ten times", async () => {
    const tool = toolFor<null>();
    const left: number[] = [];
    const patient = tool({
      name: "long_work",
      ...TOOL,
      input: z.strictObject({ parts: z.int().min(1).max(100) }),
      async run({ parts }, _context, call) {
        for (let part = 1; part <= parts; part++) {
          if (part <= 2) left.push(call.leftMs);
          await new Promise((resolve) => setTimeout(resolve, 400));
          call.progress(part, parts);
        }
        return "done";
      },
    });
    const definition = {
      name: "long",
      ...SERVER,
    };
    const server = defineServer({
      ...definition,
      options: {},
      tools: [patient],
      open: async () => null,
    });
    const { client, close } = await connectInMemory(server, { era, args: ["--timeout-ms", "500"] });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const work = async (parts: number, options = {}) => {
        const answer = client.callTool({ name: "long_work", arguments: { parts } }, options);
        await vi.advanceTimersByTimeAsync(6_000);
        return JSON.stringify((await answer).content);
      };
      const onprogress = () => undefined;
      expect(await work(8, { onprogress })).toContain("done");
      expect(await work(8)).toContain("done");
      expect(await work(100)).toContain("the time limit of a call");
      expect(await work(100, { onprogress })).toContain("the time limit of a call");
      expect(left).toEqual([5_000, 4_600, 500, 100, 500, 100, 5_000, 4_600]);
    } finally {
      vi.useRealTimers();
      await close();
    }
  });

  it("lists resources in pages, templates, and reads text and bytes", async () => {
    const { client } = await connect({ era });
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      pages.push(page.resources.map((resource) => resource.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages.flat()).toEqual(["probe://count", "probe://item/a", "probe://item/b"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map((template) => template.uriTemplate)).toEqual([
      "probe://item/{name}",
    ]);
    const text = await client.readResource({ uri: "probe://item/a%20b" });
    expect(text.contents).toEqual([
      { uri: "probe://item/a%20b", mimeType: "text/x-item", text: "item a b" },
    ]);
    const bytes = await client.readResource({ uri: "probe://item/bytes" });
    expect(bytes.contents).toEqual([{ uri: "probe://item/bytes", blob: "AP8K" }]);
  });

  it("answers a missing resource with -32602 and its URI, an internal error without its stack", async () => {
    const { client } = await connect({ era });
    for (const uri of ["probe://item/missing", "other://thing"]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        code: -32602,
        data: { uri },
      });
    }
    await expect(client.readResource({ uri: "probe://item/broken" })).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining("secret-of-the-stack"),
    });
  });

  it("completes template variables and prompt arguments", async () => {
    const { client } = await connect({ era });
    const item = await client.complete({
      ref: { type: "ref/resource", uri: "probe://item/{name}" },
      argument: { name: "name", value: "x" },
    });
    expect(item.completion.values).toHaveLength(100);
    expect(item.completion).toMatchObject({ total: 150, hasMore: true });
    const who = await client.complete({
      ref: { type: "ref/prompt", name: "probe_greeting" },
      argument: { name: "who", value: "A" },
      context: { arguments: { tone: "warm" } },
    });
    expect(who.completion.values).toEqual(["Anna", "warm"]);
  });

  it("fills in a prompt and names missing arguments", async () => {
    const { client } = await connect({ era });
    const { prompts } = await client.listPrompts();
    expect(prompts).toEqual([
      {
        name: "probe_greeting",
        title: "Greeting",
        description: "Greets somebody.",
        arguments: [
          { name: "who", description: "A name.", required: true },
          { name: "tone", description: "How it sounds.", required: false },
        ],
      },
    ]);
    const filled = await client.getPrompt({
      name: "probe_greeting",
      arguments: { who: "Ann", tone: "warm" },
    });
    expect(filled.messages).toEqual([
      { role: "user", content: { type: "text", text: "Greet Ann in a warm tone." } },
    ]);
    await expect(client.getPrompt({ name: "probe_greeting", arguments: {} })).rejects.toMatchObject(
      {
        code: -32602,
        message: expect.stringContaining("who: expected a string, got nothing"),
      },
    );
  });

  it("passes the client's roots to a call", async () => {
    const roots = [{ uri: "file:///tmp", name: "tmp" }];
    const { client } = await connect({ era, roots, args: ["--toolsets", "all"] });
    const result = await client.callTool({ name: "probe_extra", arguments: {} });
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(roots) }]);
  });

  it("closes the context with the server", async () => {
    const { client, probes, close } = await connect({ era });
    await client.callTool({ name: "probe_count", arguments: {} });
    await close();
    expect(probes[0]?.closed).toBe(true);
  });
});

describe("subscriptions", () => {
  it("legacy: the first subscriber starts the watch, updates arrive, the last one stops it", async () => {
    const { client, probes } = await connect({ era: "legacy" });
    const updates: string[] = [];
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void updates.push(params.uri),
    );
    await client.subscribeResource({ uri: "probe://count" });
    probes[0]?.watchers.get("probe://count")?.();
    await expect.poll(() => updates).toEqual(["probe://count"]);
    await client.unsubscribeResource({ uri: "probe://count" });
    expect(probes[0]?.watchers.size).toBe(0);
    await expect(client.subscribeResource({ uri: "probe://item/missing" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("modern: watches before it acknowledges, lists only what is accepted, and stops with the stream", async () => {
    const { client, probes, stderr } = await connect({ era: "modern" });
    const updates: string[] = [];
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void updates.push(params.uri),
    );
    const wanted = ["probe://count", "probe://item/a", "probe://item/missing", "other://thing"];
    const subscription = await client.listen({ resourceSubscriptions: wanted });
    expect(subscription.honoredFilter).toEqual({
      resourceSubscriptions: ["probe://count", "probe://item/a"],
    });
    expect([...(probes[0]?.watchers.keys() ?? [])]).toEqual(["probe://count", "probe://item/a"]);
    expect(stderr()).toContain("Cannot watch probe://item/missing");
    probes[0]?.watchers.get("probe://item/a")?.();
    await expect.poll(() => updates).toEqual(["probe://item/a"]);
    await subscription.close();
    await expect.poll(() => probes[0]?.watchers.size).toBe(0);
  });

  it("stops every watch when the connection closes", async () => {
    const { client, probes, close } = await connect({ era: "modern" });
    await client.listen({ resourceSubscriptions: ["probe://count"] });
    await close();
    expect(probes[0]?.watchers.size).toBe(0);
  });
});

describe("icons", () => {
  it.each([
    ["2025-06-18", false],
    ["2025-11-25", true],
  ])("of the server are sent to a client of %s: %j", async (version, known) => {
    const prepared = await prepare(probeServer(), [], {});
    if (prepared.kind !== "run") throw new Error("not running");
    const wire = new Wire({}, serviceOf(prepared.runtime));
    const { result } = await wire.answer(initialize(version));
    const { icons } = Object(Object(result).serverInfo);
    const icon = {
      src: expect.stringMatching(/^data:image\/svg\+xml,%3Csvg/),
      mimeType: "image/svg+xml",
      sizes: ["any"],
    };
    expect(icons).toEqual(known ? [icon] : undefined);
    await wire.handle.close();
  });

  it("come with discovery, not with every response", async () => {
    const prepared = await prepare(probeServer(), [], {});
    if (prepared.kind !== "run") throw new Error("not running");
    const wire = new Wire({}, serviceOf(prepared.runtime));
    const infoOf = ({ result }: Reply) =>
      Object(Object(Object(result)._meta)["io.modelcontextprotocol/serverInfo"]);
    expect(infoOf(await wire.answer(modern(1, "server/discover")))).toHaveProperty("icons");
    expect(infoOf(await wire.answer(modern(2, "tools/list")))).not.toHaveProperty("icons");
    await wire.handle.close();
  });
});

describe("a limit on answers beyond what Claude Code shows", () => {
  it.each([
    ["50000", undefined],
    ["60000", { "anthropic/maxResultSizeChars": 60_000 }],
  ])("of %s characters is declared for each tool: %j", async (limit, meta) => {
    const { client } = await connect({ args: ["--max-answer-chars", limit] });
    const { tools } = await client.listTools();
    for (const tool of tools) expect(tool._meta, tool.name).toEqual(meta);
  });
});
