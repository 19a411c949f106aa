import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { type Fields, initialize, notification, request } from "../../test/fixtures/messages.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { type Reply, Wire } from "../../test/fixtures/wire.ts";
import { defineServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";
import { bind } from "../run/prepare.ts";
import { Caller, type Send } from "./caller.ts";
import { Engine } from "./engine.ts";
import { internalError, ProtocolError } from "./errors.ts";
import { Load } from "./load.ts";
import { REVISIONS } from "./revision.ts";
import type { Service } from "./service.ts";
import { META, TASKS_EXTENSION } from "./wire.ts";

/** What a test knows of the calls, and how it lets them end. */
class Bench {
  readonly #waiting: (() => void)[] = [];
  readonly aborted: string[] = [];
  runs = 0;

  wait(): Promise<void> {
    this.runs += 1;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets the call that waits the shortest end. */
  async releaseLast(): Promise<void> {
    await expect.poll(() => this.#waiting.length).toBeGreaterThan(0);
    this.#waiting.pop()?.();
  }

  async release(): Promise<void> {
    await expect.poll(() => this.#waiting.length).toBeGreaterThan(0);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const tool = toolFor<Bench>();
const nothing = z.strictObject({});
const NAME = z.object({ name: z.string() });
const tools = [
  tool({
    name: "task_wait",
    ...TOOL,
    input: z.strictObject({ note: z.string().default("half") }),
    async run({ note }, bench, call) {
      call.signal.addEventListener("abort", () => bench.aborted.push(note));
      call.progress(1, 2, note);
      await bench.wait();
      return `waited: ${note}`;
    },
  }),
  tool({
    name: "task_left",
    ...TOOL,
    input: nothing,
    async run(_, bench, call) {
      const { leftMs } = call;
      await bench.wait();
      return String(leftMs > 50_000);
    },
  }),
  tool({
    name: "task_remove",
    ...TOOL,
    effect: "destroy",
    input: nothing,
    async run(_, bench, call) {
      await bench.wait();
      await call.confirm("Remove it?");
      return "removed";
    },
  }),
  tool({
    name: "task_names",
    ...TOOL,
    input: nothing,
    async run(_, bench, call) {
      await bench.wait();
      const [first, second] = await Promise.all([
        call.ask("First?", NAME, "first"),
        call.ask("Second?", NAME, "second"),
      ]);
      return `${first.name} and ${second.name}`;
    },
  }),
  tool({
    name: "task_ask_first",
    ...TOOL,
    input: nothing,
    async run(_, bench, call) {
      const { name } = await call.ask("Who?", NAME, "who");
      await bench.wait();
      return `for ${name}`;
    },
  }),
  tool({
    name: "task_break",
    ...TOOL,
    input: nothing,
    async run(_, bench) {
      await bench.wait();
      throw new ProtocolError(internalError("It broke."));
    },
  }),
  tool({
    name: "task_picture",
    ...TOOL,
    input: nothing,
    async run(_, bench) {
      await bench.wait();
      return [{ type: "image", mimeType: "image/png", data: "A".repeat(12 * 1_048_576) }];
    },
  }),
];

let bench: Bench;
let service: Service;
const open: Wire[] = [];

async function start(...args: string[]): Promise<void> {
  bench = new Bench();
  const server = defineServer({ ...SERVER, name: "tasks", tools, open: () => bench });
  const afterMs = args.includes("--task-after-ms") ? [] : ["--task-after-ms", "0"];
  ({ service } = await bind(server, { argv: [...afterMs, ...args] }));
}

function connect(): Wire {
  const wire = new Wire({}, service);
  open.push(wire);
  return wire;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const wire of open.splice(0)) wire.input.end();
  await service.tasks.close();
});

let nextId = 1;

describe("tasks of 2026-07-28", () => {
  const FOLLOWS = { extensions: { [TASKS_EXTENSION]: {} }, elicitation: {} };

  function modern(method: string, params: Fields, capabilities: Fields = FOLLOWS): Fields {
    const _meta = { [META.version]: "2026-07-28", [META.capabilities]: capabilities };
    return request(nextId++, method, { ...params, _meta });
  }
  const callOf = (name: string, args: Fields = {}, capabilities?: Fields) =>
    modern("tools/call", { name, arguments: args }, capabilities);

  async function ask(wire: Wire, message: Fields): Promise<Reply> {
    wire.send(message);
    return wire.next();
  }
  /** A call's task, which has been answered. */
  async function begin(wire: Wire, name: string, args?: Fields): Promise<string> {
    const { result } = await ask(wire, callOf(name, args));
    expect(result).toMatchObject({ resultType: "task", status: "working" });
    return String(result?.taskId);
  }
  const get = (wire: Wire, taskId: string) => ask(wire, modern("tasks/get", { taskId }));
  async function until(wire: Wire, taskId: string, status: string): Promise<Fields> {
    for (;;) {
      const { result, error } = await get(wire, taskId);
      if (error !== undefined) throw new Error(error.message);
      if (result?.status === status) return result;
      expect(["working", "input_required"]).toContain(result?.status);
      // Streams in memory would leave no turn to timers.
      await new Promise(setImmediate);
    }
  }

  it("a call that takes long is answered with one, whose result is that of the call", async () => {
    await start();
    const wire = connect();
    const { result: created } = await ask(wire, callOf("task_wait"));
    expect(created).toEqual({
      resultType: "task",
      taskId: expect.stringMatching(/^[\da-f-]{36}$/),
      status: "working",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lastUpdatedAt: expect.any(String),
      ttlMs: 3_600_000 + 900_000,
      pollIntervalMs: 1_000,
      _meta: expect.anything(),
    });
    const taskId = String(created?.taskId);
    const { result: working } = await get(wire, taskId);
    expect(working).toMatchObject({ resultType: "complete", taskId, status: "working" });
    await bench.release();
    const completed = await until(wire, taskId, "completed");
    expect(completed.result).toMatchObject({ content: [{ type: "text", text: "waited: half" }] });
    // It is found again, and by every connection of the same caller.
    expect(await until(connect(), taskId, "completed")).toMatchObject({ result: completed.result });
  });

  it("is cancelled, once and again, with an empty answer; the call's signal fires", async () => {
    await start();
    const wire = connect();
    const taskId = await begin(wire, "task_wait", { note: "stop me" });
    for (let times = 0; times < 2; times++) {
      const { result } = await ask(wire, modern("tasks/cancel", { taskId }));
      expect(Object.keys(Object(result)).sort()).toEqual(["_meta", "resultType"]);
    }
    expect(await until(wire, taskId, "cancelled")).not.toHaveProperty("result");
    expect(bench.aborted).toEqual(["stop me"]);
  });

  it("asks the user: the call runs again with the answers, and keys are never used twice", async () => {
    await start();
    const wire = connect();
    const taskId = await begin(wire, "task_names");
    await bench.release();
    const { inputRequests } = await until(wire, taskId, "input_required");
    const [first, second] = Object.keys(Object(inputRequests));
    expect([first, second]).toEqual(["1-first", "1-second"]);
    const answer = (responses: Fields) =>
      ask(wire, modern("tasks/update", { taskId, inputResponses: responses }));
    const accept = (name: unknown) => ({ action: "accept", content: { name } });
    expect(
      (await answer({ [String(first)]: accept("Ada"), unknown: accept("x") })).result,
    ).toMatchObject({
      resultType: "complete",
    });
    expect((await get(wire, taskId)).result).toMatchObject({
      status: "input_required",
      inputRequests: { [String(second)]: { method: "elicitation/create" } },
    });
    // An answer that does not fit is asked for again.
    await answer({ [String(second)]: { action: "unknown" } });
    await bench.release();
    const again = await until(wire, taskId, "input_required");
    expect(Object.keys(Object(again.inputRequests))).toEqual(["2-second"]);
    await answer({ [String(second)]: accept("too late"), "2-second": accept("Mary") });
    await bench.release();
    expect((await until(wire, taskId, "completed")).result).toMatchObject({
      content: [{ text: "Ada and Mary" }],
    });
    expect(bench.runs).toBe(3);
  });

  it("is completed with an error if the user declines, and failed after a protocol error", async () => {
    await start();
    const wire = connect();
    const taskId = await begin(wire, "task_remove");
    await bench.release();
    const { inputRequests } = await until(wire, taskId, "input_required");
    const [key = ""] = Object.keys(Object(inputRequests));
    const inputResponses = { [key]: { action: "decline" } };
    await ask(wire, modern("tasks/update", { taskId, inputResponses }));
    await bench.release();
    expect((await until(wire, taskId, "completed")).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("The user declined.") }],
    });
    const breaking = await begin(wire, "task_break");
    await bench.release();
    const failed = await until(wire, breaking, "failed");
    const message = "It broke.";
    expect(failed).toMatchObject({ error: { code: -32_603, message }, statusMessage: message });
    expect(failed).not.toHaveProperty("result");
  });

  it("a question before it is asked without a task", async () => {
    await start();
    const wire = connect();
    const asked = await ask(wire, callOf("task_ask_first"));
    expect(asked.result).toMatchObject({ resultType: "input_required" });
    expect(asked.result).not.toHaveProperty("taskId");
    const { requestState } = Object(asked.result);
    const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
    const call = { name: "task_ask_first", arguments: {}, inputResponses, requestState };
    const { result } = await ask(wire, modern("tools/call", call));
    expect(result).toMatchObject({ resultType: "task" });
    expect(result).not.toHaveProperty("requestState");
    await bench.release();
    const done = await until(wire, String(result?.taskId), "completed");
    expect(done.result).toMatchObject({ content: [{ text: "for Ada" }] });
  });

  it("is unknown under another id, and to a client that does not declare the extension", async () => {
    await start();
    const wire = connect();
    const taskId = await begin(wire, "task_wait");
    for (const [method, more] of [
      ["tasks/get"],
      ["tasks/update", { inputResponses: {} }],
      ["tasks/cancel"],
    ] as const) {
      expect((await ask(wire, modern(method, { taskId: "none", ...more }))).error).toMatchObject({
        code: -32_602,
        message: expect.stringContaining('There is no task "none"'),
      });
      expect((await ask(wire, modern(method, { taskId, ...more }, {}))).error).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
      });
    }
    for (const method of ["tasks/result", "tasks/list"])
      expect((await ask(wire, modern(method, { taskId }))).error).toMatchObject({ code: -32_601 });
  });

  it("fails when the server closes", async () => {
    await start();
    const wire = connect();
    const running = await begin(wire, "task_wait");
    await service.tasks.close();
    expect(await until(wire, running, "failed")).toMatchObject({
      error: { message: "The server closed before this task was finished." },
    });
  });

  it("has one time limit for all its rounds and the user's answers", async () => {
    await start("--timeout-ms", "100", "--task-timeout-ms", "1000");
    // No time passes except here, so a second limit would never run out.
    vi.useFakeTimers({ toFake: ["performance"] });
    const wire = connect();
    const taskId = await begin(wire, "task_names");
    // The time limit of a call ends first, and ends no task.
    await sleep(200);
    await bench.release();
    await until(wire, taskId, "input_required");
    vi.advanceTimersByTime(1_000);
    const accepted = { action: "accept", content: { name: "Ada" } };
    const inputResponses = { "1-first": accepted, "1-second": accepted };
    await ask(wire, modern("tasks/update", { taskId, inputResponses }));
    const text = expect.stringContaining("Timed out after 1 s, the time limit of a task.");
    expect((await until(wire, taskId, "completed")).result).toMatchObject({
      isError: true,
      content: [{ text }],
    });
  });

  it("has its own time limit from the start of a call that may become one", async () => {
    await start();
    const wire = connect();
    const taskId = await begin(wire, "task_left");
    await bench.release();
    const { result } = await until(wire, taskId, "completed");
    expect(result).toMatchObject({ content: [{ text: "true" }] });
  });

  it("is not expected by a call whose own time ends before it", async () => {
    await start("--task-after-ms", "60000");
    const answer = ask(connect(), callOf("task_left"));
    await bench.release();
    expect((await answer).result).toMatchObject({ content: [{ text: "false" }] });
  });

  it("is refused to a caller that has half of all, where callers are distinguished, and not to others", async () => {
    await start();
    const engine = new Engine(service, new Load({ isShared: true }));
    const beginAs = (owner: string) =>
      new Promise<Reply>((resolve) => {
        const send: Send = (json) => resolve(JSON.parse(json ?? "{}"));
        const caller = new Caller({ principal: { key: owner, owner }, send });
        caller.era = "legacy";
        caller.revision = REVISIONS.get("2025-11-25");
        const params = { name: "task_wait", arguments: {}, task: {} };
        engine.serve(request(nextId++, "tools/call", params), caller, send);
      });
    for (let task = 0; task < 1_000; task++)
      expect((await beginAs("eve")).result).toHaveProperty("task");
    expect((await beginAs("eve")).error?.message).toContain("Too many tasks");
    expect((await beginAs("bob")).result).toHaveProperty("task");
  });

  it("belongs to its caller: others do not find it, nor tokens without the scope of its tool", async () => {
    await start();
    const answers = new Map<unknown, Reply>();
    const engine = new Engine(service);
    const send: Send = (json) => {
      const reply: Reply = JSON.parse(json ?? "{}");
      answers.set(reply.id, reply);
    };
    const as = (key: string, scopes?: readonly string[]) =>
      new Caller({ principal: { key, owner: key, scopes }, send });
    const askAs = async (caller: Caller, message: Fields): Promise<Reply> => {
      engine.serve(message, caller, send);
      await expect.poll(() => answers.has(message.id)).toBe(true);
      return Object(answers.get(message.id));
    };
    const { result } = await askAs(as("ada"), callOf("task_remove"));
    const { taskId } = Object(result);
    const isFound = async (caller: Caller) => {
      const { error } = await askAs(caller, modern("tasks/get", { taskId }));
      return error === undefined;
    };
    expect(await isFound(as("ada"))).toBe(true);
    expect(await isFound(as("ada", ["tasks:read", "tasks:destroy"]))).toBe(true);
    expect(await isFound(as("ada", ["tasks:read"]))).toBe(false);
    expect(await isFound(as("eve"))).toBe(false);
    for (const [method, more] of [
      ["tasks/cancel", {}],
      ["tasks/update", { inputResponses: {} }],
    ] as const)
      expect((await askAs(as("eve"), modern(method, { taskId, ...more }))).error).toMatchObject({
        code: -32_602,
      });
    expect((await askAs(as("ada"), modern("tasks/get", { taskId }))).result).toMatchObject({
      status: "working",
    });
  });

  it("results beyond the memory for them displace the oldest, and no running task", async () => {
    await start();
    const wire = connect();
    const running = await begin(wire, "task_wait");
    const ids: string[] = [];
    for (let picture = 0; picture < 6; picture++) {
      const before = ids.length;
      ids.push(await begin(wire, "task_picture"));
      await bench.releaseLast();
      await until(wire, ids[before] ?? "", "completed");
    }
    expect((await get(wire, ids[0] ?? "")).error).toMatchObject({ code: -32_602 });
    expect((await get(wire, ids[1] ?? "")).result).toMatchObject({ status: "completed" });
    expect((await get(wire, ids[5] ?? "")).result).toMatchObject({ status: "completed" });
    expect((await get(wire, running)).result).toMatchObject({ status: "working" });
  });
});

