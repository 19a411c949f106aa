import type { Tool } from "@modelcontextprotocol/client";
import type { Problem } from "./judge/finding.ts";
import { objectOf } from "./judge/link.ts";
import type { RuleId } from "./judge/rules.ts";

/** A tool as tools/list shows it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly execution?: unknown;
}

const MAX_LIST_TOKENS = 10_000;

const SHOUTING = /\b(IMPORTANT|MUST|ALWAYS|NEVER|CRITICAL)\b/;
/** What scanners for hostile tools look for, and what to write instead; they search names, schemas and titles too. */
const MISREAD: readonly (readonly [RegExp, string])[] = [
  [/\bassert(?!ions\b)\w*/i, "a call that runs code: say check or verify"],
  [/\b(?:eval|exec|popen|spawn|compile|system)\(/, "a call that runs code: describe it in words"],
  [
    /\b(?:export|dump|leak) [^\n]*?\b(?:file|key|token|secret|credential|context|parameter)s?\b/i,
    "taking data out of reach: say write or save",
  ],
];
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
}: Pick<ListedTool, "name" | "description" | "inputSchema">) {
  return { name, description, inputSchema };
}

/** What a definition may cost and contain. */
export interface SurfaceLimits {
  readonly name: RegExp;
  readonly nameWords: string;
  /** Characters of the first sentence. */
  readonly firstSentence: readonly [number, number];
  readonly description: number;
  readonly tokens: number;
  readonly arguments: number;
  /** Words that stress or praise instead of informing a model. */
  readonly words: readonly RegExp[];
  /** Whether unknown arguments are refused, and all annotations are given, also without effect. */
  readonly strict: boolean;
}

/** Our own rules. */
export const HOUSE: SurfaceLimits = {
  name: /^[a-z][a-z0-9_]{2,39}$/,
  nameWords: "3 to 40 characters of a-z, 0-9 and _",
  firstSentence: [10, 120],
  description: 400,
  tokens: 600,
  arguments: 10,
  words: [SHOUTING, MARKETING],
  strict: true,
};

/** Our tools that may have more arguments (docs/decisions/0007). */
const MORE_ARGUMENTS: Readonly<Record<string, number>> = { git_log: 13 };

/** The limits of the specification and of hosts (Claude, OpenAI, Gemini, VS Code), for any server. */
export const HOSTS: SurfaceLimits = {
  name: /^[A-Za-z0-9_.-]{1,128}$/,
  nameWords: "1 to 128 letters, digits, _, - and .",
  firstSentence: [10, 2_048],
  description: 2_048,
  tokens: 2_000,
  arguments: 100,
  words: [SHOUTING],
  strict: false,
};

const CHANGING =
  /^(?:delete|remove|write|create|update|insert|edit|move|rename|drop|set|add|put|kill)[_A-Z.-]/;

/** The problems of a listed tool under our rules, one sentence each. */
export function problemsOf(tool: Tool): string[] {
  return surfaceProblems(tool, HOUSE).map(({ text }) => `${tool.name}: ${text}`);
}

