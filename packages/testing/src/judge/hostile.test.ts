import { describe, expect, it } from "vitest";
import { hostileCases } from "./hostile.ts";
import { exampleOf, schemaProblem } from "./schema.ts";

const text = { type: "string" };
const words = { type: "array", items: text };
const ARGUMENTS: Readonly<Record<string, object>> = {
  "a text": text,
  "a number": { type: "integer", minimum: 1 },
  "a choice": { enum: ["a", "b"] },
  "a constant": { const: true },
  texts: words,
  numbers: { type: "array", items: { type: "integer" } },
  "a text or texts": { anyOf: [text, words] },
  objects: {
    type: "array",
    items: { type: "object", properties: { name: text }, required: ["name"] },
  },
  "an object": { type: "object", properties: { name: text } },
  "a reference": { $ref: "#/$defs/name" },
  "several types": { type: ["string", "null"] },
  "a list or an object": { type: ["array", "object"] },
};

const toolWith = (argument: object, more: object = {}) => ({
  name: "probe",
  inputSchema: {
    type: "object",
    properties: { value: argument },
    required: ["value"],
    $defs: { name: text },
  },
  ...more,
});

describe("hostile arguments break the schema, so that no good server runs the tool", () => {
  it.each(Object.entries(ARGUMENTS))("%s", (_, argument) => {
    const tool = toolWith(argument);
    const cases = hostileCases(tool, 1_000);
    expect(cases.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "no arguments",
        "value of the wrong type",
        "deep nesting",
        "a long string",
      ]),
    );
    for (const { name, args } of cases)
      expect(schemaProblem(JSON.parse(args), tool.inputSchema), name).toBeDefined();
  });

  it("large ones have about the size that was asked for", () => {
    const sizes = hostileCases(toolWith(words), 1_000_000).filter(({ isLarge }) => isLarge);
    expect(sizes.map(({ name }) => name)).toEqual([
      "value with wrong items",
      "many unknown arguments",
      "deep nesting",
      "a long string",
    ]);
    for (const { name, args } of sizes) {
      expect(args.length, name).toBeGreaterThan(150_000);
      expect(args.length, name).toBeLessThan(1_100_000);
    }
  });
});

it("a tool without required arguments is only tried if it is read-only: it could run", () => {
  const inputSchema = { type: "object", properties: { value: text } };
  expect(hostileCases({ name: "clear", inputSchema }, 1_000)).toEqual([]);
  const cases = hostileCases(
    { name: "list", inputSchema, annotations: { readOnlyHint: true } },
    1_000,
  );
  expect(cases.length).toBeGreaterThan(3);
});

it("an argument that can be anything is left out", () => {
  expect(hostileCases(toolWith({}), 1_000).map(({ name }) => name)).toEqual(["no arguments"]);
});

describe("schemas", () => {
  it.each([
    [{ type: "integer" }, 1.5, "result is number instead of integer"],
    [{ type: "number", maximum: 3 }, 4, "result is 4, above 3"],
    [{ type: "string", maxLength: 2 }, "abc", "result has more than 2 characters"],
    [
      { type: "array", items: text, maxItems: 1 },
      ["a", "b"],
      "result has 2 items instead of at most 1",
    ],
    [{ type: "array", items: text }, ["a", 2], "result[1] is number instead of string"],
    [{ properties: { a: text }, additionalProperties: false }, { b: 1 }, "result.b is not allowed"],
    [{ required: ["a"] }, {}, "result.a is missing"],
    [{ allOf: [text, { minLength: 2 }] }, "a", "result has fewer than 2 characters"],
    [{ oneOf: [text, { type: "null" }] }, 1, "result matches no alternative"],
    [
      { $ref: "#/$defs/list", $defs: { list: { items: { $ref: "#/$defs/list" }, type: "array" } } },
      [[1]],
      "result[0][0] is number instead of array",
    ],
  ])("%j refuses %j", (schema, value, problem) => {
    expect(schemaProblem(value, schema)).toBe(problem);
  });

  it.each([
    [{ type: "integer" }, 1],
    [{ type: ["string", "null"] }, null],
    [{ anyOf: [text, words] }, ["a"]],
    [{ type: "array", prefixItems: [text], items: { type: "number" } }, ["a", 1]],
    [
      { properties: { a: text }, additionalProperties: text },
      { a: "", b: "" },
    ],
    [{ enum: [{ a: 1 }] }, { a: 1 }],
  ])("%j accepts %j", (schema, value) => {
    expect(schemaProblem(value, schema)).toBeUndefined();
  });

  it("an example needs one for each required argument", () => {
    const properties = {
      id: { type: "string", examples: ["n1"] },
      limit: { type: "integer", default: 5 },
    };
    expect(exampleOf({ type: "object", properties, required: ["id", "limit"] })).toEqual({
      id: "n1",
      limit: 5,
    });
    expect(
      exampleOf({ type: "object", properties: { id: text }, required: ["id"] }),
    ).toBeUndefined();
  });
});
