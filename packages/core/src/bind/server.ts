import { largeAnswers, MAX_SHOWN_CHARS } from "@refmcp/boundary/answer";
import type { PromptMessage } from "../define/content.ts";
import { annotationsOf } from "../define/effect.ts";
import { asIcon, serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { Prompt } from "../define/prompt.ts";
import type { Completer } from "../define/resource.ts";
import type { ToolOutline } from "../define/tool.ts";
import { refuseCursor } from "../engine/errors.ts";
import { isObject } from "../engine/message.ts";
import type { ClientRequest, Handler } from "../engine/request.ts";
import type { Service } from "../engine/service.ts";
import { Tasks } from "../engine/tasks.ts";
import { type GetPromptResult, type ListedTool, TASKS_EXTENSION } from "../engine/wire.ts";
import { APPS_EXTENSION, Apps } from "./apps.ts";
import { parseArguments, unknownName } from "./arguments.ts";
import { runHandler } from "./call.ts";
import { InputRequired } from "./questions.ts";
import { Resources, runAlone } from "./resource.ts";
import type { Runtime } from "./runtime.ts";
import { answerConfirmation, blockFor, callTool, codeOf } from "./tool.ts";

/** Maximum values of one completion (MCP, "Completion"). */
const MAX_COMPLETIONS = 100;

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
  const { definition, log } = runtime;
  const { name, title, version, prompts } = definition;
  const resources = new Resources(runtime);
  const apps = new Apps(runtime);
  const hasResources = definition.resources.length > 0;
  const hasPrompts = prompts.length > 0;
  const scopeFor: Service["scopeFor"] = (effect) => `${name}:${effect}`;
  const { budget } = runtime.callLimits;
  const large = budget > MAX_SHOWN_CHARS ? largeAnswers(budget) : undefined;
  const tools = listedTools(runtime.tools)
    .map((tool) => (large === undefined ? tool : { ...tool, _meta: { ...large, ...tool._meta } }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

  const methods = new Map<string, Handler>([
    [
      "tools/list",
      (request) => {
        refuseCursor(request.params.cursor);
        const { client, revision } = request;
        const list = apps.hasViewsFor(client.capabilities) ? apps.withViews(tools, request) : tools;
        // Clients of 2025-11-25 decide themselves whether to make a call a task.
        const execution = { taskSupport: "optional" as const };
        return {
          tools: revision.taskParameter ? list.map((tool) => ({ ...tool, execution })) : list,
        };
      },
    ],
    [
      "tools/call",
      (request) => {
        const toolName = String(request.params.name);
        if (toolName === apps.tool.name && apps.hasViewsFor(request.client.capabilities))
          return answerConfirmation(runtime, request, apps);
        const tool = runtime.toolsByName.get(toolName);
        if (tool === undefined) throw unknownName("tool", toolName, runtime.tools.map(nameOf));
        const call = () => callTool(runtime, tool, request, apps);
        return request.canBecomeTask ? tasks.run(request, scopeFor(tool.effect), call) : call();
      },
    ],
  ]);
  if (
    hasResources ||
    runtime.tools.some(({ view, effect }) => view !== undefined || effect === "destroy")
  )
    methods.set("resources/read", (request) => {
      const uri = String(request.params.uri);
      const isView = uri.startsWith("ui://") && apps.hasViewsFor(request.client.capabilities);
      return isView ? apps.read(uri) : resources.read(request);
    });
  if (hasResources) {
    methods.set("resources/list", (request) => resources.list(request));
    methods.set("resources/templates/list", onePage({ resourceTemplates: resources.templates() }));
  }
  if (hasPrompts) {
    methods.set("prompts/list", onePage({ prompts }));
    methods.set("prompts/get", (request) => getPrompt(runtime, request));
  }
  if (hasResources || hasPrompts)
    methods.set("completion/complete", (request) => complete(runtime, resources, request));

  return {
    identity: { name: `refmcp-${name}`, title, version },
    icons: [asIcon(serverIconSvg(definition.icon))],
    description: definition.description,
    instructions: definition.instructions,
    log,
    methods,
    capabilities(era, clientCapabilities) {
      const extensions = {
        ...(era === "modern" ? { [TASKS_EXTENSION]: {} } : {}),
        ...(apps.hasViewsFor(clientCapabilities) ? { [APPS_EXTENSION]: {} } : {}),
      };
      return {
        tools: {},
        ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
        ...(hasResources && { resources: { listChanged: true, subscribe: resources.canWatch } }),
        ...(hasPrompts && { prompts: {} }),
        ...((hasResources || hasPrompts) && { completions: {} }),
      };
    },
    scopeFor,
    tool: (toolName) => runtime.toolsByName.get(toolName),
    tasks,
    ready: (signal) => runtime.ready(signal),
    watch: (uri, onChange, request) => resources.watch(uri, onChange, request),
    listen: (listener) => runtime.listen(listener),
    onNotification: (method, client) => runtime.roots?.onNotification(method, client),
  };
}

/** Lists everything at once. */
const onePage =
  (list: object): Handler =>
  ({ params }) => {
    refuseCursor(params.cursor);
    return list;
  };

const nameOf = ({ name }: { readonly name: string }) => name;

/** Tools as clients see them. */
export function listedTools(tools: readonly ToolOutline[]): ListedTool[] {
  return tools.map((tool) => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    ...tool.schemas,
    annotations: annotationsOf(tool),
    ...(tool.meta === undefined ? {} : { _meta: tool.meta }),
  }));
}

