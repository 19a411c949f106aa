import { describe, expect, it } from "vitest";
import * as z from "zod";
import { hostileCases } from "./hostile.ts";

const text = { type: "string" as const };
const words = { type: "array" as const, items: text };
const ARGUMENTS: Readonly<Record<string, z.core.JSONSchema.JSONSchema>> = {
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

const toolWith = (argument: z.core.JSONSchema.JSONSchema, more: object = {}) => ({
  name: "probe",
  inputSchema: {
    type: "object" as const,
    properties: { value: argument },
    required: ["value"],
    $defs: { name: text },
  },
  ...more,
});

describe("hostile arguments break the schema, so that no good server runs the tool", () => {
  it.each(Object.entries(ARGUMENTS))("%s", (_, argument) => {
    const tool = toolWith(argument);
    const schema = z.fromJSONSchema(tool.inputSchema);
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
      expect(schema.safeParse(JSON.parse(args)).success, name).toBe(false);
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
      // A list in a list costs as much as a long text.
      if (name !== "deep nesting") expect(args.length, name).toBeGreaterThan(150_000);
      expect(args.length, name).toBeLessThan(1_100_000);
    }
  });
});

it("a tool without required arguments is only tried if it is read-only: it could run", () => {
  const inputSchema = { type: "object" as const, properties: { value: text } };
  expect(hostileCases({ inputSchema }, 1_000)).toEqual([]);
  const cases = hostileCases({ inputSchema, annotations: { readOnlyHint: true } }, 1_000);
  expect(cases.length).toBeGreaterThan(3);
});

it("an argument that can be anything is left out", () => {
  expect(hostileCases(toolWith({}), 1_000).map(({ name }) => name)).toEqual(["no arguments"]);
});
