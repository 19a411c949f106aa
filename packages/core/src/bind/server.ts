import { largeAnswers, MAX_SHOWN_CHARS } from "@refmcp/boundary/answer";
import { asIcon, serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { Completer } from "../define/resource.ts";
import { refuseCursor } from "../protocol/errors.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { Revision } from "../protocol/revisions.ts";
import type { Handler, Service } from "../protocol/service.ts";
import type { ClientCapabilities, ListedTool, Params, ServerCapabilities } from "../protocol/wire.ts";
import type { Apps } from "./apps.ts";
import { APPS_EXTENSION, addApps, hasApps, showsApps, showsCards } from "./apps-extension.ts";
import { listedPrompt, listedTools } from "./listing.ts";
import { findPrompt, getPrompt, promptCompleter } from "./prompt.ts";
import { Resources, readResource, runAlone, watchResource } from "./resource.ts";
import type { Runtime } from "./runtime.ts";
import { addSkills, SKILLS_EXTENSION } from "./skills.ts";
import { callTool, ToolIndex, unknownName } from "./tool.ts";

/** Maximum values of one completion (MCP, "Completion"). */
const MAX_COMPLETIONS = 100;

/** Binds a running server to the protocol: its definitions become the methods that clients call. */
export function bind<Context>(runtime: Runtime<Context, OptionTable>): Service {
  const { definition, prompts, log } = runtime;
  const { name, title, version, websiteUrl } = definition;
  const tools = new ToolIndex(runtime.tools);
  const resources = new Resources(runtime.resources);
  const hasResources = runtime.resources.length > 0 || definition.skills !== undefined;
  const hasPrompts = prompts.length > 0;
  let toolList: { readonly tools: readonly ListedTool[] } | undefined;
  const methods = new Map<string, Handler>();

  const unlisted = Object.entries(definition.argumentNeeds ?? {}).flatMap(([argument, option]) =>
    hasValue(runtime.options[option]) ? [] : [argument],
  );
  const listed = async () => {
    const { budget } = runtime.callLimits;
    const large = budget > MAX_SHOWN_CHARS ? largeAnswers(budget) : undefined;
    const tools = (await listedTools(runtime.tools, unlisted))
      .map((tool) => (large === undefined ? tool : { ...tool, _meta: { ...large, ...tool._meta } }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    toolList = { tools };
    return toolList;
  };
  methods.set("tools/list", ({ params }) => {
    refuseCursor(params.cursor);
    if (definition.warm === true) runtime.warm();
    return toolList ?? listed();
  });
  const call = (request: ClientRequest, apps?: Apps<Context>) => {
    const asked = String(request.params.name);
    const tool = tools.find(asked);
    const known = () => runtime.tools.map((one) => one.name);
    if (tool === undefined) throw unknownName("tool", asked, known());
    if (tool instanceof Promise) return tool.then((loaded) => callTool(runtime, loaded, request, apps));
    return callTool(runtime, tool, request, apps);
  };
  methods.set("tools/call", (request) => call(request));
  if (hasResources) {
    methods.set("resources/list", (request) =>
      resources.list(request.params.cursor, (list) => runAlone(runtime, request, list)),
    );
    methods.set("resources/templates/list", ({ params }) => {
      refuseCursor(params.cursor);
      return { resourceTemplates: resources.templates() };
    });
    methods.set("resources/read", (request) => readResource(runtime, resources, request));
  }
  if (hasPrompts) {
    methods.set("prompts/list", ({ params }) => {
      refuseCursor(params.cursor);
      return { prompts: prompts.map(listedPrompt) };
    });
    methods.set("prompts/get", async (request) =>
      getPrompt(runtime, await findPrompt(prompts, String(request.params.name)), request),
    );
  }
  if (definition.skills !== undefined) addSkills(methods, definition.skills);
  if (hasApps(runtime.tools, true)) addApps(methods, runtime, call);
  if (hasResources || hasPrompts)
    methods.set("completion/complete", (request) => complete(runtime, resources, request));

  return {
    identity: { name: `refmcp-${name}`, title, version, websiteUrl },
    icons: [asIcon(serverIconSvg(definition.icon))],
    instructions: definition.instructions,
    log,
    methods,
    capabilities: (era, declared) => ({
      tools: {},
      ...capabilitiesOf(runtime, era, declared),
      ...(hasResources ? { resources: { listChanged: true, subscribe: resources.canWatch } } : {}),
      ...(hasPrompts ? { prompts: {} } : {}),
      ...(hasResources || hasPrompts ? { completions: {} } : {}),
    }),
    watch: (uri, changed, request) => watchResource(runtime, resources, uri, changed, request),
    listen: (listener) =>
      runtime.listen({
        changed: (uri) => listener.changed(uri),
        resourcesChanged() {
          if (hasResources) listener.resourcesChanged();
        },
      }),
    notified: (method, connection) => runtime.roots.notified(method, connection),
  };
}

/**
 * The capabilities for a definition and a client. Logging is deprecated in 2026-07-28 and declared there only by
 * servers that log to their clients. MCP Apps are declared to clients that support them, and so are skills, which are
 * also declared to every client of the modern era.
 */
function capabilitiesOf<Context>(
  { definition, options, tools }: Runtime<Context, OptionTable>,
  era: Revision["era"],
  declared: ClientCapabilities | undefined,
): ServerCapabilities {
  const { logsToClient, extensions = {}, skills } = definition;
  const showsSkills = era === "modern" || declared?.extensions?.[SKILLS_EXTENSION] !== undefined;
  const all = {
    ...extensions,
    ...(skills !== undefined && showsSkills ? { [SKILLS_EXTENSION]: {} } : {}),
    ...(showsApps(declared) && hasApps(tools, showsCards(options.confirm, declared))
      ? { [APPS_EXTENSION]: {} }
      : {}),
  };
  return {
    ...(era === "legacy" || logsToClient === true ? { logging: {} } : {}),
    ...(Object.keys(all).length === 0 ? {} : { extensions: all }),
  };
}

/** Answers `completion/complete`; the types of the parameters are already checked. */
async function complete<Context>(
  runtime: Runtime<Context, OptionTable>,
  resources: Resources<Context>,
  request: ClientRequest,
): Promise<object> {
  const { ref, argument, context: given }: Params = request.params;
  const { name, value }: { name: string; value: string } = Object(argument);
  const others: Readonly<Record<string, string>> = Object(given).arguments ?? {};
  const { type, uri, name: prompt } = Object(ref);
  const completer: Completer<Context> | undefined =
    type === "ref/resource"
      ? await resources.completer(String(uri), name)
      : promptCompleter(await findPrompt(runtime.prompts, String(prompt)), name);
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } };
  const found = await runAlone(runtime, request, (context, call) => completer(value, context, others, call));
  const values = found.slice(0, MAX_COMPLETIONS);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

function hasValue(option: unknown): boolean {
  return Array.isArray(option) ? option.length > 0 : option !== undefined && option !== false;
}
