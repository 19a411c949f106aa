import { describe, expect, it } from "vitest";
import { MAX_VALUES, parseMessage } from "./message.ts";

const call = (args: string) =>
  `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":${args}}}`;
/** The values of `call` around its arguments. */
const AROUND = 6;
const isRefused = (text: string) => "error" in parseMessage(text);
const repeated = (text: string, count: number) => new Array(count).fill(text).join(",");

describe("a message", () => {
  it.each([
    ["an array", (count: number) => `[${repeated("1", count - 1)}]`],
    ["an object", (count: number) => `{${repeated('"a":1', count - 1)}}`],
    ["nested arrays", (count: number) => "[".repeat(count - 1) + "]".repeat(count - 1)],
    ["nested objects", (count: number) => `${'{"a":'.repeat(count - 1)}1${"}".repeat(count - 1)}`],
  ])("may have 100,000 values in %s, and not one more", (_what, build) => {
    expect(isRefused(call(build(MAX_VALUES - AROUND)))).toBe(false);
    expect(parseMessage(call(build(MAX_VALUES - AROUND + 3)))).toEqual({
      id: "a",
      error: {
        code: -32600,
        message:
          "The message has more than 100,000 values (array items and object members). Split the request into several.",
      },
    });
  });

  const many = `[${repeated("1", MAX_VALUES)}]`;
  it.each([
    ["first", `{"id":-7,"params":{"id":1,"a":${many}}}`, -7],
    ["last", `{"params":{"id":1,"a":${many}}, "id" : "b\\"}" }`, 'b"}'],
    ["null", `{"id":null,"params":${many}}`, undefined],
    ["not JSON", `{"id":"\\x","params":${many}}`, undefined],
    ["in params only", `{"params":{"id":1,"a":${many}}}`, undefined],
    ["of a batch", `[{"id":1,"params":${many}}]`, undefined],
  ])("that is too large is answered by its id: %s", (_where, text, id) => {
    expect(parseMessage(text)).toMatchObject({ error: { code: -32600 } });
    expect("error" in parseMessage(text) && parseMessage(text)).toHaveProperty("id", id);
  });

  it("may have any number of commas, brackets and quotes in strings", () => {
    for (const text of [",[{", '"', '\\",', "\\", '\\\\"', "é,😀["]) {
      const args = { text: text.repeat(200_000) };
      expect(parseMessage(call(JSON.stringify(args)))).toMatchObject({
        value: { params: { arguments: args } },
      });
    }
  });

  it("that is not JSON is a parse error, however it ends", () => {
    for (const text of [`"${"a".repeat(200_000)}`, `"${"\\".repeat(200_001)}`, "x".repeat(200_000)])
      expect(parseMessage(text)).toMatchObject({ error: { code: -32700 } });
  });
});
