import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createService } from "../../test/fixtures/engine-service.ts";
import { call, initialize, modern, notification, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import type { Handler } from "./request.ts";

const discover = (id: unknown) => modern(id, "server/discover");
const cancel = (requestId: unknown) => notification("notifications/cancelled", { requestId });
const said = (text: string) => ({ content: [{ type: "text", text }] });

describe("ids", () => {
  it.each([
    0,
    -1,
    2 ** 53 - 1,
    -(2 ** 53 - 1),
    "",
    "0",
    "ключ 🗝 \u2028",
    "\ud800",
    "x".repeat(1000),
  ])("are returned unchanged: %j", async (id) => {
    const wire = await Wire.legacy();
    expect(await wire.answer(call(id, "echo", { text: "a" }))).toMatchObject({
      id,
      result: said("a"),
    });
    expect(await wire.answer(request(id, "nope"))).toMatchObject({ id, error: { code: -32601 } });
    await wire.handle.close();
  });

  it("are distinguished by type", async () => {
    const wire = await Wire.legacy();
    wire.send(call(1, "sleep", { ms: 20 }), call("1", "sleep", { ms: 20 }));
    expect([(await wire.next()).id, (await wire.next()).id]).toEqual([1, "1"]);
    await wire.handle.close();
  });

  it("in use are refused while the first request is running, and free after its answer", async () => {
    const wire = await Wire.legacy();
    wire.send(call(7, "sleep", { ms: 30 }), call(7, "echo", { text: "second" }));
    expect(await wire.next()).toMatchObject({
      id: 7,
      error: { code: -32600, message: expect.stringContaining("7") },
    });
    expect(await wire.next()).toMatchObject({ id: 7, result: said("slept") });
    expect(await wire.answer(call(7, "echo", { text: "third" }))).toMatchObject({
      id: 7,
      result: said("third"),
    });
    await wire.handle.close();
  });
});

describe("a cancelled request", () => {
  it("gets no response, even if its tool continues, and frees its id at once", async () => {
    const wire = await Wire.legacy();
    wire.send(
      call(1, "sleep", { ms: 40, stubborn: true }),
      cancel(1),
      call(1, "echo", { text: "again" }),
    );
    expect(await wire.next()).toMatchObject({ id: 1, result: said("again") });
    await sleep(60);
    expect(await wire.answers([])).toEqual([]);
    await wire.handle.close();
  });

  it("sends no more progress (MCP 2026-07-28, stdio: Cancellation)", async () => {
    const wire = new Wire();
    const { params, ...rest } = modern(1, "tools/call", {
      name: "progress",
      arguments: { count: 100_000 },
    });
    wire.send({
      ...rest,
      params: { ...Object(params), _meta: { ...Object(params)._meta, progressToken: "t" } },
    });
    expect(await wire.next()).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "t" },
    });
    // What was written before the cancellation arrives first.
    await wire.answers([cancel(1)], discover);
    await sleep(20);
    expect(await wire.answers([], discover)).toEqual([]);
    await wire.handle.close();
  });
});

