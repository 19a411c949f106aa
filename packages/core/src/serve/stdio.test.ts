import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { call, modern, notification, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { StdioTransport } from "./stdio.ts";

const said = (text: string) => ({ content: [{ type: "text", text }] });

describe("malformed input", () => {
  it.each([
    ["{bad", -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700],
    ["undefined", -32700],
    ["\u0000", -32700],
    ["5", -32600],
    ["null", -32600],
    ['"ping"', -32600],
    ["{}", -32600],
    ['{"jsonrpc":"2.0","method":5}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ])("is answered without an id: %s", async (line, code) => {
    const fresh = new Wire();
    fresh.send(line);
    expect(await fresh.next()).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code, message: expect.any(String) },
    });
    const wire = await Wire.legacy();
    expect(await wire.answer(line)).toEqual({ jsonrpc: "2.0", error: { code, message: expect.any(String) } });
    expect((await wire.answer(request(1, "ping"))).result).toEqual({});
    await Promise.all([fresh.handle.close(), wire.handle.close()]);
  });

  it.each([
    [{ id: 1, method: "ping" }, -32600],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }, -32600],
    [{ jsonrpc: "2.0", id: 1 }, -32600],
    [{ jsonrpc: "2.0", id: 1, method: {} }, -32600],
    [request(1, "ping", Object([1])), -32600],
    [{ jsonrpc: "2.0", id: 1, method: "ping", params: "x" }, -32600],
    [request(1, "ping", { _meta: 5 }), -32602],
    [request(1, "ping", { _meta: null }), -32602],
    [request(1, "ping", { _meta: { progressToken: [] } }), -32602],
    [request(1, "ping", { _meta: { "io.modelcontextprotocol/related-task": 1 } }), -32602],
  ])("is answered with its id where it has one: %j", async (message, code) => {
    const wire = await Wire.legacy();
    expect(await wire.answer(message)).toMatchObject({ id: 1, error: { code } });
    await wire.handle.close();
  });

  it("with members that nobody knows is served", async () => {
    const wire = await Wire.legacy();
    expect((await wire.answer({ ...request(1, "ping"), extra: {}, sent_at: 5 })).result).toEqual({});
    await wire.handle.close();
  });

  it("that is not UTF-8 is a parse error and not replaced silently", async () => {
    const wire = await Wire.legacy();
    wire.write(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a]));
    expect((await wire.next()).error).toEqual({
      code: -32700,
      message: "The line is not JSON: it is not valid UTF-8.",
    });
    await wire.handle.close();
  });

  it("nested deeply does no harm", async () => {
    const wire = await Wire.legacy();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","x":${deep}}}}`;
    expect(await wire.answer(nested)).toMatchObject({ id: 1, result: said("a") });
    expect((await wire.answer(deep)).error).toMatchObject({ code: -32600 });
    const objects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const inMeta = `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"x":${objects}}}}`;
    expect((await wire.answer(inMeta)).id).toBe(2);
    await wire.handle.close();
  });
});

describe("lines", () => {
  it.each([1, 3, 65_536])(
    "are read right in chunks of %i bytes: BOM, CRLF, empty lines, UTF-8, U+2028",
    async (size) => {
      const wire = new Wire();
      const text = "häß€😀\u2028\u2029 ";
      const bytes = Buffer.from(
        `\ufeff${JSON.stringify(call("ü", "echo", { text }))}\r\n\r\n \t\n\n${JSON.stringify(call(2, "echo", { text }))}\n`,
      );
      for (let at = 0; at < bytes.length; at += size) wire.write(bytes.subarray(at, at + size));
      expect(await wire.next()).toMatchObject({ id: "ü", result: said(text) });
      expect(await wire.next()).toMatchObject({ id: 2, result: said(text) });
      expect(await wire.answers([])).toEqual([]);
      await wire.handle.close();
    },
  );

  it("over the limit are refused, with their id where it can be told, and the connection goes on", async () => {
    const wire = await Wire.legacy("2025-11-25", { maxLineBytes: 10_000 });
    const long = "x".repeat(20_000);
    expect(await wire.answer(call(5, "echo", { text: long }))).toMatchObject({
      id: 5,
      error: { code: -32600, message: expect.stringContaining("10000 bytes") },
    });
    const { jsonrpc, id, ...rest } = call("last", "echo", { text: long });
    expect(await wire.answer({ ...rest, jsonrpc, id })).toMatchObject({
      id: "last",
      error: { code: -32600 },
    });
    expect(await wire.answer(long)).toEqual({
      jsonrpc: "2.0",
      error: expect.objectContaining({ code: -32600 }),
    });
    expect(await wire.answer({ jsonrpc: "2.0", id: 5, result: { long } })).not.toHaveProperty("id");
    expect(await wire.answer(call(6, "echo", { text: "short" }))).toMatchObject({
      id: 6,
      result: said("short"),
    });
    await wire.handle.close();
  });

  it("over the limit do not end a request that has the same id", async () => {
    const wire = await Wire.legacy("2025-11-25", { maxLineBytes: 10_000 });
    wire.send(call(5, "sleep", { ms: 30 }), call(5, "echo", { text: "x".repeat(20_000) }));
    expect(await wire.next()).not.toHaveProperty("id");
    expect(await wire.next()).toMatchObject({ id: 5, result: said("slept") });
    await wire.handle.close();
  });

  it("are given out whole: one answer, one line", async () => {
    const wire = await Wire.legacy();
    const text = "a\nb\r\u2028c\u2029\u0085\u0000";
    wire.send(call(1, "echo", { text }));
    const line = await wire.nextLine();
    expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
    expect(JSON.parse(line)).toMatchObject({ id: 1, result: said(text) });
    await wire.handle.close();
  });
});

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
        void transport.send({ jsonrpc: "2.0", id: message.id, result: { text: "x".repeat(1000) } });
      }
    };
    await transport.start();
    const count = 10_000;
    for (let id = 0; id < count; id++) input.write(`${JSON.stringify(request(id, "ping"))}\n`);
    await sleep(50);
    expect(input.isPaused()).toBe(true);
    // 100,000 characters are about a hundred answers, and what one chunk more brought.
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
    const flood = async (method: string, params: Record<string, unknown>): Promise<void> => {
      for (let turn = 0; turn < 20_000; turn++) {
        await transport.send(
          { jsonrpc: "2.0", method, params: { ...params, text: "x".repeat(100) } },
          { relatedRequestId: 1 },
        );
      }
    };
    await flood("notifications/progress", { progressToken: 1, progress: 1 });
    await flood("notifications/message", { level: "info", data: 1 });
    await flood("notifications/resources/updated", { uri: "demo:1" });
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
