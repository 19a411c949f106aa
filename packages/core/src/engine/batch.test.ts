import { describe, expect, it } from "vitest";
import { call, notification, request } from "../../test/fixtures/messages.ts";
import { type Reply, Wire } from "../../test/fixtures/wire.ts";

const VERSION = "2025-03-26";
const said = (text: string) => ({ content: [{ type: "text", text }] });

/** The answer to a batch, parsed as an array. */
async function answer(wire: Wire, batch: unknown): Promise<Reply[]> {
  wire.send(batch);
  const line: unknown = JSON.parse(await wire.nextLine());
  if (!Array.isArray(line)) throw new Error(`not an array: ${JSON.stringify(line)}`);
  return line;
}

describe("a batch under 2025-03-26", () => {
  it("is answered with one array in the order of its requests, however long each takes", async () => {
    const wire = await Wire.legacy(VERSION);
    const batch = [
      call(1, "sleep", { ms: 20 }),
      notification("notifications/nope"),
      call("two", "echo", { text: "b" }),
      request(3, "nope"),
      request(4, "resources/read", { uri: 5 }),
    ];
    expect(await answer(wire, batch)).toMatchObject([
      { id: 1, result: said("slept") },
      { id: "two", result: said("b") },
      { id: 3, error: { code: -32601 } },
      { id: 4, error: { code: -32602 } },
    ]);
    expect(await wire.answers([])).toEqual([]);
    await wire.handle.close();
  });

  it.each([0, 1001, 100_000])("of %i messages is refused with one error", async (size) => {
    const wire = await Wire.legacy(VERSION);
    const error = { code: -32600, message: expect.stringContaining(`not ${size}`) };
    expect(await wire.answer(new Array(size).fill(1))).toEqual({ jsonrpc: "2.0", id: null, error });
    await wire.handle.close();
  });

  it("has no entry for a request that is cancelled before it is done", async () => {
    const wire = await Wire.legacy(VERSION);
    const cancel = (requestId: unknown) => notification("notifications/cancelled", { requestId });
    wire.send([call(1, "sleep", { ms: 10_000 }), call(2, "echo", { text: "b" })]);
    expect(await answer(wire, cancel(1))).toMatchObject([{ id: 2 }]);
    expect(await wire.answers([[call(3, "sleep", { ms: 10_000 })], cancel(3)])).toEqual([]);
    await wire.handle.close();
  });

  it("is answered with the available results when the connection closes", async () => {
    const wire = await Wire.legacy(VERSION);
    wire.send([call(1, "echo", { text: "a" }), call(2, "sleep", { ms: 10_000 })]);
    await wire.answers([]);
    await wire.handle.close();
    expect(await wire.next()).toMatchObject([
      { id: 1, result: said("a") },
      { id: 2, error: { code: -32603 } },
    ]);
  });
});
