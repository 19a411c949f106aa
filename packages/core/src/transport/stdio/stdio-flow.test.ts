import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createService } from "../../../test/fixtures/engine-service.ts";
import { call, initialize, request } from "../../../test/fixtures/messages.ts";
import { Wire } from "../../../test/fixtures/wire.ts";
import type { Handler } from "../../engine/request.ts";
import type { Listener, Service } from "../../engine/service.ts";
import { serveStdio } from "./stdio.ts";

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
        for (const listener of listeners) listener.resourceChanged(`demo:${turn % 10}:${text}`);
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