describe("subscriptions/listen", () => {
  it("stays in flight until cancelled, without counting toward the limit", async () => {
    const wire = new Wire({ maxInFlight: 2 });
    const listen = (id: unknown) =>
      modern(id, "subscriptions/listen", { notifications: { resourcesListChanged: true } });
    for (const id of [1, 2, 3]) {
      wire.send(listen(id));
      expect(await wire.next()).toMatchObject({
        method: "notifications/subscriptions/acknowledged",
      });
    }
    expect(await wire.answer(listen(1), discover)).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    expect(await wire.answers([cancel(1)], discover)).toEqual([]);
    wire.send(listen(1));
    expect(await wire.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    await wire.handle.close();
    // Each ends with a notification and a result, not with our error for unanswered requests.
    for (const id of [2, 3, 1]) {
      const params = { requestId: id };
      expect(await wire.next()).toMatchObject({ method: "notifications/cancelled", params });
      expect(await wire.next()).toMatchObject({ id, result: { resultType: "complete" } });
    }
  });
});

describe("the limit of unanswered requests", () => {
  it("pauses reading until there is an answer, and loses nothing", async () => {
    let now = 0;
    let most = 0;
    const service = createService();
    const counted: Handler = async () => {
      now += 1;
      most = Math.max(most, now);
      await sleep(2);
      now -= 1;
      return {};
    };
    const methods = new Map([...service.methods, ["tools/call", counted] as const]);
    const wire = new Wire({ maxInFlight: 3 }, { ...service, methods });
    wire.send(initialize());
    await wire.next();
    const ids = Array.from({ length: 20 }, (_, id) => id);
    wire.send(...ids.map((id) => call(id, "sleep", { ms: 2 })));
    const answered: unknown[] = [];
    for (const _ of ids) {
      answered.push((await wire.next()).id);
    }
    expect(answered.sort((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(most).toBe(3);
    expect(wire.input.isPaused()).toBe(false);
    await wire.handle.close();
  });

  it("does not block the client's answers to calls that wait for them", async () => {
    const wire = await Wire.legacy("2025-11-25", { maxInFlight: 2 }, { roots: {} });
    wire.send(call(1, "ask"), call(2, "ask"));
    const questions = [await wire.next(), await wire.next()];
    expect(questions.map(({ method }) => method)).toEqual(["roots/list", "roots/list"]);
    // Requests over the limit are refused, since the two calls need reading to continue.
    wire.send(call(3, "echo", { text: "x" }));
    expect(await wire.next()).toMatchObject({
      id: 3,
      error: { code: -32603, message: expect.stringContaining("retry") },
    });
    for (const { id } of questions)
      wire.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: `file:///${id}` }] } });
    const done = [await wire.next(), await wire.next()];
    expect(done.map(({ id }) => id)).toEqual([1, 2]);
    await wire.handle.close();
  });
});

describe("initialize", () => {
  it("is finished before later messages are processed", async () => {
    const wire = new Wire();
    // In one chunk: whether the batch is allowed depends on the outcome.
    const batch = [request(1, "ping"), request(2, "ping")];
    wire.write(
      [initialize("2025-03-26"), notification("notifications/initialized"), batch]
        .map((m) => `${JSON.stringify(m)}\n`)
        .join(""),
    );
    expect(await wire.next()).toMatchObject({
      id: "init",
      result: { protocolVersion: "2025-03-26" },
    });
    expect(await wire.next()).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
    await wire.handle.close();
  });
});

describe("responses of the client", () => {
  it("reach the call that asked", async () => {
    const wire = await Wire.legacy("2025-11-25", {}, { roots: {} });
    wire.send(call(1, "ask"));
    const { id } = await wire.next();
    wire.send({ jsonrpc: "2.0", id: String(id), result: { roots: [] } });
    wire.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: "file:///a" }] }, extra: 1 });
    expect(await wire.next()).toMatchObject({ id: 1, result: said("file:///a") });
    // The first had the id as a string, which matches no request.
    expect(wire.notes).toEqual([expect.stringContaining("no request was sent with it")]);
    await wire.handle.close();
  });

  it("that were not requested or are malformed are dropped with a note", async () => {
    const wire = await Wire.legacy();
    const strays = [
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: null, result: {} },
      { jsonrpc: "2.0", id: 1, error: {} },
      { jsonrpc: "2.0", id: 1, result: 5 },
      { jsonrpc: "2.0", error: { code: -32700, message: "x" } },
    ];
    expect(await wire.answers(strays)).toEqual([]);
    expect(wire.notes).toHaveLength(strays.length);
    await wire.handle.close();
  });

  it("are logged at a limited rate", async () => {
    const wire = await Wire.legacy();
    expect(
      await wire.answers(
        Array.from({ length: 500 }, (_, id) => ({ jsonrpc: "2.0", id, result: {} })),
      ),
    ).toEqual([]);
    expect(wire.notes).toHaveLength(50);
    await wire.handle.close();
  });
});

describe("a result that cannot be serialized", () => {
  it("becomes an error", async () => {
    const wire = await Wire.legacy();
    expect(await wire.answer(call(1, "deep"))).toMatchObject({ id: 1, error: { code: -32603 } });
    await wire.handle.close();
  });
});
