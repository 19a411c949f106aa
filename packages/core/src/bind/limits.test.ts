import { once } from "node:events";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Connected, Era } from "../../../testing/src/connect.ts";
import { useConnections } from "../../test/fixtures/connect.ts";
import { initialize } from "../../test/fixtures/messages.ts";
import { probeServer } from "../../test/fixtures/probe.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { resourceFor } from "../define/resource.ts";
import { defineServer, lazyServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";
import { bind } from "../run/prepare.ts";
import { outlineOf } from "./outline.ts";

const connect = useConnections();

const textOf = (result: unknown): string => JSON.parse(JSON.stringify(result)).content[0].text;

describe("an error answer", () => {
  it("lists 20 wrong arguments and counts the others", async () => {
    const { client } = await connect(probeServer());
    const args = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`unknown_${index}`, 1]),
    );
    const text = textOf(await client.callTool({ name: "probe_echo", arguments: args }));
    expect(text.split("\n")).toHaveLength(1 + 20 + 1);
    expect(text).toContain('unknown argument "unknown_18"');
    expect(text).toMatch(/\n- and 981 more$/);
  });

  it("is short, however large the arguments are, and costs almost nothing", async () => {
    const { client } = await connect(probeServer());
    const keys = Array.from({ length: 100_000 }, (_, index) => `${"k".repeat(100)}${index}`);
    const args = Object.fromEntries(keys.map((key) => [key, "v"]));
    const text = textOf(await client.callTool({ name: "probe_echo", arguments: args }));
    expect(text.length).toBeLessThan(10_000);
    const long = "x".repeat(1_000_000);
    for (const [what, request] of Object.entries({
      tool: () => client.callTool({ name: long, arguments: {} }),
      prompt: () => client.getPrompt({ name: long }),
      uri: () => client.readResource({ uri: `probe://${long}` }),
      cursor: () => client.listResources({ cursor: long }),
    })) {
      const error = await request().catch((reason: unknown) => reason);
      expect(error, what).toBeInstanceOf(Error);
      expect(JSON.stringify(error).length + String(error).length, what).toBeLessThan(2_000);
    }
  });

  it("replaces a text over the hard limit", async () => {
    const { client } = await connect(probeServer());
    const args = { text: "x".repeat(20_000), times: 5 };
    const result = await client.callTool({ name: "probe_echo", arguments: args });
    expect(textOf(result)).toContain("the limit is 80,000");
  });

  it("stays within the hard limit, no matter what a tool throws", async () => {
    const { ToolError } = await import("@refmcp/boundary/answer");
    const tool = toolFor<null>();
    const server = defineServer({
      name: "loud",
      ...SERVER,
      tools: [
        tool({
          name: "loud_throw",
          ...TOOL,
          input: z.strictObject({}),
          run() {
            throw new ToolError("invalid", "m".repeat(200_000), {
              data: { much: "d".repeat(200_000) },
            });
          },
        }),
      ],
      open: () => null,
    });
    const { client } = await connect(server);
    const result = await client.callTool({ name: "loud_throw", arguments: {} });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toHaveLength(80_000);
    expect(result.structuredContent).toBeUndefined();
  });

  it("reports a deeply nested argument as such, and __proto__ as unknown", async () => {
    const log: string[] = [];
    const writeLog = (line: string) => void log.push(line);
    const { service, close } = await bind(probeServer(), { writeLog });
    const wire = new Wire({}, service);
    wire.send(initialize());
    await wire.next();
    const line = (args: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe_echo","arguments":${args}}}`;
    const deep = `${"[".repeat(90_000)}${"]".repeat(90_000)}`;
    const wrong = await wire.answer(line(`{"text":${deep}}`));
    expect(textOf(wrong.result)).toContain("text: expected a string, got an array.");
    const polluted = await wire.answer(line('{"text":"a","__proto__":{"times":5}}'));
    expect(textOf(polluted.result)).toContain('unknown argument "__proto__"');
    expect(log.join("")).not.toContain("fault");
    await wire.handle.close();
    await close();
  });
});

