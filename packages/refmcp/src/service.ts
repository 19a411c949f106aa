import type { Log, Service } from "@refmcp/core";
import {
  type ClientRequest,
  type Handler,
  invalidParams,
  isObject,
  type ListedTool,
  ProtocolError,
  refuseCursor,
  type ServerCapabilities,
  show,
  unknownName,
} from "@refmcp/core/run";
import { CALL_TOOL, innerCall, noTool } from "./call-tool.ts";
import { nameOf, type Part, send } from "./part.ts";
import { listResources, ofResource } from "./resources.ts";

/**
 * Joins servers to one: a list has the entries of all, and any other request goes to the server that it belongs to.
 *
 * @param program the program's own tools: `find_tools`
 * @param findsTools whether they are offered, with `call_tool`
 */
export function joinServices(
  program: Part,
  servers: readonly Part[],
  findsTools: boolean,
): Service {
  const parts = findsTools ? [program, ...servers] : servers;
  const methods = new Map<string, Handler>([
    ["tools/list", (request) => listTools(parts, findsTools, request)],
    [
      "tools/call",
      (request) => callTool(parts, findsTools ? program.service.log : undefined, request),
    ],
    ["resources/list", (request) => listResources(parts, request)],
    ["resources/templates/list", (request) => joined(parts, "resourceTemplates", request)],
    ["resources/read", (request) => ofResource(parts, uriOf(request), sending(request))],
    ["prompts/list", (request) => joined(parts, "prompts", request)],
    ["prompts/get", (request) => send(ofPrompt(parts, request.params.name), request)],
    ["completion/complete", (request) => send(ofReference(parts, request), request)],
    ["skills/list", (request) => joined(parts, "skills", request)],
    ["skills/get", (request) => ofResource(parts, uriOf(request), sending(request))],
  ]);
  return {
    ...program.service,
    identity: { ...program.service.identity, name: "refmcp" },
    instructions: findsTools
      ? `${program.service.instructions}\nServers: ${servers.map(nameOf).join(", ")}.`
      : servers.map((part) => `# ${nameOf(part)}\n${part.service.instructions}`).join("\n\n"),
    methods,
    capabilities: (era, declared) =>
      joinCapabilities(parts.map(({ service }) => service.capabilities(era, declared))),
    tool: (name) =>
      findsTools && name === CALL_TOOL.name
        ? { name, effect: "destroy" }
        : ofTool(parts, name)?.service.tool(name),
    // A server that has not been used opens at its first call.
    async ready(signal) {
      const opened = servers.filter((part) => part.isOpen());
      await Promise.all(opened.map(({ service }) => service.ready(signal)));
    },
    watch: (uri, changed, request) =>
      ofResource(servers, uri, ({ service }) => service.watch(uri, changed, request)),
    listen(listener) {
      const ends = servers.map(({ service }) => service.listen(listener));
      return () => ends.forEach((end) => void end());
    },
    notified(method, client) {
      for (const { service } of servers) service.notified?.(method, client);
    },
  };
}

const uriOf = ({ params }: ClientRequest) => String(params.uri);
const sending = (request: ClientRequest) => (part: Part) => send(part, request);

/** A list of all servers in one page. */
async function joined(parts: readonly Part[], key: string, request: ClientRequest) {
  refuseCursor(request.params.cursor);
  const lists = await Promise.all(
    parts.map(async ({ service }) => {
      const result = await service.methods.get(request.method)?.(request);
      const list: unknown = isObject(result) ? result[key] : undefined;
      return Array.isArray(list) ? list : [];
    }),
  );
  return { [key]: lists.flat() };
}

async function listTools(parts: readonly Part[], findsTools: boolean, request: ClientRequest) {
  const listed = parts.filter(({ isListed }) => isListed);
  const tools: ListedTool[] = (await joined(listed, "tools", request)).tools ?? [];
  if (findsTools) tools.push(CALL_TOOL);
  return { tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** @param log of `call_tool`; undefined without it. */
function callTool(
  parts: readonly Part[],
  log: Log | undefined,
  request: ClientRequest,
): ReturnType<Handler> {
  if (log !== undefined && request.params.name === CALL_TOOL.name) {
    const params = innerCall(request.params);
    if (ofTool(parts, params.name) === undefined)
      return noTool(toolNames(parts), params.name, request, log);
    // From here on, also for its questions, its task and the audit log, it is a call of that tool.
    request.params = params;
  }
  const name = String(request.params.name);
  const part = ofTool(parts, name);
  if (part === undefined) throw unknownName("tool", name, toolNames(parts));
  return send(part, request);
}

function toolNames(parts: readonly Part[]): string[] {
  return parts.flatMap(({ tools }) => tools.map(({ name }) => name));
}

/** The server of a tool, by any of its names, or of the answer to a confirmation card (MCP Apps). */
function ofTool(parts: readonly Part[], name: string): Part | undefined {
  return parts.find(
    (part) => part.service.tool(name) !== undefined || name === `${nameOf(part)}_confirm`,
  );
}

/** @throws ProtocolError -32602 for an unknown name. */
function ofPrompt(parts: readonly Part[], name: unknown): Part {
  const names = ({ prompts }: Part) => prompts.map((prompt) => prompt.name);
  const part = parts.find((one) => names(one).includes(String(name)));
  if (part === undefined) throw unknownName("prompt", String(name), parts.flatMap(names));
  return part;
}

/** The server of what `completion/complete` refers to. @throws ProtocolError -32602 */
function ofReference(parts: readonly Part[], { params }: ClientRequest): Part {
  const { type, uri, name } = Object(params.ref);
  if (type !== "ref/resource") return ofPrompt(parts, name);
  const part = parts.find(({ resources }) =>
    resources.some(({ uriTemplate }) => uriTemplate === uri),
  );
  if (part === undefined)
    throw new ProtocolError(invalidParams(`Unknown resource template ${show(uri)}`));
  return part;
}

/** What any of the servers can do. */
function joinCapabilities(all: readonly ServerCapabilities[]): ServerCapabilities {
  const extensions = Object.assign({}, ...all.map((one) => one.extensions));
  const canWatch = all.some(({ resources }) => resources?.subscribe === true);
  return {
    ...Object.assign({}, ...all),
    resources: { listChanged: true, subscribe: canWatch },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}
