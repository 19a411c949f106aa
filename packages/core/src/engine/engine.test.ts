import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createService } from "../../test/fixtures/engine-service.ts";
import { call, initialize, modern, notification } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { Caller, type Send } from "./caller.ts";
import { Engine } from "./engine.ts";
import { Load } from "./load.ts";
import { CALLS, type Handler } from "./request.ts";

const discover = (id: unknown) => modern(id, "server/discover");
const cancel = (requestId: unknown) => notification("notifications/cancelled", { requestId });

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
    // Nor is an answer with another id taken.
    const strangers = [99, String(questions[0]?.id)].map((id) => ({
      jsonrpc: "2.0",
      id,
      result: {},
    }));
    expect(await wire.answers(strangers)).toEqual([]);
    for (const { id } of questions)
      wire.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: `file:///${id}` }] } });
    const done = [await wire.next(), await wire.next()];
    expect(done.map(({ id }) => id)).toEqual([1, 2]);
    await wire.handle.close();
  });
});

describe("a rate", () => {
  it("counts every message, and refuses only requests", async () => {
    const engine = new Engine(createService(), new Load({ perMinute: 2 }));
    const answers: unknown[] = [];
    const send: Send = (json) => answers.push(JSON.parse(json ?? "null"));
    const caller = new Caller({ send });
    for (const message of [cancel(7), modern(1, "no/such"), modern(2, "ping"), cancel(8)])
      engine.serve(message, caller, send);
    expect(answers).toMatchObject([
      null,
      { id: 1, error: { code: -32601 } },
      { id: 2, error: { code: -32603, message: expect.stringContaining("in this minute") } },
      null,
    ]);
  });
});

describe("a call that is refused", () => {
  it("for its id or its version is published, too", async () => {
    const outcomes: unknown[] = [];
    const note = (finished: unknown) => outcomes.push(Object(finished).outcome);
    subscribe(CALLS, note);
    onTestFinished(() => void unsubscribe(CALLS, note));
    const wire = new Wire();
    const sleeping = modern(1, "tools/call", { name: "sleep", arguments: { ms: 5 } });
    wire.send(sleeping, sleeping, modern(2, "tools/call", { name: "echo" }, "2027-01-01"));
    for (let count = 0; count < 3; count++) await wire.next();
    expect(outcomes).toEqual([-32600, -32022, "ok"]);
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