describe("tasks of 2025-11-25", () => {
  async function connectLegacy(version = "2025-11-25", capabilities: Fields = { elicitation: {} }) {
    const wire = connect();
    wire.send(initialize(version, capabilities));
    const { result } = await wire.next();
    wire.send(notification("notifications/initialized"));
    return { wire, capabilities: Object(result?.capabilities) };
  }
  async function ask(wire: Wire, method: string, params: Fields): Promise<Reply> {
    wire.send(request(nextId++, method, params));
    return wire.next();
  }
  const callOf = (name: string, more: Fields = { task: { ttl: 60_000 } }) => ({
    name,
    arguments: {},
    ...more,
  });

  it("has the form of the specification and its own time limit, and cannot be cancelled when finished", async () => {
    await start();
    const { wire, capabilities } = await connectLegacy();
    expect(capabilities.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    const { result } = await ask(wire, "tools/call", callOf("task_left"));
    expect(result?.task).toEqual({
      taskId: expect.any(String),
      status: "working",
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttl: 4_500_000,
      pollInterval: 1_000,
    });
    await bench.release();
    const { taskId } = Object(result?.task);
    const done = await ask(wire, "tasks/result", { taskId });
    expect(done.result).toMatchObject({
      content: [{ text: "true" }],
      _meta: { [META.relatedTask]: { taskId } },
    });
    const { result: state } = await ask(wire, "tasks/get", { taskId });
    expect(state).toMatchObject({ taskId, status: "completed" });
    expect((await ask(wire, "tasks/cancel", { taskId })).error).toMatchObject({ code: -32_602 });
  });

  it("asks its questions, each with the id of the task, and its result waits for the answer", async () => {
    await start();
    const { wire } = await connectLegacy();
    const { result } = await ask(wire, "tools/call", callOf("task_remove"));
    const { taskId } = Object(result?.task);
    await bench.release();
    const question = await wire.next();
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { _meta: { [META.relatedTask]: { taskId } } },
    });
    expect((await ask(wire, "tasks/get", { taskId })).result).toMatchObject({
      status: "input_required",
    });
    wire.send(request("result", "tasks/result", { taskId }));
    wire.send({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "accept", content: { confirm: true } },
    });
    await bench.release();
    expect(await wire.next()).toMatchObject({
      id: "result",
      result: { content: [{ text: "removed" }] },
    });
  });
});
