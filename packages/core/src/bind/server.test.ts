import type { ElicitResult } from "@modelcontextprotocol/client";
import { JsonText } from "@refmcp/boundary/answer";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import type { ConnectOptions, Era } from "../../../testing/src/connect.ts";
import { useConnections } from "../../test/fixtures/connect.ts";
import { type Probe, probeServer } from "../../test/fixtures/probe.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { defineServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";

const connectTo = useConnections();

async function connect(options: ConnectOptions) {
  const probes: Probe[] = [];
  return { ...(await connectTo(probeServer(probes), options)), probes };
}

const agree =
  (reason: string) =>
  (params: { message: string }): ElicitResult =>
    params.message === "Why?"
      ? { action: "accept", content: { reason } }
      : { action: "accept", content: { confirm: true } };

describe.each<Era>(["legacy", "modern"])("a bound server, %s era", (era) => {
  it.each([
    ["--read-only", "echo fail link slow"],
    ["--tools probe_echo,probe_extra", "echo extra"],
    ["--exclude-tools probe_fail,probe_slow,probe_link,probe_wipe", "count echo"],
    ["--allow-write --toolsets extra --tools probe_write", "extra write"],
    ["--toolsets extra --tools probe_write", "extra"],
    ["--toolsets slim,extra --exclude-tools probe_say", "extra slow"],
    [
      "--allow-write --toolsets default,extra --exclude-tools probe_link,probe_slow,probe_wipe",
      "count echo extra fail write",
    ],
    ["--read-only --toolsets all --tools probe_say", "echo extra fail link slow"],
  ])("offers with %s what the options allow", async (args, expected) => {
    const { client } = await connect({ era, args: args.split(" ") });
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(names).toEqual(expected.split(" ").map((name) => `probe_${name}`));
  });

  it("accepts an argument under another name, and refuses it under both", async () => {
    const { client } = await connect({ era });
    const say = (args: object) => client.callTool({ name: "probe_echo", arguments: { ...args } });
    expect((await say({ message: "ab" })).content).toEqual([{ type: "text", text: "ab" }]);
    expect(await say({ message: "ab", text: "cd" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('unknown argument "message"') }],
    });
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
    const { client } = await connectTo(server, { era });
    const call = async (input: Record<string, unknown>) => {
      const result = await client.callTool({ name: "test_nested", arguments: input });
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
    const { client } = await connectTo(server, { era });
    const seen: number[] = [];
    await client.callTool(
      { name: "test_busy", arguments: {} },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(seen.length).toBeLessThan(200);
    expect(seen[0]).toBe(1);
    expect(seen.at(-1)).toBe(parts);
  });

  it("restarts the time limit with each progress report, requested or not, at most ten times", async () => {
    const tool = toolFor<null>();
    const times: number[] = [];
    const patient = tool({
      name: "long_work",
      ...TOOL,
      input: z.strictObject({ parts: z.int().min(1).max(100) }),
      async run({ parts }, _context, call) {
        for (let part = 1; part <= parts; part++) {
          if (part <= 2) times.push(call.leftMs);
          await new Promise((resolve) => setTimeout(resolve, 400));
          call.progress(part, parts);
        }
        return "done";
      },
    });
    const server = defineServer({ ...SERVER, name: "long", tools: [patient], open: () => null });
    const { client } = await connectTo(server, { era, args: ["--timeout-ms", "500"] });
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
      expect(await work(100)).toContain("raise --timeout-ms if the host allows longer calls");
      expect(await work(100, { onprogress })).toContain("the time limit of a call");
      expect(times).toEqual([5_000, 4_600, 500, 100, 500, 100, 5_000, 4_600]);
    } finally {
      vi.useRealTimers();
    }
  });
});

it("JSON text is sent unchanged in both places, within the hard limit", async () => {
  const ready = toolFor<null>()({
    ...TOOL,
    name: "ready_text",
    input: z.strictObject({ size: z.int() }),
    output: z.object({ rows: z.array(z.unknown()) }),
    run: ({ size }) => new JsonText(`{"rows": [1.0, "a\\"b\\u2028",\r\n"${"x".repeat(size)}"]}`),
  });
  const server = defineServer({ ...SERVER, name: "ready", tools: [ready], open: () => null });
  const { client } = await connectTo(server, { era: "modern" });
  const text = (size: number) => client.callTool({ name: "ready_text", arguments: { size } });
  const { content, structuredContent } = await text(2);
  expect(content).toEqual([{ type: "text", text: '{"rows": [1.0, "a\\"b\\u2028",  "xx"]}' }]);
  expect(structuredContent).toEqual({ rows: [1, 'a"b\u2028', "xx"] });
  expect(await text(90_000)).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringContaining("the limit is 80,000") }],
  });
});
