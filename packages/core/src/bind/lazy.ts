import type { OptionTable } from "../define/options.ts";
import type { ListedPrompt } from "../define/prompt.ts";
import type { ResourceOutline } from "../define/resource.ts";
import type { LazyServer, ServerDefinition } from "../define/server.ts";
import type { ToolFacts, ToolSchemas } from "../define/tool.ts";

/** A server's definition without code, as JSON: what its process shows before the first call. */
export interface Outline<Context>
  extends Omit<
    ServerDefinition<Context>,
    "options" | "tools" | "moreTools" | "resources" | "prompts" | "open" | "close"
  > {
  readonly moreTools?: { readonly option: string };
  readonly tools: readonly (ToolFacts & { readonly schemas: ToolSchemas })[];
  readonly prompts: readonly ListedPrompt[];
  readonly resources: readonly ResourceOutline[];
}

/**
 * A server that lists its tools from the outline and loads them on the first call that needs them, so startup reads
 * neither the tools nor their schemas. Used by bundles; see `outlineOf`.
 */
export function lazyServer<Context, Table extends OptionTable>(
  outline: Outline<Context>,
  options: Table,
  load: () => Promise<ServerDefinition<Context, Table>>,
): LazyServer<Context, Table> {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const { tools, prompts, resources, moreTools, ...facts } = outline;
  return {
    ...facts,
    options,
    tools: tools.map((tool) => ({
      ...tool,
      load: async () => named((await loaded()).tools, tool.name),
    })),
    prompts: prompts.map((listed) => ({
      name: listed.name,
      listed,
      load: async () => named((await loaded()).prompts ?? [], listed.name),
    })),
    resources: resources.map((resource) => ({
      ...resource,
      load: async () => named((await loaded()).resources ?? [], resource.name),
    })),
    ...(moreTools === undefined
      ? {}
      : {
          moreTools: {
            ...moreTools,
            load: async (values) => (await (await loaded()).moreTools?.load(values)) ?? [],
          },
        }),
    open: async (opening) => (await loaded()).open(opening),
    ready: async (context, signal) => (await loaded()).ready?.(context, signal),
    close: async (context) => (await loaded()).close?.(context),
  };
}

function named<Entry extends { readonly name: string }>(
  entries: readonly Entry[],
  name: string,
): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new TypeError(`the outline has ${name}, but the server does not`);
  return found;
}
