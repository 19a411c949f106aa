import { describe, expect, it } from "vitest";
import { call, request } from "../../../test/fixtures/messages.ts";
import { Wire } from "../../../test/fixtures/wire.ts";

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
    expect(await wire.answer(line)).toEqual({
      jsonrpc: "2.0",
      error: { code, message: expect.any(String) },
    });
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
    [request(1, "ping", { _meta: { progressToken: [] } }), -32602],
  ])("is answered with its id if it has one: %j", async (message, code) => {
    const wire = await Wire.legacy();
    expect(await wire.answer(message)).toMatchObject({ id: 1, error: { code } });
    await wire.handle.close();
  });

  it("with unknown members is served", async () => {
    const wire = await Wire.legacy();
    expect((await wire.answer({ ...request(1, "ping"), extra: {}, sent_at: 5 })).result).toEqual(
      {},
    );
    await wire.handle.close();
  });

  it("that is not UTF-8 is a parse error, not silently replaced", async () => {
    const wire = await Wire.legacy();
    wire.write(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a]));
    expect((await wire.next()).error).toEqual({
      code: -32700,
      message: "The message is not JSON: it is not valid UTF-8.",
    });
    await wire.handle.close();
  });

  it("that is deeply nested is harmless", async () => {
    const wire = await Wire.legacy();
    const deep = `${"[".repeat(90_000)}${"]".repeat(90_000)}`;
    const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","x":${deep}}}}`;
    expect(await wire.answer(nested)).toMatchObject({ id: 1, result: said("a") });
    expect((await wire.answer(deep)).error).toMatchObject({ code: -32600 });
    const objects = `${'{"a":'.repeat(90_000)}1${"}".repeat(90_000)}`;
    const inMeta = `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"x":${objects}}}}`;
    expect((await wire.answer(inMeta)).id).toBe(2);
    await wire.handle.close();
  });
});

describe("lines", () => {
  it.each([1, 3, 65_536])(
    "are read correctly in chunks of %i bytes: BOM, CRLF, empty lines, UTF-8, U+2028",
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

  it("over the limit are refused without an id, and the connection continues", async () => {
    const wire = await Wire.legacy("2025-11-25", { maxLineBytes: 10_000 });
    const long = "x".repeat(20_000);
    const refused = await wire.answer(call(5, "echo", { text: long }));
    expect(refused).toMatchObject({ error: { code: -32600 } });
    expect(refused).not.toHaveProperty("id");
    expect(await wire.answer(call(5, "echo", { text: "short" }))).toMatchObject({
      id: 5,
      result: said("short"),
    });
  });

  it("are written in full: one response, one line", async () => {
    const wire = await Wire.legacy();
    const text = "a\nb\r\u2028c\u2029\u0085\u0000";
    wire.send(call(1, "echo", { text }));
    const line = await wire.nextLine();
    expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
    expect(JSON.parse(line)).toMatchObject({ id: 1, result: said(text) });
    await wire.handle.close();
  });
});
