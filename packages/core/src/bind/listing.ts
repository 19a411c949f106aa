import { annotationsOf } from "../define/effect.ts";
import type { LazyPrompt, ListedPrompt, Prompt } from "../define/prompt.ts";
import type { LazyResource, Resource, ResourceOutline } from "../define/resource.ts";
import type { LazyTool, Tool, ToolFacts, ToolSchemas } from "../define/tool.ts";
import type { ListedTool } from "../protocol/wire.ts";

function listedWith(tool: ToolFacts, schemas: ToolSchemas): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    ...schemas,
    annotations: annotationsOf(tool),
    ...(tool.meta === undefined ? {} : { _meta: tool.meta }),
  };
}

/**
 * Tools in the order given. Schemas that were not recorded at build time are generated from zod now.
 *
 * @param how `unlisted`: names of arguments that are left out; `isTyped`: with `--answers typed`
 */
export async function listedTools(
  tools: readonly (Tool<never> | LazyTool<never>)[],
  { unlisted = [], isTyped = false }: { unlisted?: readonly string[]; isTyped?: boolean } = {},
): Promise<readonly ListedTool[]> {
  return Promise.all(
    tools.map(async (tool) => {
      const schemas = "load" in tool ? tool.schemas : (await import("./schema.ts")).schemasOf(tool);
      const { outputSchema = isTyped ? typedSchema(tool) : undefined } = schemas;
      const shown = unlisted.length === 0 ? schemas : without(schemas, unlisted);
      return listedWith(tool, outputSchema === undefined ? shown : { ...shown, outputSchema });
    }),
  );
}

/** What `typedAnswer` returns for a tool without an output schema. */
function typedSchema({ media }: ToolFacts): ToolSchemas["outputSchema"] {
  const block = { type: "object", properties: { type: { type: "string" } }, required: ["type"] };
  const blocks = { type: "array", items: block, description: "Images, audio, files and links." };
  const properties = media
    ? { content: blocks }
    : { content: { type: "string", description: "The text of the answer." }, blocks };
  return { type: "object", properties, required: ["content"] };
}

/** A tool as clients of 2025-11-25 see it, who decide themselves whether to make a call a task. */
export function withTaskSupport(tool: ListedTool, needsTask: boolean): ListedTool {
  return { ...tool, execution: { taskSupport: needsTask ? "required" : "optional" } };
}

/** The key with which a tool's input declares the header of an argument (MCP 2026-07-28, "Custom headers"). */
const HEADER = "x-mcp-header";

/** The arguments that clients repeat in HTTP headers: argument → header. */
export function parameterHeaders(tool: Tool<never> | LazyTool<never>): ReadonlyMap<string, string> {
  const facts: [argument: string, facts: unknown][] =
    "load" in tool
      ? Object.entries(Object(tool.schemas.inputSchema.properties))
      : Object.entries(tool.input.shape).map(([argument, schema]) => [argument, schema.meta()]);
  return new Map(
    facts.flatMap(([argument, declared]) => {
      const header: unknown = Object(declared)[HEADER];
      return typeof header === "string" ? [[argument, header]] : [];
    }),
  );
}

function without(schemas: ToolSchemas, unlisted: readonly string[]): ToolSchemas {
  const { inputSchema } = schemas;
  const listed = Object.entries(inputSchema.properties ?? {}).filter(
    ([name]) => !unlisted.includes(name),
  );
  return { ...schemas, inputSchema: { ...inputSchema, properties: Object.fromEntries(listed) } };
}

export function listedPrompt(prompt: Prompt<never> | LazyPrompt<never>): ListedPrompt {
  if ("load" in prompt) return prompt.listed;
  return {
    name: prompt.name,
    title: prompt.title,
    description: prompt.description,
    arguments: Object.entries(prompt.args.shape).map(([name, schema]) => ({
      name,
      ...(schema.description === undefined ? {} : { description: schema.description }),
      required: !schema.safeParse(undefined).success,
    })),
  };
}

export function resourceOutline(resource: Resource<never> | LazyResource<never>): ResourceOutline {
  if ("load" in resource) return resource;
  return {
    ...("uri" in resource ? { uri: resource.uri } : { uriTemplate: resource.uriTemplate }),
    name: resource.name,
    title: resource.title,
    description: resource.description,
    ...(resource.mimeType === undefined ? {} : { mimeType: resource.mimeType }),
    ...(resource.annotations === undefined ? {} : { annotations: resource.annotations }),
    watches: resource.watch !== undefined,
    lists: "list" in resource && resource.list !== undefined,
    completes: "complete" in resource ? Object.keys(resource.complete ?? {}) : [],
  };
}
