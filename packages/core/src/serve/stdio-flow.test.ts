import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { call, modern, notification, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { StdioTransport } from "./stdio.ts";

const said = (text: string) => ({ content: [{ type: "text", text }] });

/** An output that nobody reads, until it is let go. */
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
  it("is not read from either, and loses nothing when it goes on", async () => {
    const input = new PassThrough();
    const output = new StuckOutput();
    const transport = new StdioTransport({ input, output, maxQueued: 100_000 });
    const delivered: unknown[] = [];
    transport.onmessage = (message) => {
      delivered.push(message);
      if ("id" in message && message.id !== undefined) {
        const answer = { jsonrpc: "2.0" as const, id: message.id, result: { text: "x".repeat(1000) } };
        // A moment later, as the SDK does.
        void Promise.resolve().then(() => transport.send(answer));
      }
    };
    await transport.start();
    const count = 10_000;
    input.write(
      Array.from({ length: count }, (_, id) => `${JSON.stringify(request(id, "ping"))}\n`).join(""),
    );
    await sleep(50);
    expect(input.isPaused()).toBe(true);
    // 100,000 characters are about a hundred answers; at most one turn of the event loop more was taken.
    expect(delivered.length).toBeLessThan(300);
    const before = delivered.length;
    await sleep(20);
    expect(delivered.length).toBe(before);
    output.open();
    while (output.lines < count) await sleep(5);
    expect(delivered.length).toBe(count);
    await transport.close();
  });

  it("gets no progress and no log meanwhile, and each change once", async () => {
    const input = new PassThrough();
    const output = new StuckOutput();
    const transport = new StdioTransport({ input, output });
    transport.onmessage = () => undefined;
    await transport.start();
    input.write(`${JSON.stringify(request(1, "tools/list"))}\n`);
    await sleep(5);
    const flood = async (
      method: string,
      params: (turn: number) => Record<string, unknown>,
    ): Promise<void> => {
      for (let turn = 0; turn < 20_000; turn++) {
        await transport.send({ jsonrpc: "2.0", method, params: params(turn) }, { relatedRequestId: 1 });
      }
    };
    const text = "x".repeat(100);
    await flood("notifications/progress", (progress) => ({ progressToken: 1, progress, text }));
    await flood("notifications/message", (data) => ({ level: "info", data, text }));
    await flood("notifications/resources/updated", (turn) => ({ uri: `demo:${turn % 10}`, text }));
    await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    output.open();
    await transport.close();
    // About 65,536 characters go out before the output counts as blocked, and as many wait.
    expect(output.lines).toBeLessThan(2000);
    expect(output.lines).toBeGreaterThan(100);
  });
});

describe("the end of the input", () => {
  it("ends the connection at once where nothing is in flight", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000 });
    wire.input.end();
    while (wire.ends.length === 0) await sleep(1);
    expect(wire.ends).toEqual([{ reason: "input ended", since: expect.any(Number) }]);
    await wire.handle.close();
    expect(wire.ends).toHaveLength(1);
  });

  it("waits for the calls in flight, and for what was read but not begun", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000, maxInFlight: 2 });
    const ids = [1, 2, 3, 4, 5, 6, 7];
    // The last line has no newline.
    wire.input.end(ids.map((id) => JSON.stringify(call(id, "sleep", { ms: 5 }))).join("\n"));
    for (const id of ids) expect(await wire.next()).toMatchObject({ id, result: said("slept") });
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
  });

  it("ends the waiting after the grace; what is left is aborted and answered with an error", async () => {
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

  it("does not wait for a subscription", async () => {
    const wire = new Wire({ graceMs: 60_000 });
    wire.send(modern(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    await wire.next();
    wire.input.end();
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
    expect(await wire.next()).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  it("answers what the server asks of a client that is gone", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000 }, { roots: {} });
    wire.send(call(1, "ask"));
    expect((await wire.next()).method).toBe("roots/list");
    wire.input.end(`${JSON.stringify(call(2, "ask"))}\n`);
    // The second question goes out before the end is noticed, or is not written at all.
    const answers: unknown[] = [];
    while (answers.length < 2) {
      const reply = await wire.next();
      if (reply.method !== undefined) continue;
      expect(reply.error?.message).toContain("closed its end");
      answers.push(reply.id);
    }
    expect(answers).toEqual([1, 2]);
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
  });

  it("answers also what is asked only then, without writing it", async () => {
    const wire = await Wire.legacy("2025-11-25", { graceMs: 60_000 }, { roots: {} });
    wire.input.end(`${JSON.stringify(call(1, "ask", { ms: 30 }))}\n`);
    expect(await wire.next()).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining("closed its end") },
    });
    while (wire.ends.length === 0) await sleep(1);
    await wire.handle.close();
  });

  it("is also an input that breaks", async () => {
    const wire = await Wire.legacy();
    wire.input.destroy(new Error("read ECONNRESET"));
    while (wire.ends.length === 0) await sleep(1);
    expect(wire.ends[0]?.reason).toBe("input ended");
    await wire.handle.close();
  });

  it("closes the transport where nobody else does", async () => {
    const input = new PassThrough();
    const transport = new StdioTransport({ input, output: new PassThrough() });
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    await transport.start();
    input.end();
    await closed;
    await expect(transport.send({ jsonrpc: "2.0", method: "notifications/x" })).rejects.toThrow("closed");
    await expect(transport.start()).rejects.toThrow("one connection");
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

describe("answers", () => {
  it("go out once, and only to what was asked", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const transport = new StdioTransport({ input, output });
    transport.onmessage = () => undefined;
    await transport.start();
    input.write(`${JSON.stringify(request(1, "ping"))}\n`);
    await sleep(5);
    for (const id of [2, "1", 1, 1]) await transport.send({ jsonrpc: "2.0", id, result: {} });
    await transport.send({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "too late" } });
    await transport.close();
    expect(String(output.read())).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  });
});

describe("closing", () => {
  it("answers what is unanswered, reads nothing more and may be called twice", async () => {
    const wire = await Wire.legacy();
    wire.send(call(1, "sleep", { ms: 60_000 }));
    await sleep(5);
    await Promise.all([wire.handle.close(), wire.transport.close(), wire.transport.close()]);
    expect(await wire.next()).toMatchObject({
      id: 1,
      error: { code: -32603, message: expect.stringContaining("closed") },
    });
    wire.send(request(2, "ping"), notification("x"));
    await sleep(5);
    expect(wire.output.read()).toBeNull();
  });
});
