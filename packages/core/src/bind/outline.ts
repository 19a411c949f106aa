import * as z from "zod";
import type { OptionTable } from "../define/options.ts";
import type { ListedPrompt, Prompt } from "../define/prompt.ts";
import type { Resource, ResourceOutline } from "../define/resource.ts";
import {
  type AnyServer,
  type LazyServer,
  lazyServer,
  type Outline,
  type ServerDefinition,
} from "../define/server.ts";
import type { Tool, ToolOutline } from "../define/tool.ts";

/** The outline of a server, for its bundle; serializable as JSON. */
export function outlineOf(server: AnyServer): Outline {
  const { options: _, open: _open, ready: _ready, close: _close, views: _views, ...rest } = server;
  const { tools, resources = [], prompts = [], ...facts } = rest;
  return {
    ...facts,
    tools: tools.map(toolOutline),
    prompts: prompts.map(listedPrompt),
    resources: resources.map(resourceOutline),
  };
}

/** A server that is not bundled, in the form of one that is. */
export function asLazyServer<Context, Table extends OptionTable>(
  server: ServerDefinition<Context, Table>,
): LazyServer<Context, Table> {
  const outline = { ...outlineOf(server), ...(server.views && { views: server.views }) };
  return lazyServer(outline, server.options, () => Promise.resolve(server));
}

function toolOutline({ input, output, run: _, ...facts }: Tool<never>): ToolOutline {
  return {
    ...facts,
    schemas: {
      inputSchema: { ...objectSchema(input, "input"), additionalProperties: false },
      ...(output === undefined ? {} : { outputSchema: objectSchema(output, "output") }),
    },
  };
}

/**
 * The JSON Schema (2020-12) that clients see. `$schema` is omitted because that dialect is the protocol's default, and
 * `additionalProperties: false` below the root because it costs tokens without helping a model.
 */
function objectSchema(schema: z.ZodObject, io: "input" | "output") {
  const { $schema: _, ...root }: Record<string, unknown> = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...root, type: "object" as const };
}

function listedPrompt({ name, title, description, args }: Prompt<never>): ListedPrompt {
  const list = Object.entries(args.shape).map(([name, schema]) => ({
    name,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    required: !schema.safeParse(undefined).success,
  }));
  return { name, title, description, arguments: list };
}

function resourceOutline(resource: Resource<never>): ResourceOutline {
  const { name, title, description, mimeType, watch } = resource;
  return {
    ...("uri" in resource ? { uri: resource.uri } : { uriTemplate: resource.uriTemplate }),
    name,
    title,
    description,
    ...(mimeType === undefined ? {} : { mimeType }),
    watches: watch !== undefined,
    lists: "list" in resource && resource.list !== undefined,
    completes: "complete" in resource ? Object.keys(resource.complete ?? {}) : [],
  };
}
