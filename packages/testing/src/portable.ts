import type { Tool } from "@modelcontextprotocol/client";
import { objectOf } from "./json.ts";

const SHOUTING = /\b(IMPORTANT|MUST|ALWAYS|NEVER|CRITICAL)\b/;
const MARKETING = /\b(powerful|seamless(ly)?|blazing(ly)?|comprehensive)\b/;

/** JSON Schema keywords that hosts drop or reject in a tool's input. */
const UNPORTABLE = [
  "$ref",
  "$defs",
  "oneOf",
  "allOf",
  "not",
  "if",
  "patternProperties",
  "propertyNames",
] as const;

/** The approximate number of tokens that a value costs a model: four characters each, the usual estimate for JSON. */
export function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

/** The parts of a definition that hosts pass to the model, and so what a tool costs. */
export function visibleOf({
  name,
  description,
  inputSchema,
}: Pick<Tool, "name" | "description" | "inputSchema">) {
  return { name, description, inputSchema };
}

/** Characters of a name, of a description and of its first sentence. */
const NAME = /^[a-z][a-z0-9_]{2,39}$/;
const MAX_DESCRIPTION = 400;
const FIRST_SENTENCE = [10, 120] as const;
const MAX_TOKENS = 600;
const MAX_ARGUMENTS = 10;
/** Our tools that may have more arguments (docs/decisions.md). */
const MORE_ARGUMENTS: Readonly<Record<string, number>> = { git_log: 13 };

const CHANGING =
  /^(?:delete|remove|write|create|update|insert|edit|move|rename|drop|set|add|put|kill)[_A-Z.-]/;

/** The problems of a listed tool, one sentence each. */
export function problemsOf(tool: Tool): string[] {
  const problems: string[] = [];
  const say = (text: string) => problems.push(`${tool.name}: ${text}`);
  const description = tool.description ?? "";
  const hints = objectOf(tool.annotations);
  const [firstSentence = ""] = description.split(/(?<=\.)\s/);
  if (!NAME.test(tool.name)) say("rename it to 3 to 40 characters of a-z, 0-9 and _");
  if (tool.title === undefined || tool.title === "") say("add a title");
  const [min, max] = FIRST_SENTENCE;
  if (firstSentence.length < min || firstSentence.length > max)
    say(
      `the first sentence of its description has ${firstSentence.length} characters: write ${min} to ${max}, what it does and when to use it`,
    );
  if (description.length > MAX_DESCRIPTION)
    say(`the description has ${description.length} characters: shorten it to ${MAX_DESCRIPTION}`);
  for (const word of [SHOUTING, MARKETING].flatMap((words) => words.exec(description)?.[0] ?? []))
    say(`the description says ${word}: say what happens instead of stressing it`);
  if (/^#|\n#/.test(description)) say("the description has a heading: write plain sentences");
  const cost = tokensOf(visibleOf(tool));
  if (cost > MAX_TOKENS)
    say(
      `its definition costs ${cost} tokens: shorten descriptions or remove arguments, to at most ${MAX_TOKENS}`,
    );
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])
    if (typeof hints[hint] !== "boolean") say(`the annotation ${hint} is missing`);
  if (hints["readOnlyHint"] === true && hints["destructiveHint"] === true)
    say("it is both read-only and destructive");
  if (hints["readOnlyHint"] === true && CHANGING.test(tool.name))
    say("it is marked as read-only, but its name says that it changes something");
  inputProblems(tool, say);
  return problems;
}

function inputProblems(tool: Tool, say: (problem: string) => void): void {
  const schema = objectOf(tool.inputSchema);
  if (schema["additionalProperties"] !== false)
    say("the input allows unknown arguments: use z.strictObject");
  const properties = objectOf(schema["properties"]);
  const count = Object.keys(properties).length;
  const most = MORE_ARGUMENTS[tool.name] ?? MAX_ARGUMENTS;
  if (count > most)
    say(`it has ${count} arguments: reduce them to ${most}, or split the tool in two`);
  for (const [name, property] of Object.entries(properties)) {
    if (typeof objectOf(property)["description"] !== "string")
      say(
        `the argument ${name} has no description: add one with a concrete example (zod: .describe())`,
      );
    else if (!explainsValues(objectOf(property)))
      say(`the description of ${name} explains less than half of its values: name what they do`);
  }
  if (["anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema))
    say("the input is a union: use one object with optional arguments");
  walk(schema, 0, (node, depth, where) => {
    for (const keyword of UNPORTABLE)
      if (keyword in node)
        say(`${where} uses ${keyword}, which hosts drop or reject: write the schema without it`);
    if (Array.isArray(node["type"])) say(`${where} has several types: choose one`);
    if (node["type"] === "null") say(`${where} is nullable: make it optional`);
    if (node["type"] === "array" && node["maxItems"] === undefined)
      say(`${where} is an unbounded list: add maxItems (zod: .max())`);
    // The listed schema omits `additionalProperties: false` below the root.
    if (typeof node["additionalProperties"] === "object" && node["maxProperties"] === undefined)
      say(
        `${where} takes any number of members: refuse unknown ones (zod: z.strictObject), or add maxProperties (zod: .meta() and .refine())`,
      );
    if (isUnbounded(node))
      say(`${where} is an unbounded number: add minimum and maximum (zod: .min(), .max())`);
    if (node["type"] === "array" && depth > 4) say(`${where} is nested too deep: make it flatter`);
  });
}

/** The problems of all tools together. */
export function listProblems(tools: readonly Tool[]): string[] {
  const byText = new Map<string, string>();
  return tools.flatMap(({ name, description = "" }) => {
    const twin = byText.get(description);
    byText.set(description, name);
    return twin === undefined ? [] : [`${twin} and ${name} have the same description.`];
  });
}

/** Whether a description says what at least half of the values mean. */
function explainsValues({ enum: values, description }: Record<string, unknown>): boolean {
  if (!Array.isArray(values)) return true;
  const words = String(description).toLowerCase();
  const named = values.filter((value) => words.includes(String(value).toLowerCase()));
  return named.length >= values.length / 2;
}

/** zod gives an unbounded integer JavaScript's limits. */
function isUnbounded({
  type,
  enum: values,
  const: value,
  ...node
}: Record<string, unknown>): boolean {
  if ((type !== "number" && type !== "integer") || values !== undefined || value !== undefined)
    return false;
  const { minimum = node.exclusiveMinimum, maximum = node.exclusiveMaximum } = node;
  return [undefined, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER].some(
    (bound) => bound === minimum || bound === maximum,
  );
}

function walk(
  node: Record<string, unknown>,
  depth: number,
  visit: (node: Record<string, unknown>, depth: number, where: string) => void,
  where = "input",
): void {
  visit(node, depth, where);
  for (const [name, child] of Object.entries(objectOf(node["properties"]))) {
    walk(objectOf(child), depth + 1, visit, `${where}.${name}`);
  }
  if (node.items !== undefined) walk(objectOf(node.items), depth + 1, visit, `${where}[]`);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const branches = node[keyword];
    if (Array.isArray(branches))
      for (const branch of branches) walk(objectOf(branch), depth + 1, visit, where);
  }
}
