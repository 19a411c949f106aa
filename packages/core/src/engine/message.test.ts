import { describe, expect, it } from "vitest";
import { errorText } from "./errors.ts";
import { readMessage } from "./message.ts";

const request = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("readMessage", () => {
  it.each([
    ["a number", 5],
    ["a string", "ping"],
    ["null", null],
    ["true", true],
    ["an array", [request]],
    ["an empty object", {}],
    ["another version", { ...request, jsonrpc: "1.0" }],
    ["no version", { id: 1, method: "ping" }],
    ["a number for the version", { ...request, jsonrpc: 2 }],
    ["no method", { jsonrpc: "2.0", id: 1 }],
    ["a number for the method", { ...request, method: 5 }],
    ["null for the method", { ...request, method: null }],
    ["an array for params", { ...request, params: [] }],
    ["a string for params", { ...request, params: "x" }],
    ["a request and a result", { ...request, result: {} }],
    ["a request and an error", { ...request, error: { code: 1, message: "x" } }],
  ])("refuses %s", (_name, value) => {
    const incoming = readMessage(value);
    expect(incoming).toMatchObject({ kind: "refused", error: { code: -32600 } });
    const hasId = typeof value === "object" && value !== null && "id" in value;
    expect(incoming).toHaveProperty("id", hasId ? 1 : undefined);
  });

  it.each([null, 1.5, true, {}, [], 2 ** 53, -(2 ** 53), Number.POSITIVE_INFINITY])(
    "refuses the id %j",
    (id) => {
      expect(readMessage({ ...request, id })).toMatchObject({
        kind: "refused",
        id: undefined,
        error: { code: -32600 },
      });
    },
  );

  it.each([0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), "", "1", "ключ 🗝", "x".repeat(1000), "\ud800"])(
    "takes the id %j",
    (id) => {
      expect(readMessage({ ...request, id })).toEqual({
        kind: "request",
        message: { ...request, id },
      });
    },
  );

  it.each([
    ["_meta that is a number", 5],
    ["_meta that is an array", []],
    ["a progress token that is an object", { progressToken: {} }],
    ["a progress token that is a fraction", { progressToken: 1.5 }],
  ])("refuses %s with -32602", (_name, meta) => {
    const incoming = readMessage({ ...request, params: { _meta: meta } });
    expect(incoming).toMatchObject({ kind: "refused", id: 1, error: { code: -32602 } });
  });

  it("omits members that JSON-RPC does not define", () => {
    const incoming = readMessage({ ...request, params: { a: 1 }, extra: true, trace: {} });
    expect(incoming).toEqual({ kind: "request", message: { ...request, params: { a: 1 } } });
  });

  it.each([
    ["params that are an array", { params: [1] }],
    ["_meta that is a number", { params: { _meta: 5 } }],
  ])("drops a notification with %s", (_name, rest) => {
    expect(readMessage({ jsonrpc: "2.0", method: "notifications/x", ...rest })).toMatchObject({
      kind: "dropped",
    });
  });

  it("takes params that are null as absent", () => {
    expect(readMessage({ ...request, params: null })).toEqual({
      kind: "request",
      message: request,
    });
  });

  it("passes on responses", () => {
    const result = { jsonrpc: "2.0", id: "a", result: { roots: [], _meta: { a: 1 } } };
    expect(readMessage({ ...result, extra: 1 })).toEqual({ kind: "response", message: result });
    const error = { jsonrpc: "2.0", id: 0, error: { code: -1, message: "no", data: [1] } };
    expect(readMessage(error)).toEqual({ kind: "response", message: error });
  });

  it.each([
    ["without an id", { result: {} }],
    ["with id null", { id: null, result: {} }],
    ["with a result that is not an object", { id: 1, result: 5 }],
    ["with a result whose _meta is not an object", { id: 1, result: { _meta: 1 } }],
    ["with an error that is not an object", { id: 1, error: "x" }],
    ["with an error code that is not an integer", { id: 1, error: { code: "x", message: "x" } }],
    ["with an error without a message", { id: 1, error: { code: 1 } }],
    ["with both result and error", { id: 1, result: {}, error: { code: 1, message: "x" } }],
  ])("drops a response %s", (_name, rest) => {
    expect(readMessage({ jsonrpc: "2.0", ...rest })).toMatchObject({ kind: "dropped" });
    expect(readMessage({ jsonrpc: "1.0", id: 1, result: {} })).toMatchObject({ kind: "dropped" });
  });

  it("explains the problem in a sentence with a short value", () => {
    const incoming = readMessage({ ...request, jsonrpc: "9".repeat(5000) });
    if (incoming.kind !== "refused") throw new Error("it should be refused");
    expect(incoming.error.message).toMatch(/^"jsonrpc" must be "2\.0", not "9{80}"…\.$/);
  });
});

describe("errorText", () => {
  const error = { code: -32700, message: "no" };

  it("repeats a known id in every revision", () => {
    expect(JSON.parse(errorText(0, error, "2025-11-25"))).toEqual({
      jsonrpc: "2.0",
      id: 0,
      error,
    });
    expect(JSON.parse(errorText("", error))).toEqual({ jsonrpc: "2.0", id: "", error });
  });

  it.each([undefined, "2024-11-05", "2025-03-26", "2025-06-18"])(
    "sends id null if the revision is %s",
    (version) => {
      expect(JSON.parse(errorText(undefined, error, version))).toEqual({
        jsonrpc: "2.0",
        id: null,
        error,
      });
    },
  );

  it.each(["2025-11-25", "2026-07-28"])(
    "omits an unknown id in %s, whose schema forbids null",
    (version) => {
      expect(JSON.parse(errorText(undefined, error, version))).toEqual({
        jsonrpc: "2.0",
        error,
      });
    },
  );
});
