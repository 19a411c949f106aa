import { PassThrough, Writable } from "node:stream";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createService } from "../../../test/fixtures/engine-service.ts";
import { call, initialize, request } from "../../../test/fixtures/messages.ts";
import { Wire } from "../../../test/fixtures/wire.ts";
import type { Handler } from "../../engine/request.ts";
import type { Listener, Service } from "../../engine/service.ts";
import { serveStdio } from "./stdio.ts";

const said = (text: string) => ({ content: [{ type: "text", text }] });

/** The fixture service with other handlers. */
function withMethods(handlers: Record<string, Handler>, listeners = new Set<Listener>()): Service {
  const service = createService();
  return {
    ...service,
    methods: new Map([...service.methods, ...Object.entries(handlers)]),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** An output that nobody reads until it is released. */
class StuckOutput extends Writable {
  lines = 0;
  #waiting: (() => void) | undefined;
  #open = false;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const take = (): void => {
      for (const byte of chunk) if (byte === 0x0a) this.lines += 1;
      done();
    };
    if (this.#open) take();
    else this.#waiting = take;
  }

  open(): void {
    this.#open = true;
    this.#waiting?.();
  }
}

describe("a client that stops reading", () => {
  it("is not read from either, and loses nothing when it continues", async () => {
    const input = new PassThrough();
    const output = new StuckOutput();
    let taken = 0;
    // Answers a moment later, like most handlers.
    const answer: Handler = async () => {
      taken += 1;
      return { text: "x".repeat(1000) };
    };
    const server = serveStdio(withMethods({ "tools/list": answer }), {
      input,
      output,
      maxQueued: 100_000,
    });
    const count = 10_000;
    input.write(
      Array.from(
        { length: count },
        (_, id) => `${JSON.stringify(request(id, "tools/list"))}\n`,
      ).join(""),
    );
    await expect.poll(() => input.isPaused()).toBe(true);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    // 100,000 characters are about a hundred answers; at most one turn of the event loop more was taken.
    expect(taken).toBeLessThan(300);
    const before = taken;
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(taken).toBe(before);
    output.open();
    while (output.lines < count) await sleep(5);
    expect(taken).toBe(count);
    await server.close();
  });

  it("gets no progress or log during a call, and each change once", async () => {
    const input = new PassThrough();
    const output = new StuckOutput();
    const text = "x".repeat(100);
    const listeners = new Set<Listener>();
    let isFlooded = false;
    const flood: Handler = async (call) => {
      for (let turn = 0; turn < 20_000; turn++) call.reportProgress(turn, undefined, text);
      for (let turn = 0; turn < 20_000; turn++) call.log("info", text);
      for (let turn = 0; turn < 20_000; turn++)
        for (const listener of listeners) listener.changed(`demo:${turn % 10}:${text}`);
      isFlooded = true;
      return {};
    };
    const service = withMethods({ "tools/call": flood }, listeners);
    const server = serveStdio(service, { input, output });
    const messages = [
      initialize(),
      ...Array.from({ length: 10 }, (_, turn) =>
        request(turn, "resources/subscribe", { uri: `demo:${turn}:${text}` }),
      ),
      request("flood", "tools/call", { name: "flood", _meta: { progressToken: 1 } }),
    ];
    input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await expect.poll(() => isFlooded).toBe(true);
    output.open();
    await server.close();
    // About 65,536 characters are written before the output counts as blocked, and as many wait.
    expect(output.lines).toBeLessThan(2000);
    expect(output.lines).toBeGreaterThan(100);
  });
});

describe("the end of the input", () => {
  it("waits for the calls in flight, and for what was read but not begun", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000, maxInFlight: 2 });
    const ids = [1, 2, 3, 4, 5, 6, 7];
    // The last line has no newline.
    wire.input.end(ids.map((id) => JSON.stringify(call(id, "sleep", { ms: 5 }))).join("\n"));
    for (const id of ids) expect(await wire.next()).toMatchObject({ id, result: said("slept") });
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
  });

  it("stops waiting after the grace period; remaining calls are aborted and answered with an error", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 30 });
    wire.send(call(1, "sleep", { ms: 60_000 }), call(2, "echo", { text: "x" }));
    wire.input.end();
    expect(await wire.next()).toMatchObject({ id: 2, result: said("x") });
    while (wire.ends.length === 0) await sleep(1);
    const waited = performance.now() - (wire.ends[0]?.since ?? Number.NaN);
    expect(waited).toBeGreaterThanOrEqual(29);
    await wire.handle.close();
    expect(await wire.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it("answers the server's questions to a closed client", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000 }, { roots: {} });
    wire.send(call(1, "ask"));
    expect((await wire.next()).method).toBe("roots/list");
    wire.input.end(`${JSON.stringify(call(2, "ask"))}\n`);
    // The second question is sent before the end is noticed, or not at all.
    const answers: unknown[] = [];
    while (answers.length < 2) {
      const reply = await wire.next();
      if (reply.method !== undefined) continue;
      expect(reply.error?.message).toContain("closed the connection");
      answers.push(reply.id);
    }
    expect(answers).toEqual([1, 2]);
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
  });
});

describe("a broken output", () => {
  it("ends the connection at once, whatever is in flight", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000 });
    wire.send(call(1, "sleep", { ms: 60_000 }));
    await sleep(5);
    wire.output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    while (wire.ends.length === 0) await sleep(1);
    expect(wire.ends[0]?.reason).toBe("output broken");
    await wire.handle.close();
    expect(wire.ends).toHaveLength(1);
  });
});
