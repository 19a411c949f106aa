import { largeAnswers, MAX_SHOWN_CHARS } from "@refmcp/boundary/answer";
import type { PromptMessage } from "../define/content.ts";
import { asIcon, serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { LazyPrompt, Prompt } from "../define/prompt.ts";
import type { Completer } from "../define/resource.ts";
import type { AnyServable } from "../define/server.ts";
import type { Tool } from "../define/tool.ts";
import { refuseCursor } from "../engine/errors.ts";
import { isObject } from "../engine/message.ts";
import type { ClientRequest, Handler, KnownTool } from "../engine/request.ts";
import type { Service } from "../engine/service.ts";
import { TASKS_EXTENSION, Tasks } from "../engine/tasks.ts";
import type {
  ClientCapabilities,
  Era,
  GetPromptResult,
  ListedTool,
  Params,
  ServerCapabilities,
} from "../engine/wire.ts";
import { APPS_EXTENSION, Apps, showsApps } from "./apps.ts";
import { runHandler } from "./call.ts";
import { listedPrompt, listedTools, withTaskSupport } from "./listing.ts";
import { InputRequired } from "./questions/questions.ts";
import { Resources, runAlone } from "./resource.ts";
import { blockFor } from "./result.ts";
import type { Runtime } from "./runtime.ts";
import { addSkills, SKILLS_EXTENSION } from "./skills.ts";
import { answerConfirmation, callTool, parseArguments, toolsByName, unknownName } from "./tool.ts";

/** Maximum values of one completion (MCP, "Completion"). */
const MAX_COMPLETIONS = 100;

/** Finds a tool's facts by any of its names. */
function knownTools(tools: Runtime<unknown, OptionTable>["tools"]): Service["tool"] {
  let known: Map<string, KnownTool> | undefined;
  return (name) => {
    known ??= new Map(
      tools.flatMap(({ name, effect, aliases = [] }) =>
        [name, ...aliases].map((one) => [one, { name, effect }]),
      ),
    );
    return known.get(name);
  };
}

/**
 * What an engine serves of a running server: its definitions become the methods that clients call.
 *
 * @param tasks keeps the calls that became tasks. Default: its own; servers that are served as one share them.
 */
export function serviceOf<Context>(
  runtime: Runtime<Context, OptionTable>,
  tasks = new Tasks({
    afterMs: runtime.options.taskAfterMs,
    limitMs: runtime.options.taskTimeoutMs,
  }),
): Service {
  const { definition, prompts, log } = runtime;
  const { name, title, version } = definition;
  const findTool = toolsByName(runtime.tools);
  const findKnown = knownTools(runtime.tools);
  const scopeFor: Service["scopeFor"] = (effect) => `${name}:${effect}`;
  const resources = new Resources(runtime);
  const hasResources = runtime.resources.length > 0 || definition.skills !== undefined;
  const hasPrompts = prompts.length > 0;
  let toolList: { readonly tools: readonly ListedTool[] } | undefined;
  const methods = new Map<string, Handler>();

  const listed = async () => {
    const { budget } = runtime.callLimits;
    const large = budget > MAX_SHOWN_CHARS ? largeAnswers(budget) : undefined;
    const tools = (await listedTools(runtime.tools))
      .map((tool) => (large === undefined ? tool : { ...tool, _meta: { ...large, ...tool._meta } }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    toolList = { tools };
    return toolList;
  };
  const apps = new Apps(runtime);
  const { hasViews } = apps;
  /** Only a client that declares extensions can show views. */
  const appsFor = ({ client: { capabilities } }: ClientRequest) =>
    hasViews && capabilities?.extensions !== undefined && showsApps(capabilities)
      ? apps
      : undefined;
  methods.set("tools/list", async (request) => {
    refuseCursor(request.params.cursor);
    if (definition.warm === true) runtime.warm();
    const list = toolList ?? (await listed());
    const shown = appsFor(request)?.listed(list.tools, request) ?? list;
    if (!request.revision.taskParameter) return shown;
    return { ...shown, tools: shown.tools.map(withTaskSupport) };
  });
  methods.set("tools/call", (request) => {
    const asked = String(request.params.name);
    const asking = appsFor(request);
    if (asking?.tool.name === asked) return answerConfirmation(runtime, request, asking);
    const tool = findTool(asked);
    if (tool === undefined)
      throw unknownName(
        "tool",
        asked,
        runtime.tools.map((one) => one.name),
      );
    const call = (loaded: Tool<Context>) => callTool(runtime, loaded, request, asking);
    if (request.task === undefined && tasks.isFor(request)) {
      const effect = findKnown(asked)?.effect ?? "read";
      return tasks.run(request, scopeFor(effect), async () => call(await tool));
    }
    return tool instanceof Promise ? tool.then(call) : call(tool);
  });
  if (hasResources) {
    methods.set("resources/list", (request) => resources.list(request));
    methods.set("resources/templates/list", ({ params }) => {
      refuseCursor(params.cursor);
      return { resourceTemplates: resources.templates() };
    });
  }
  if (hasResources || hasViews)
    methods.set("resources/read", (request) => {
      const { uri } = request.params;
      const shown = String(uri).startsWith("ui://") ? appsFor(request) : undefined;
      return shown?.read(String(uri)) ?? resources.read(request);
    });
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
  if (hasResources || hasPrompts)
    methods.set("completion/complete", (request) => complete(runtime, resources, request));

  return {
    identity: { name: `refmcp-${name}`, title, version },
    icons: [asIcon(serverIconSvg(definition.icon))],
    description: definition.description,
    instructions: definition.instructions,
    log,
    methods,
    capabilities: (era, declared) => ({
      tools: {},
      ...capabilitiesOf(definition, apps, era, declared),
      ...(hasResources ? { resources: { listChanged: true, subscribe: resources.canWatch } } : {}),
      ...(hasPrompts ? { prompts: {} } : {}),
      ...(hasResources || hasPrompts ? { completions: {} } : {}),
    }),
    scopeFor,
    tool: findKnown,
    tasks,
    ready: (signal) => runtime.ready(signal),
    watch: (uri, changed, request) => resources.watch(uri, changed, request),
    listen: (listener) =>
      runtime.listen({
        changed: (uri) => listener.changed(uri),
        resourcesChanged() {
          if (hasResources) listener.resourcesChanged();
        },
      }),
    notified: (method, client) => runtime.roots?.notified(method, client),
  };
}

/**
 * The capabilities for a definition and a client. Logging is declared only by servers that log to their clients. MCP Apps are declared to clients that support them, and so are skills, which are
 * also declared to every client of the modern era.
 */
function capabilitiesOf(
  { logsToClient, skills }: AnyServable,
  apps: Pick<Apps<never>, "hasViewsFor">,
  era: Era,
  declared: ClientCapabilities | undefined,
): ServerCapabilities {
  const showsSkills = era === "modern" || declared?.extensions?.[SKILLS_EXTENSION] !== undefined;
  const all = {
    ...(era === "modern" ? { [TASKS_EXTENSION]: {} } : {}),
    ...(skills !== undefined && showsSkills ? { [SKILLS_EXTENSION]: {} } : {}),
    ...(apps.hasViewsFor(declared) ? { [APPS_EXTENSION]: {} } : {}),
  };
  return {
    ...(logsToClient === true ? { logging: {} } : {}),
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
  const found = await runAlone(runtime, request, (context, call) =>
    completer(value, context, others, call),
  );
  const values = found.slice(0, MAX_COMPLETIONS);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

/** @throws ProtocolError -32602 for a prompt that does not exist, with similar names. */
async function findPrompt<Context>(
  prompts: readonly (Prompt<Context> | LazyPrompt<Context>)[],
  name: string,
): Promise<Prompt<Context>> {
  const prompt = prompts.find((candidate) => candidate.name === name);
  if (prompt !== undefined) return "load" in prompt ? prompt.load() : prompt;
  const known = prompts.map((candidate) => candidate.name);
  throw unknownName("prompt", name, known);
}

function promptCompleter<Context>(
  prompt: Prompt<Context>,
  argument: string,
): Completer<Context> | undefined {
  const complete: Readonly<Record<string, Completer<Context> | undefined>> = prompt.complete ?? {};
  return Object.hasOwn(complete, argument) ? complete[argument] : undefined;
}

async function getPrompt<Context>(
  runtime: Runtime<Context, OptionTable>,
  prompt: Prompt<Context>,
  request: ClientRequest,
): Promise<GetPromptResult | InputRequired> {
  const given = isObject(request.params.arguments) ? request.params.arguments : {};
  const args = parseArguments(prompt.name, prompt.args, given);
  const subject = () => `${prompt.name} ${JSON.stringify(given)}`;
  const returned = await runHandler(runtime, request, subject, (context, call) =>
    prompt.run(args, context, call),
  );
  if (returned instanceof InputRequired) return returned;
  const messages: readonly PromptMessage[] =
    typeof returned === "string"
      ? [{ role: "user", content: { type: "text", text: returned.toWellFormed() } }]
      : returned;
  return {
    description: prompt.description,
    messages: messages.map(({ role, content }) => ({
      role,
      content: blockFor(request.revision, content),
    })),
  };
}