/** @throws ProtocolError -32602 for a prompt that does not exist, with similar names. */
async function findPrompt<Context>(
  runtime: Runtime<Context, OptionTable>,
  name: string,
): Promise<Prompt<Context>> {
  const names = runtime.definition.prompts.map(nameOf);
  if (!names.includes(name)) throw unknownName("prompt", name, names);
  return codeOf((await runtime.load()).prompts, name);
}

/** Answers `completion/complete`; the types of the parameters are already checked. */
async function complete<Context>(
  runtime: Runtime<Context, OptionTable>,
  resources: Resources<Context>,
  request: ClientRequest,
): Promise<object> {
  const { params } = request;
  const { name, value }: { name: string; value: string } = Object(params.argument);
  const otherArguments: Readonly<Record<string, string>> = Object(params.context).arguments ?? {};
  const { type, uri, name: prompt } = Object(params.ref);
  let completer: Completer<Context> | undefined;
  if (type === "ref/resource") completer = await resources.completer(String(uri), name);
  else {
    const { complete = {} } = await findPrompt(runtime, String(prompt));
    if (Object.hasOwn(complete, name)) completer = complete[name];
  }
  const matches =
    completer === undefined
      ? []
      : await runAlone(runtime, request, (context, call) =>
          completer(value, context, otherArguments, call),
        );
  const values = matches.slice(0, MAX_COMPLETIONS);
  return { completion: { values, total: matches.length, hasMore: matches.length > values.length } };
}

async function getPrompt<Context>(
  runtime: Runtime<Context, OptionTable>,
  request: ClientRequest,
): Promise<GetPromptResult | InputRequired> {
  const prompt = await findPrompt(runtime, String(request.params.name));
  const { arguments: argumentsParam } = request.params;
  const rawArguments = isObject(argumentsParam) ? argumentsParam : {};
  const args = parseArguments(prompt.name, prompt.args, rawArguments);
  const subject = () => `${prompt.name} ${JSON.stringify(rawArguments)}`;
  const result = await runHandler(runtime, request, subject, (context, call) =>
    prompt.run(args, context, call),
  );
  if (result instanceof InputRequired) return result;
  const messages: readonly PromptMessage[] =
    typeof result === "string"
      ? [{ role: "user", content: { type: "text", text: result.toWellFormed() } }]
      : result;
  return {
    description: prompt.description,
    messages: messages.map(({ role, content }) => ({
      role,
      content: blockFor(request.revision, content),
    })),
  };
}