/** The problems of a tool's definition. */
export function surfaceProblems(tool: ListedTool, limits: SurfaceLimits): Problem[] {
  const problems: Problem[] = [];
  const say = (rule: RuleId, text: string) => problems.push({ rule, text });
  const description = tool.description ?? "";
  const hints = objectOf(tool.annotations);
  const [firstSentence = ""] = description.split(/(?<=\.)\s/);
  if (!limits.name.test(tool.name)) say("tool-name", `rename it to ${limits.nameWords}`);
  else if (!/^[\w-]{1,40}$/.test(tool.name))
    say("tool-host-name", `its name has ${tool.name.length} characters, or dots`);
  // Revision 2025-03-26 had the title in the annotations.
  const title = tool.title ?? (limits.strict ? undefined : hints["title"]);
  if (title === undefined || title === "") say("tool-title", "add a title");
  const [min, max] = limits.firstSentence;
  if (firstSentence.length < min || firstSentence.length > max)
    say(
      "tool-description",
      `the first sentence of its description has ${firstSentence.length} characters: write ${min} to ${max}, what it does and when to use it`,
    );
  if (description.length > limits.description)
    say(
      "tool-description-long",
      `the description has ${description.length} characters: shorten it to ${limits.description}`,
    );
  for (const word of limits.words.flatMap((words) => words.exec(description)?.[0] ?? []))
    say("tool-wording", `the description says ${word}: say what happens instead of stressing it`);
  if (/^#|\n#/.test(description))
    say("tool-wording", "the description has a heading: write plain sentences");
  if (limits.strict) {
    const parts = [description, JSON.stringify({ ...tool, description: undefined })];
    for (const [words, meaning] of MISREAD)
      for (const found of parts.flatMap((part) => part.match(words)?.[0] ?? []))
        say("tool-wording", `scanners read ${JSON.stringify(found.slice(0, 60))} as ${meaning}`);
  }
  const cost = tokensOf(visibleOf(tool));
  if (cost > limits.tokens)
    say(
      "tool-tokens",
      `its definition costs ${cost} tokens: shorten descriptions or remove arguments, to at most ${limits.tokens}`,
    );
  // The other two mean nothing for a tool that changes nothing.
  const isReadOnly = hints["readOnlyHint"] === true && !limits.strict;
  const known = isReadOnly
    ? ["openWorldHint"]
    : ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
  for (const hint of known)
    if (typeof hints[hint] !== "boolean") say("hint-missing", `the annotation ${hint} is missing`);
  if (hints["readOnlyHint"] === true && hints["destructiveHint"] === true)
    say("hint-contradiction", "it is both read-only and destructive");
  if (hints["readOnlyHint"] === true && CHANGING.test(tool.name))
    say("hint-name", "it is marked as read-only, but its name says that it changes something");
  return [...problems, ...inputProblems(tool, limits)];
}

function inputProblems(tool: ListedTool, limits: SurfaceLimits): Problem[] {
  const problems: Problem[] = [];
  const say = (rule: RuleId, text: string) => problems.push({ rule, text });
  const schema = objectOf(tool.inputSchema);
  if (schema["type"] !== "object")
    say("tool-schema", "the input schema does not have the type object");
  if (limits.strict && schema["additionalProperties"] !== false)
    say("input-unknown", "the input allows unknown arguments: use z.strictObject");
  const properties = objectOf(schema["properties"]);
  const count = Object.keys(properties).length;
  const most = Math.max(limits.arguments, MORE_ARGUMENTS[tool.name] ?? 0);
  if (count > most)
    say(
      "tool-argument",
      `it has ${count} arguments: reduce them to ${most}, or split the tool in two`,
    );
  for (const [name, property] of Object.entries(properties)) {
    if (typeof objectOf(property)["description"] !== "string")
      say(
        "tool-argument",
        `the argument ${name} has no description: add one with a concrete example (zod: .describe())`,
      );
    else if (limits.strict && !explainsValues(objectOf(property)))
      say(
        "tool-argument",
        `the description of ${name} explains less than half of its values: name what they do`,
      );
  }
  if (["anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema))
    say("tool-portable", "the input is a union: use one object with optional arguments");
  walk(schema, 0, (node, depth, where) => {
    for (const keyword of UNPORTABLE)
      if (keyword in node)
        say(
          "tool-keyword",
          `${where} uses ${keyword}, which hosts drop or reject: write the schema without it`,
        );
    if (Array.isArray(node["type"])) say("tool-keyword", `${where} has several types: choose one`);
    if (node["type"] === "null") say("tool-keyword", `${where} is nullable: make it optional`);
    if (node["type"] === "array" && node["maxItems"] === undefined)
      say("tool-bounds", `${where} is an unbounded list: add maxItems (zod: .max())`);
    // The listed schema omits `additionalProperties: false` below the root.
    if (typeof node["additionalProperties"] === "object" && node["maxProperties"] === undefined)
      say(
        "tool-bounds",
        `${where} takes any number of members: refuse unknown ones (zod: z.strictObject), or add maxProperties (zod: .meta() and .refine())`,
      );
    if (isUnbounded(node))
      say(
        "tool-bounds",
        `${where} is an unbounded number: add minimum and maximum (zod: .min(), .max())`,
      );
    if (node["type"] === "array" && depth > 4)
      say("tool-bounds", `${where} is nested too deep: make it flatter`);
  });
  return problems;
}

/** The problems of all tools together and of the instructions. */
export function listProblems(tools: readonly ListedTool[], instructions = ""): Problem[] {
  const problems: Problem[] = [];
  const say = (rule: RuleId, text: string) => problems.push({ rule, text });
  const names = tools.map(({ name }) => name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) say("tool-duplicate", `Two tools are named ${double}.`);
  const byText = new Map<string, string>();
  for (const { name, description = "" } of tools) {
    const other = byText.get(description);
    if (description !== "" && other !== undefined && other !== name)
      say("tool-description-same", `${other} and ${name} have the same description.`);
    byText.set(description, name);
  }
  const cost = tokensOf(tools);
  if (cost > MAX_LIST_TOKENS) say("tool-tokens", `tools/list costs about ${cost} tokens.`);
  if (instructions.length > HOSTS.description)
    say("tool-description-long", `The instructions have ${instructions.length} characters.`);
  return problems;
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
