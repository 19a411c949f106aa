// A server's surface and its answers as text that people read in a diff.
import type {
  CallToolResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/client";
import type { Tool as Definition } from "@refmcp/core";
import { type Json, listOf, objectOf } from "./json.ts";

/** Everything that a model sees of a server. */
export interface Surface {
  readonly instructions: string | undefined;
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
}

/** Lines and characters that a snapshot shows of an answer. */
const MAX_LINES = 4;
const MAX_WIDTH = 160;

/** @param definitions the tools' own definitions, for what `tools/list` does not say: the toolset, and what asks first */
export function surfaceText(surface: Surface, definitions: readonly Definition<never>[]): string {
  const { instructions, tools, prompts, resources, resourceTemplates } = surface;
  const parts = [
    ...(instructions === undefined ? [] : [["Instructions", ...indented([instructions])]]),
    ...tools.map((tool) =>
      toolLines(
        tool,
        definitions.find(({ name }) => name === tool.name),
      ),
    ),
    ...prompts.map((prompt) => [
      `prompt ${titled(prompt)}`,
      ...indented((prompt.arguments ?? []).map(promptArgument)),
    ]),
    resources.map((resource) => `resource ${resource.uri} ${titled(resource)}`),
    resourceTemplates.map((template) => `resource ${template.uriTemplate} ${titled(template)}`),
  ];
  const filled = parts.filter((lines) => lines.length > 0);
  return filled.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

/** A call and its answer in full, as a model reads them. */
export function answerText(
  call: { name: string; arguments: unknown },
  { content }: CallToolResult,
): string {
  const blocks = content.map((block) =>
    block.type === "text" ? block.text : JSON.stringify(block),
  );
  return `${call.name} ${JSON.stringify(call.arguments)}\n${blocks.join("\n").trimEnd()}`;
}

/** The call and the first lines of its answer. */
export function shortAnswer(text: string): string {
  const [call = "", ...answer] = text.split("\n");
  const rest = answer.length - MAX_LINES;
  const lines = [
    call,
    ...indented(answer.slice(0, MAX_LINES)),
    ...(rest > 0 ? [`  … ${rest} more lines`] : []),
  ];
  return lines
    .map((line) => (line.length > MAX_WIDTH ? `${line.slice(0, MAX_WIDTH)}…\n` : `${line}\n`))
    .join("");
}

/** A tool: facts and description, one line for each argument, the keys of its output. */
function toolLines(tool: Tool, definition: Definition<never> | undefined): string[] {
  return [
    `${tool.name}: ${tool.title} (${factsOf(tool, definition).join(", ")})`,
    ...indented([
      tool.description ?? "",
      ...argumentLines(objectOf(tool.inputSchema)),
      ...(tool.outputSchema === undefined ? [] : [`=> ${keysOf(tool.outputSchema)}`]),
    ]),
  ];
}

function factsOf({ annotations = {}, _meta }: Tool, definition?: Definition<never>): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const changing = definition?.effect === "destroy" ? "destroy" : "change";
  const effect = destructiveHint === true ? changing : "add";
  return [
    readOnlyHint === true ? "read" : effect,
    ...(readOnlyHint !== true && idempotentHint === true ? ["idempotent"] : []),
    ...(openWorldHint === true ? ["open world"] : []),
    ...(definition?.toolset === undefined ? [] : [`toolset ${definition.toolset}`]),
    ...(_meta === undefined ? [] : [JSON.stringify(_meta)]),
  ];
}

/** One line for each property of an object, or of the objects in a list or a union. */
function argumentLines(schema: Json): string[] {
  const parts = [
    ...listOf(schema["anyOf"]),
    ...(schema["items"] === undefined ? [] : [schema["items"]]),
  ];
  return [...propertyLines(schema), ...parts.flatMap((part) => argumentLines(objectOf(part)))];
}

function propertyLines(schema: Json): string[] {
  const required = listOf(schema["required"]);
  return Object.entries(objectOf(schema["properties"])).flatMap(([name, value]) => {
    const property = objectOf(value);
    const { default: preset, description } = property;
    const isOptional = preset === undefined && !required.includes(name);
    const parts = [
      `${name}${isOptional ? "?" : ""}: ${typeOf(property)}`,
      ...(preset === undefined ? [] : [`= ${JSON.stringify(preset)}`]),
      ...(description === undefined ? [] : [`-- ${String(description)}`]),
    ];
    return [parts.join(" "), ...indented(argumentLines(property))];
  });
}

/** A type in one line: `integer 1..500`, `string[1..20]`, `"a" | "b"`. */
function typeOf(schema: Json): string {
  const { type, enum: values, const: value, anyOf, items, additionalProperties: members } = schema;
  if (Array.isArray(anyOf)) return anyOf.map((branch) => typeOf(objectOf(branch))).join(" | ");
  if (Array.isArray(values)) return values.map((option) => JSON.stringify(option)).join(" | ");
  if (value !== undefined) return JSON.stringify(value);
  if (type === "array") {
    const item = typeOf(objectOf(items));
    return `${item.includes(" ") ? `(${item})` : item}[${range(schema["minItems"], schema["maxItems"])}]`;
  }
  const name =
    type === "object" && typeof members === "object"
      ? `{ [name]: ${typeOf(objectOf(members))} }`
      : String(type ?? "any");
  const limits = [
    range(schema["minimum"], schema["maximum"]),
    range(schema["minLength"], schema["maxLength"]),
    range(schema["minProperties"], schema["maxProperties"]),
    schema["pattern"],
  ];
  return [name, ...limits.filter((limit) => limit !== undefined && limit !== "")].join(" ");
}

const range = (min: unknown, max: unknown): string =>
  min === undefined && max === undefined ? "" : `${String(min ?? "")}..${String(max ?? "")}`;

/** The keys of an output, without types: `{ matches[]: { path, line? }, count }`. */
function keysOf(value: unknown): string {
  const { properties, required } = objectOf(value);
  const keys = Object.entries(objectOf(properties)).map(([name, property]) => {
    const { items } = objectOf(property);
    const inner = keysOf(items ?? property);
    const key = `${name}${listOf(required).includes(name) ? "" : "?"}${items === undefined ? "" : "[]"}`;
    return inner === "{}" ? key : `${key}: ${inner}`;
  });
  return keys.length === 0 ? "{}" : `{ ${keys.join(", ")} }`;
}

const promptArgument = ({
  name,
  required,
  description,
}: NonNullable<Prompt["arguments"]>[number]): string =>
  `${name}${required === true ? "" : "?"} -- ${description}`;

function titled(part: {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
}): string {
  const { name, title, mimeType, description } = part;
  return `${name}: ${title}${mimeType === undefined ? "" : ` (${mimeType})`} -- ${description}`;
}

const indented = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => line.split("\n")).map((line) => (line === "" ? line : `  ${line}`));
