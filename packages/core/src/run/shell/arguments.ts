import { parseArgs } from "node:util";
import { isJson, nearest } from "@refmcp/boundary/answer";
import { isObject } from "../../engine/message.ts";

/** An error in a command's arguments; the message is for stderr, with exit code 2. */
export class UsageError extends Error {}

type Schema = Readonly<Record<string, unknown>>;

/** The properties of a tool's input in the order of the schema, required ones first. */
export function propertiesOf(
  input: Schema,
): { readonly name: string; readonly schema: Schema; readonly required: boolean }[] {
  const required = Array.isArray(input.required) ? input.required : [];
  return Object.entries(isObject(input.properties) ? input.properties : {}).map(
    ([name, schema]) => ({
      name,
      schema: isObject(schema) ? schema : {},
      required: required.includes(name),
    }),
  );
}

export interface ShellArguments {
  /** The tool's arguments as JSON text, so that integers keep all their digits. */
  readonly json: string;
  /** Whether to print the full result. */
  readonly isJson: boolean;
  /** The required arguments that are not given. */
  readonly missing: readonly string[];
  readonly help: boolean;
}

/**
 * Parses the words after `call TOOL`: `--max_count 5` (or `--max-count 5`), flags for booleans, repeated flags for
 * lists, JSON for objects, and words without a flag for the required arguments in order. `--args JSON` passes arguments
 * as one object; `-` reads it from `stdin`.
 *
 * @throws {UsageError}
 */
export function readArguments(
  tool: string,
  input: Schema,
  words: readonly string[],
  stdin: () => string,
): ShellArguments {
  const properties = propertiesOf(input);
  const names = new Map<string, (typeof properties)[number]>();
  for (const property of properties)
    for (const written of [property.name, kebab(property.name)]) names.set(written, property);
  const own = {
    args: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  const flags = [...names].map(([written, { schema }]) => {
    return [written, { type: schema.type === "boolean" ? "boolean" : "string" }] as const;
  });
  const { tokens } = parseArgs({
    args: [...words],
    options: { ...own, ...Object.fromEntries(flags) },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const whole: Record<string, string> = {};
  const positional: string[] = [];
  let isJson = false;
  let help = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      positional.push(token.value);
      continue;
    }
    const negated = token.name.startsWith("no-") ? names.get(token.name.slice(3)) : undefined;
    const property = names.get(token.name);
    if (property !== undefined) {
      const isFlag = property.schema.type === "boolean";
      if (!isFlag && token.value === undefined)
        throw new UsageError(`--${token.name} needs a value.`);
      given.set(property.name, [...(given.get(property.name) ?? []), token.value ?? "true"]);
    } else if (negated?.schema.type === "boolean") given.set(negated.name, ["false"]);
    else if (token.name === "args") Object.assign(whole, objectFrom(token.value, stdin));
    else if (token.name === "json") isJson = true;
    else if (token.name === "help") help = true;
    else throw new UsageError(unknownArgument(tool, token.rawName, [...names.keys()]));
  }
  const open = properties.filter(
    ({ name, required }) => required && !given.has(name) && !(name in whole),
  );
  for (const [index, text] of positional.entries()) {
    const property = open[index];
    if (property === undefined)
      throw new UsageError(
        `Unexpected argument ${JSON.stringify(text)}; write arguments as --name value. See call ${tool} --help.`,
      );
    given.set(property.name, [text]);
  }
  for (const { name, schema } of properties) {
    const texts = given.get(name);
    if (texts !== undefined) whole[name] = jsonOf(schema, texts);
  }
  const missing = properties.filter(({ name, required }) => required && !(name in whole));
  const members = Object.entries(whole).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return { json: `{${members.join(",")}}`, isJson, missing: missing.map(({ name }) => name), help };
}

/** `max_count`, `oldText` → `max-count`, `old-text`. */
export function kebab(name: string): string {
  return name.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function objectFrom(text: string | undefined, stdin: () => string): Record<string, string> {
  const json = text === "-" ? stdin() : (text ?? "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(
      `--args is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (!isObject(value))
    throw new UsageError('--args takes a JSON object, for example --args \'{"path": "."}\'.');
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)]),
  );
}

/**
 * Converts the texts of one argument to JSON. Values that do not fit the schema stay text, and the tool's own error
 * explains the problem.
 */
function jsonOf(schema: Schema, texts: readonly string[]): string {
  const last = texts.at(-1) ?? "";
  if (schema.type !== "array") return scalar(schema, last);
  if (texts.length === 1 && last.startsWith("[") && isJson(last)) return last;
  const items = isObject(schema.items) ? schema.items : {};
  return `[${texts.map((text) => scalar(items, text)).join(",")}]`;
}

function scalar({ type, enum: values }: Schema, text: string): string {
  if (type === "string" || (type === undefined && Array.isArray(values)))
    return JSON.stringify(text);
  // Numbers, booleans, objects, and arguments with several types.
  return isJson(text) ? text : JSON.stringify(text);
}

function unknownArgument(tool: string, written: string, names: readonly string[]): string {
  const [near] = nearest(written.replace(/^-+/, ""), names);
  return `${tool} has no argument ${written}.${near === undefined ? "" : ` Did you mean --${near}?`} See call ${tool} --help.`;
}
