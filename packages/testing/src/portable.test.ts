import { expect, it } from "vitest";
import * as z from "zod";
import { outlineOf } from "../../core/src/bind/outline.ts";
import { problemsOf } from "./portable.ts";

const LIST = {
  name: "list_things",
  title: "List things",
  description: "List the things of a folder.",
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
};

const schemasOf = (input: z.ZodObject) => {
  const { tools } = outlineOf({
    ...LIST,
    packageName: "things",
    version: "1.0.0",
    instructions: "",
    options: {},
    tools: [{ ...LIST, effect: "read", input, run: () => "" }],
    open: () => undefined,
  });
  const [{ schemas } = { schemas: { inputSchema: { type: "object" as const } } }] = tools;
  return schemas;
};

/** The problems of a tool with this argument. */
const problemsWith = (list: z.ZodType) =>
  problemsOf({
    ...LIST,
    ...schemasOf(z.strictObject({ list: list.describe("Some.") })),
  });

it.each([
  ["list", z.array(z.string()), z.array(z.string()).max(9)],
  ["list[]", z.array(z.array(z.string())).max(9), z.array(z.array(z.string()).max(9)).max(9)],
  [
    "list.more",
    z.strictObject({ more: z.array(z.string()) }),
    z.strictObject({ more: z.tuple([]) }),
  ],
])("an unbounded list is a problem: %s", (where, unbounded, bounded) => {
  expect(problemsWith(unbounded)).toEqual([
    `list_things: input.${where} is an unbounded list: add maxItems (zod: .max())`,
  ]);
  expect(problemsWith(bounded.describe("Some."))).toEqual([]);
});

it("a choice whose values are not explained is a problem", () => {
  const choice = z.enum(["fast", "slow"]);
  expect(problemsWith(choice)).toEqual([
    "list_things: the description of list explains less than half of its values: name what they do",
  ]);
  const listed = z.strictObject({ list: choice.describe("fast skips the details.") });
  expect(problemsOf({ ...LIST, ...schemasOf(listed) })).toEqual([]);
});

it("an object with any number of members is a problem", () => {
  const loose = z.looseObject({ name: z.string() });
  expect(problemsWith(loose)).toEqual([
    "list_things: input.list takes any number of members: refuse unknown ones (zod: z.strictObject), or add maxProperties (zod: .meta() and .refine())",
  ]);
  expect(problemsWith(loose.meta({ maxProperties: 9 }))).toEqual([]);
  expect(problemsWith(z.strictObject({ name: z.string() }))).toEqual([]);
});