describe("subscriptions/listen", () => {
  it("accepts at most 1,000 URIs, and reports once what it cannot watch", async () => {
    const { client, stderr } = await connect(probeServer());
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `nothing://${index}`);
    await expect(client.listen({ resourceSubscriptions: many(1_001) })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(
        "resourceSubscriptions must be an array of at most 1,000 strings",
      ),
    });
    const subscription = await client.listen({
      resourcesListChanged: true,
      resourceSubscriptions: many(1_000),
    });
    expect(subscription.honoredFilter).toEqual({ resourcesListChanged: true });
    expect(stderr().match(/Cannot watch/g)).toHaveLength(1);
    expect(stderr()).toContain("(and 999 more)");
  });
});

/** A server with a resource whose watch begins with `start`, and what is noted when it is stopped. */
function watching(start: (signal: AbortSignal) => Promise<unknown>) {
  const stopped: string[] = [];
  const watched = resourceFor<null>()({
    uri: "watch://it",
    name: "it",
    title: "It",
    description: "Is watched.",
    read: () => "it",
    async watch(_context, _changed, call) {
      await start(call.signal);
      return () => void stopped.push("stopped");
    },
  });
  const definition = { name: "watch", ...SERVER, tools: [], resources: [watched] };
  return { server: defineServer({ ...definition, open: () => null }), stopped };
}

it("a watch that has started is not aborted when its first subscriber ends", async () => {
  const signals: AbortSignal[] = [];
  const { server, stopped } = watching((signal) => {
    signals.push(signal);
    return new Promise(setImmediate);
  });
  const { client } = await connect(server, { era: "modern" });
  const resourceSubscriptions = ["watch://it"];
  const [first, second] = [
    await client.listen({ resourceSubscriptions }),
    await client.listen({ resourceSubscriptions }),
  ];
  await first.close();
  await client.listTools();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await second.close();
  await expect.poll(() => stopped).toEqual(["stopped"]);
});

it("a watch that is cancelled while it starts is stopped once it has started", async () => {
  let release: (value?: unknown) => void = () => undefined;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  const { server, stopped } = watching((signal) => once(signal, "abort").then(() => released));
  const { client } = await connect(server, { era: "legacy" });
  const controller = new AbortController();
  const subscribing = client.subscribeResource(
    { uri: "watch://it" },
    { signal: controller.signal },
  );
  await client.listTools();
  controller.abort();
  await expect(subscribing).rejects.toThrow();
  await client.listTools();
  expect(stopped).toEqual([]);
  release();
  await expect.poll(() => stopped).toEqual(["stopped"]);
});

it("what a handler returns is awaited if it has a method then, though it is no Promise", async () => {
  const thenable = toolFor<null>()({
    name: "then_text",
    ...TOOL,
    input: z.strictObject({}),
    run: () =>
      Object.assign(Object.create(null), {
        // biome-ignore lint/suspicious/noThenProperty: an author's library may return this
        then: (resolve: (text: string) => void) => setImmediate(resolve, "later"),
      }),
  });
  const server = defineServer({ name: "then", ...SERVER, tools: [thenable], open: () => null });
  const { client } = await connect(server);
  // First while the server opens, then without that.
  for (const _ of [1, 2])
    expect(textOf(await client.callTool({ name: "then_text", arguments: {} }))).toBe("later");
});

