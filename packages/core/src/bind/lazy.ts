import type { Call } from "../define/call.ts";
import type { Annotations } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import type { ListedPrompt } from "../define/prompt.ts";
import type { Completer, FixedResource, TemplateResource } from "../define/resource.ts";
import type { LazyServer, ServerDefinition } from "../define/server.ts";
import type { ToolFacts, ToolSchemas } from "../define/tool.ts";

/** A server without its code, as JSON: what its process shows before the first call. */
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

/** What a resource shows, and which handlers it has. */
export interface ResourceOutline extends Pick<FixedResource<never>, "name" | "title" | "description"> {
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly watches: boolean;
  readonly lists: boolean;
  readonly completes: readonly string[];
}

/**
 * A server that is listed by its outline and loaded with the first call that needs it, so that startup reads
 * neither its tools nor their schemas. Used for bundles; see `outlineOf`.
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
    tools: tools.map((tool) => ({ ...tool, load: async () => named((await loaded()).tools, tool.name) })),
    prompts: prompts.map((listed) => ({
      name: listed.name,
      listed,
      load: async () => named((await loaded()).prompts ?? [], listed.name),
    })),
    resources: resources.map((resource) => lazyResource(resource, loaded)),
    ...(moreTools === undefined
      ? {}
      : {
          moreTools: {
            ...moreTools,
            load: async (values) => (await (await loaded()).moreTools?.load(values)) ?? [],
          },
        }),
    open: async (opening) => (await loaded()).open(opening),
    close: async (context) => (await loaded()).close?.(context),
  };
}

function lazyResource<Context, Table extends OptionTable>(
  { watches, lists, completes, uri, uriTemplate = "", ...facts }: ResourceOutline,
  loaded: () => Promise<ServerDefinition<Context, Table>>,
): FixedResource<Context> | TemplateResource<Context> {
  const real = async () => named((await loaded()).resources ?? [], facts.name);
  const fixed = async () => {
    const resource = await real();
    if ("uri" in resource) return resource;
    throw new TypeError(`${facts.name} is a template`);
  };
  const family = async () => {
    const resource = await real();
    if ("uriTemplate" in resource) return resource;
    throw new TypeError(`${facts.name} is not a template`);
  };
  if (uri !== undefined) {
    const lazy: FixedResource<Context> = {
      ...facts,
      uri,
      read: async (context, call) => (await fixed()).read(context, call),
    };
    if (!watches) return lazy;
    return {
      ...lazy,
      watch: async (context: Context, changed: () => void, call: Call) =>
        (await fixed()).watch?.(context, changed, call) ?? nothing,
    };
  }
  const completer =
    (variable: string): Completer<Context> =>
    async (value, context, others, call) => {
      const complete: Readonly<Record<string, Completer<Context> | undefined>> =
        (await family()).complete ?? {};
      return complete[variable]?.(value, context, others, call) ?? [];
    };
  const lazy: TemplateResource<Context> = {
    ...facts,
    uriTemplate,
    read: async (variables, context, call) => (await family()).read(variables, context, call),
    complete: Object.fromEntries(completes.map((variable) => [variable, completer(variable)])),
  };
  return {
    ...lazy,
    ...(lists
      ? {
          list: async (context: Context, cursor: string | undefined, call: Call) =>
            (await family()).list?.(context, cursor, call) ?? { resources: [] },
        }
      : {}),
    ...(watches
      ? {
          watch: async (
            variables: Record<string, string>,
            context: Context,
            changed: () => void,
            call: Call,
          ) => (await family()).watch?.(variables, context, changed, call) ?? nothing,
        }
      : {}),
  };
}

function nothing(): void {}

function named<Entry extends { readonly name: string }>(entries: readonly Entry[], name: string): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new TypeError(`the outline has ${name}, but the server does not`);
  return found;
}
