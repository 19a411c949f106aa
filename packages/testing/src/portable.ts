import type { Tool } from "@modelcontextprotocol/client";

/** Words that shout at a model instead of informing it. */
const SHOUTING =
  /\b(IMPORTANT|MUST|ALWAYS|NEVER|CRITICAL|powerful|seamless(ly)?|blazing(ly)?|comprehensive)\b/;

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

/**
 * The problems of a listed tool under our rules and the limits of hosts (Claude, OpenAI, Gemini, VS Code), one sentence
 * each.
 */
export function problemsOf(tool: Tool): string[] {
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`${tool.name}: ${problem}`);
  const description = tool.description ?? "";
  const [firstSentence = ""] = description.split(/(?<=\.)\s/);
  if (!/^[a-z][a-z0-9_]{2,39}$/.test(tool.name)) say("rename it to 3 to 40 characters of a-z, 0-9 and _");
  if (tool.title === undefined || tool.title === "") say("add a title");
  if (firstSentence.length < 10 || firstSentence.length > 120)
    say(
      `the first sentence of its description has ${firstSentence.length} characters: write 10 to 120, what it does and when to use it`,
    );
  if (description.length > 600)
    say(`the description has ${description.length} characters: shorten it to 600`);
  const shout = SHOUTING.exec(description);
  if (shout !== null) say(`the description says ${shout[0]}: say what happens instead of stressing it`);
  if (/^#|\n#/.test(description)) say("the description has a heading: write plain sentences");
  const cost = tokensOf(tool);
  if (cost > 600)
    say(`its definition costs ${cost} tokens: shorten descriptions or remove arguments, to at most 600`);
  const { annotations } = tool;
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const) {
    if (typeof annotations?.[hint] !== "boolean") say(`the annotation ${hint} is missing`);
  }
  if (annotations?.readOnlyHint === true && annotations.destructiveHint === true)
    say("it is both read-only and destructive");
  return [...problems, ...inputProblems(tool).map((problem) => `${tool.name}: ${problem}`)];
}

function inputProblems(tool: Tool): string[] {
  const problems: string[] = [];
  const schema: Record<string, unknown> = { ...tool.inputSchema };
  if (schema.additionalProperties !== false)
    problems.push("the input allows unknown arguments: use z.strictObject");
  const properties = objectOf(schema.properties);
  if (Object.keys(properties).length > 10)
    problems.push(
      `it has ${Object.keys(properties).length} arguments: reduce them to 10, or split the tool in two`,
    );
  for (const [name, property] of Object.entries(properties)) {
    if (typeof objectOf(property).description !== "string")
      problems.push(`the argument ${name} has no description: add .describe("…") with a concrete example`);
  }
  walk(schema, 0, (node, depth, where) => {
    for (const keyword of UNPORTABLE)
      if (keyword in node)
        problems.push(`${where} uses ${keyword}, which hosts drop or reject: write the schema without it`);
    if (Array.isArray(node.type)) problems.push(`${where} has several types: choose one`);
    if (node.type === "null") problems.push(`${where} is nullable: make it optional`);
    if (depth === 0 && "anyOf" in node)
      problems.push("the input is a union: use one z.strictObject with optional arguments");
    if (node.type === "array" && node.maxItems === undefined)
      problems.push(`${where} is an unbounded list: add .max()`);
    // The listed schema omits `additionalProperties: false` below the root.
    if (typeof node.additionalProperties === "object" && node.maxProperties === undefined)
      problems.push(
        `${where} takes any number of members: use z.strictObject, or .meta({ maxProperties }) with a .refine()`,
      );
    if (isUnbounded(node)) problems.push(`${where} is an unbounded number: add .min() and .max()`);
    if (node.type === "array" && depth > 4) problems.push(`${where} is nested too deep: make it flatter`);
  });
  return problems;
}

/** zod gives an unbounded integer JavaScript's limits. */
function isUnbounded({ type, enum: values, const: value, ...node }: Record<string, unknown>): boolean {
  if ((type !== "number" && type !== "integer") || values !== undefined || value !== undefined) return false;
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
  for (const [name, child] of Object.entries(objectOf(node.properties))) {
    walk(objectOf(child), depth + 1, visit, `${where}.${name}`);
  }
  if (node.items !== undefined) walk(objectOf(node.items), depth + 1, visit, `${where}[]`);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const branches = node[keyword];
    if (Array.isArray(branches))
      for (const branch of branches) walk(objectOf(branch), depth + 1, visit, where);
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