describe.each<Era>(["legacy", "modern"])("%s: code of the author", (era) => {
  const aborted: string[] = [];
  const forever = (what: string, signal: AbortSignal) =>
    new Promise<never>(() => signal.addEventListener("abort", () => aborted.push(what)));
  const resource = resourceFor<null>();
  const server = defineServer({
    name: "slow",
    ...SERVER,
    tools: [],
    resources: [
      resource({
        uriTemplate: "slow://{name}",
        name: "slow",
        title: "Slow",
        description: "Never there.",
        read: (_variables, _context, call) => forever("read", call.signal),
        list: (_context, _cursor, call) => forever("list", call.signal),
        complete: { name: (_value, _context, _others, call) => forever("complete", call.signal) },
        watch: (_variables, _context, _changed, call) => forever("watch", call.signal),
      }),
    ],
    open: () => null,
  });
  it("in a completion ends with the client's cancellation", async () => {
    aborted.length = 0;
    const { client } = await connect(server, { era });
    const controller = new AbortController();
    const ref = { type: "ref/resource", uri: "slow://{name}" } as const;
    const argument = { name: "name", value: "" };
    const request = client.complete({ ref, argument }, { signal: controller.signal });
    request.catch(() => undefined);
    await client.listTools();
    controller.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => aborted).toEqual(["complete"]);
  });

  it("in a list ends with the time limit of a call", async () => {
    aborted.length = 0;
    const { client } = await connect(server, { era, args: ["--timeout-ms", "100"] });
    await expect(client.listResources()).rejects.toThrow("the time limit of a call");
    expect(aborted).toEqual(["list"]);
  });

  it("in a watch ends with the time limit of a call", async () => {
    aborted.length = 0;
    const { client } = await connect(server, { era, args: ["--timeout-ms", "100"] });
    if (era === "legacy")
      await expect(client.subscribeResource({ uri: "slow://a" })).rejects.toThrow(
        "the time limit of a call",
      );
    else
      expect((await client.listen({ resourceSubscriptions: ["slow://a"] })).honoredFilter).toEqual(
        {},
      );
    expect(aborted).toEqual(["watch"]);
  });
});

it.each<Era>(["legacy", "modern"])(
  "%s: a server that is loaded with its first call lists what the loaded one lists, and is loaded once",
  async (era) => {
    const real = probeServer();
    let loads = 0;
    // As in a bundle: the outline has been JSON.
    const outline = JSON.parse(JSON.stringify(outlineOf(real)));
    const server = lazyServer(outline, real.options, async () => {
      loads += 1;
      return real;
    });
    const listsOf = async (client: Connected["client"]) => ({
      identity: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
      tools: (await client.listTools()).tools,
      prompts: (await client.listPrompts()).prompts,
      templates: (await client.listResourceTemplates()).resourceTemplates,
    });
    const { client } = await connect(server, { era });
    const loaded = (await connect(probeServer(), { era })).client;
    expect(await listsOf(client)).toEqual(await listsOf(loaded));
    expect(loads).toBe(0);
    expect((await client.listResources()).resources).toEqual(
      (await loaded.listResources()).resources,
    );
    await client.callTool({ name: "probe_say", arguments: { text: "a" } });
    expect(loads).toBe(1);
  },
);

describe("a call that is over before its handler runs", () => {
  /** A server that is slow to open, and its parts. */
  function opening() {
    const ran: string[] = [];
    let release: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tool = toolFor<null>();
    const resource = resourceFor<null>();
    const server = defineServer({
      name: "late",
      ...SERVER,
      tools: [
        tool({
          name: "late_run",
          ...TOOL,
          effect: "change",
          input: z.strictObject({}),
          run: () => {
            ran.push("run");
            return "ran";
          },
        }),
      ],
      resources: [
        resource({
          uri: "late://watched",
          name: "watched",
          title: "Watched",
          description: "Is never read.",
          read() {
            throw Object.create(null);
          },
        }),
      ],
      open: () => opened.then(() => null),
    });
    return { server, ran, release };
  }

  it("does not run if the client cancelled or the time limit came first", async () => {
    const { server, ran, release } = opening();
    const { client } = await connect(server, { args: ["--timeout-ms", "200"] });
    const controller = new AbortController();
    const cancelled = client.callTool(
      { name: "late_run", arguments: {} },
      { signal: controller.signal },
    );
    const late = client.callTool({ name: "late_run", arguments: {} });
    controller.abort();
    await expect(cancelled).rejects.toThrow();
    expect(textOf(await late)).toContain("the time limit of a call");
    release();
    const after = await client.callTool({ name: "late_run", arguments: {} });
    expect(textOf(after)).toBe("ran");
    expect(ran).toEqual(["run"]);
  });

  it("is answered, no matter what is thrown", async () => {
    const { server, release } = opening();
    release();
    const { client } = await connect(server);
    await expect(client.readResource({ uri: "late://watched" })).rejects.toMatchObject({
      code: -32603,
    });
  });
});
