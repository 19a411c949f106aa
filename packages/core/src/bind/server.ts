import {
  type CompleteRequest,
  type CompleteResult,
  type Implementation,
  type JsonSchemaType,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import type { OptionTable } from "../define/options.ts";
import type { Completer } from "../define/resource.ts";
import type { AnyServer } from "../define/server.ts";
import { withTrace } from "../trace.ts";
import { findPrompt, getPrompt, listedPrompt, promptCompleter } from "./prompt.ts";
import { protocolError, Resources, readResource, watchResource } from "./resource.ts";
import type { Runtime } from "./runtime.ts";
import { Session } from "./session.ts";
import type { StartWatching, Subscriptions } from "./subscriptions.ts";
import { callTool, listedTool, toolIndex, unknownTool } from "./tool.ts";
import { asUri } from "./uri.ts";

/** The protocol allows no more values in one completion (MCP, "Completion"). */
const MOST_COMPLETIONS = 100;
/** Lists are the same for the life of the process; a client may keep them this long. */
const LIST_TTL_MS = 10 * 60_000;

/** What one running server shares among its connections, made once. */
export interface Binding<Context> {
  /**
   * Builds the SDK server of one connection; cheap and without side effects, since a connection that opens with
   * a probe and falls back builds two.
   */
  connect(era: "legacy" | "modern", subscriptions: Subscriptions): Session<Context>;
  /** Starts watching a resource, for the connection's `Subscriptions`. */
  watch: StartWatching;
}

/**
 * Binds a running server to the SDK. This file and its neighbours are the only ones that set request handlers.
 */
export function bind<Context>(runtime: Runtime<Context, OptionTable>): Binding<Context> {
  const { definition, prompts } = runtime;
  const tools = toolIndex(runtime.tools);
  const resources = new Resources(runtime.resources);
  const hasResources = runtime.resources.length > 0;
  let toolList: ReturnType<typeof listedTool>[] | undefined;
  const cacheHint = { ttlMs: LIST_TTL_MS, cacheScope: "private" } as const;

  return {
    watch: (uri, changed) => watchResource(resources, () => runtime.open(), uri, changed),
    connect(era, subscriptions) {
      const server = new Server(identityOf(definition), {
        instructions: definition.instructions,
        capabilities: {
          tools: {},
          logging: {},
          ...(hasResources ? { resources: { listChanged: true, subscribe: resources.canWatch } } : {}),
          ...(prompts.length > 0 ? { prompts: {} } : {}),
          ...(hasResources || prompts.length > 0 ? { completions: {} } : {}),
        },
        requestState: { verify: (state, context) => runtime.state.verify(state, context) },
        cacheHints: { "tools/list": cacheHint, "prompts/list": cacheHint, "server/discover": cacheHint },
        jsonSchemaValidator: noValidator,
      });
      const session = new Session(server, runtime, era, subscriptions);

      server.setRequestHandler("tools/list", (request) => {
        refuseCursor(request.params?.cursor);
        toolList ??= runtime.tools.map(listedTool).sort((a, b) => (a.name < b.name ? -1 : 1));
        if (definition.warm === true) runtime.warm();
        return { tools: toolList };
      });
      server.setRequestHandler("tools/call", (request, context) => {
        const tool = tools.get(request.params.name);
        if (tool === undefined) throw unknownTool(request.params.name, runtime.tools);
        return withTrace(context.mcpReq, () => callTool(session, tool, request.params.arguments, context));
      });

      if (hasResources) {
        server.setRequestHandler("resources/list", async (request) => {
          try {
            return await resources.list(request.params?.cursor, () => runtime.open());
          } catch (error) {
            throw protocolError(error, "resources/list", runtime.log);
          }
        });
        server.setRequestHandler("resources/templates/list", (request) => {
          refuseCursor(request.params?.cursor);
          return { resourceTemplates: resources.templates() };
        });
        server.setRequestHandler("resources/read", (request, context) =>
          withTrace(context.mcpReq, () =>
            readResource(session, resources, asUri(request.params.uri), context),
          ),
        );
        if (era === "legacy" && resources.canWatch) {
          server.setRequestHandler("resources/subscribe", async ({ params }) => {
            const uri = asUri(params.uri);
            try {
              if (!subscriptions.has(uri)) await subscriptions.add(uri);
            } catch (error) {
              throw protocolError(error, "resources/subscribe", runtime.log, uri);
            }
            return {};
          });
          server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
            await subscriptions.remove(asUri(params.uri));
            return {};
          });
        }
      }

      if (prompts.length > 0) {
        server.setRequestHandler("prompts/list", (request) => {
          refuseCursor(request.params?.cursor);
          return { prompts: prompts.map(listedPrompt) };
        });
        server.setRequestHandler("prompts/get", (request, context) => {
          const prompt = findPrompt(prompts, request.params.name);
          return withTrace(context.mcpReq, () =>
            getPrompt(session, prompt, request.params.arguments, context),
          );
        });
      }

      if (hasResources || prompts.length > 0) {
        server.setRequestHandler("completion/complete", async ({ params }) => {
          const completer = completerOf(params, resources, prompts);
          if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } };
          try {
            const { value } = params.argument;
            return completion(await completer(value, await runtime.open(), params.context?.arguments ?? {}));
          } catch (error) {
            throw protocolError(error, "completion/complete", runtime.log);
          }
        });
      }

      const unlisten = runtime.listen({
        changed(changed) {
          const uri = asUri(changed);
          if (era === "modern" || subscriptions.has(uri))
            void server.sendResourceUpdated({ uri }).catch(ignoreClosed);
        },
        resourcesChanged() {
          if (hasResources) void server.sendResourceListChanged().catch(ignoreClosed);
        },
      });
      server.onclose = unlisten;
      return session;
    },
  };
}

/** How the server introduces itself (MCP `Implementation`). */
function identityOf({ name, title, version, websiteUrl, icons }: AnyServer): Implementation {
  return {
    name: `refmcp-${name}`,
    title,
    version,
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
    ...(icons === undefined ? {} : { icons: [...icons] }),
  };
}

function completerOf<Context>(
  params: CompleteRequest["params"],
  resources: Resources<Context>,
  prompts: Runtime<Context, OptionTable>["prompts"],
): Completer<Context> | undefined {
  const { ref, argument } = params;
  return ref.type === "ref/resource"
    ? resources.completer(ref.uri, argument.name)
    : promptCompleter(findPrompt(prompts, ref.name), argument.name);
}

function completion(found: readonly string[]): CompleteResult {
  const values = found.slice(0, MOST_COMPLETIONS);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

/** Lists of one page give out no cursor, so any that comes in is made up. */
function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "Unknown cursor. This list has one page; leave cursor out.",
  );
}

/** The SDK validates answers to forms with a JSON Schema library; ours are parsed by zod, so none is shipped. */
const noValidator: jsonSchemaValidator = {
  getValidator: (_schema: JsonSchemaType) => () => {
    throw new TypeError("answers are parsed by zod");
  },
};

function ignoreClosed(): void {}
