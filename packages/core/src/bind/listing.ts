import { annotationsOf } from "../define/effect.ts";
import type { LazyPrompt, ListedPrompt, Prompt } from "../define/prompt.ts";
import type { LazyResource, Resource, ResourceOutline } from "../define/resource.ts";
import type { LazyTool, Tool, ToolFacts, ToolSchemas } from "../define/tool.ts";
import type { ListedTool } from "../engine/wire.ts";

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

/** Tools in the order given. Schemas that were not recorded at build time are generated from zod now. */
export async function listedTools(
  tools: readonly (Tool<never> | LazyTool<never>)[],
): Promise<readonly ListedTool[]> {
  return Promise.all(
    tools.map(async (tool) =>
      listedWith(
        tool,
        "load" in tool ? tool.schemas : (await import("./schema.ts")).schemasOf(tool),
      ),
    ),
  );
}

/** A tool as clients of 2025-11-25 see it, who decide themselves whether to make a call a task. */
export function withTaskSupport(tool: ListedTool): ListedTool {
  return { ...tool, execution: { taskSupport: "optional" } };
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
