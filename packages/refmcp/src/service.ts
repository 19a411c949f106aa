import { cursorsOf } from "@refmcp/boundary/answer";
import type { ListedResource, Service } from "@refmcp/core";
import {
  type Awaitable,
  type ClientRequest,
  type Handler,
  invalidParams,
  isObject,
  type ListedTool,
  type Outline,
  ProtocolError,
  type Runtime,
  refuseCursor,
  resourceNotFound,
  type ServerCapabilities,
  show,
  unknownName,
} from "@refmcp/core/run";

/** One of the servers of this process, or the program's own tools. */
export interface Part {
  readonly name: string;
  readonly runtime: Pick<Runtime<never, never>, "tools"> & {
    readonly definition: Outline;
    /** Undefined until its first call. */
    readonly openContext: unknown;
  };
  readonly service: Service;
  /** Whether its tools are listed; otherwise only find_tools finds them. */
  readonly isListed: boolean;
}

/** Runs any tool by its name. A call of it becomes a call of that tool, so it has no code. */
const CALL_TOOL: ListedTool = {
  name: "call_tool",
  title: "Call a tool",
  description:
    "Run a tool that find_tools found, by its name. The answer is the tool's own: text, structured content or an error. Tools that are in your list can be called directly.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The tool's name." },
      arguments: { type: "object", description: "Its arguments, as its inputSchema says." },
    },
    required: ["name"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
};

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
    ["tools/call", (request) => callTool(parts, findsTools, request)],
    ["resources/list", (request) => listResources(servers, request)],
    ["resources/templates/list", (request) => joined(parts, "resourceTemplates", request)],
    [
      "resources/read",
      (request) => ofResource(servers, String(request.params.uri), (part) => send(part, request)),
    ],
    ["prompts/list", (request) => joined(parts, "prompts", request)],
    ["prompts/get", (request) => send(ofPrompt(parts, request.params.name), request)],
    ["completion/complete", (request) => send(ofReference(parts, request), request)],
  ]);
  return {
    ...program.service,
    identity: { ...program.service.identity, name: "refmcp" },
    instructions: findsTools
      ? `${program.service.instructions}\nServers: ${servers.map(({ name }) => name).join(", ")}.`
      : servers.map(({ name, service }) => `# ${name}\n${service.instructions}`).join("\n\n"),
    methods,
    capabilities: (era, declared) =>
      joinCapabilities(parts.map(({ service }) => service.capabilities(era, declared))),
    tool: (name) =>
      findsTools && name === CALL_TOOL.name
        ? { name, effect: "destroy" }
        : ofTool(parts, name)?.service.tool(name),
    // A server that has not been used opens at its first call.
    async ready(signal) {
      await Promise.all(servers.filter(isOpen).map(({ service }) => service.ready(signal)));
    },
    watch: (uri, changed, request) =>
      ofResource(servers, uri, ({ service }) => service.watch(uri, changed, request)),
    listen(listener) {
      const ends = servers.map(({ service }) => service.listen(listener));
      return () => ends.forEach((end) => void end());
    },
    onNotification(method, client) {
      for (const { service } of servers) service.onNotification?.(method, client);
    },
  };
}

const isOpen = ({ runtime }: Part) => runtime.openContext !== undefined;

/** Handles a request by one of the servers. @throws ProtocolError -32602 if it has nothing of that kind. */
function send({ service }: Part, request: ClientRequest): ReturnType<Handler> {
  const handler = service.methods.get(request.method);
  if (handler === undefined) throw resourceNotFound(String(request.params.uri));
  return handler(request);
}

/** A list of all servers in one page. */
async function joined(parts: readonly Part[], key: string, request: ClientRequest) {
  refuseCursor(request.params.cursor);
  const lists = await Promise.all(
    parts.map(async ({ service }) => {
      const handler = service.methods.get(request.method);
      return Object(await handler?.(request))[key] ?? [];
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

function callTool(
  parts: readonly Part[],
  findsTools: boolean,
  request: ClientRequest,
): ReturnType<Handler> {
  const { params } = request;
  const isInner = findsTools && params.name === CALL_TOOL.name;
  const { name: tool = "", arguments: values = {}, ...others } = Object(params.arguments);
  // From here on, also for its questions, its task and the audit log, it is a call of that tool. All else in `params` is the
  // client's: a model that could set it would answer the user's questions itself.
  if (isInner) request.params = { ...params, name: tool, arguments: values };
  const extra = isInner ? Object.keys(others)[0] : undefined;
  const name = String(request.params.name);
  const part = ofTool(parts, name);
  if (part !== undefined && extra === undefined) return send(part, request);
  const names = parts.flatMap(({ runtime }) => runtime.tools.map((tool) => tool.name));
  const error = unknownName("tool", name, names);
  const text =
    extra === undefined ? error.rpc.message : `call_tool has no argument ${show(extra)}.`;
  if (!isInner) throw error;
  return { content: [{ type: "text", text }], isError: true };
}

/** The server of a tool, by any of its names, or of the answer to a confirmation card (MCP Apps). */
function ofTool(parts: readonly Part[], asked: string): Part | undefined {
  return parts.find(
    ({ name, service }) => service.tool(asked) !== undefined || asked === `${name}_confirm`,
  );
}

/** @throws ProtocolError -32602 for an unknown name. */
function ofPrompt(parts: readonly Part[], asked: unknown): Part {
  const names = ({ runtime }: Part) => runtime.definition.prompts.map(({ name }) => name);
  const part = parts.find((candidate) => names(candidate).includes(String(asked)));
  if (part === undefined) throw unknownName("prompt", String(asked), parts.flatMap(names));
  return part;
}

/** The server of what `completion/complete` refers to. @throws ProtocolError -32602 */
function ofReference(parts: readonly Part[], { params }: ClientRequest): Part {
  const { type, uri, name } = Object(params.ref);
  if (type !== "ref/resource") return ofPrompt(parts, name);
  const part = parts.find(({ runtime }) =>
    runtime.definition.resources.some(({ uriTemplate }) => uriTemplate === uri),
  );
  if (part === undefined)
    throw new ProtocolError(invalidParams(`Unknown resource template ${show(uri)}`));
  return part;
}

/**
 * The result of the first server that has a resource; several may have a template that fits, such as `schema://…`. Those
 * that are open already are asked first.
 *
 * @throws the error of a server that has it; ProtocolError -32602 if none has.
 */
async function ofResource<Result>(
  parts: readonly Part[],
  uri: string,
  ask: (part: Part) => Awaitable<Result | undefined>,
): Promise<Result> {
  let error: unknown = resourceNotFound(uri);
  for (const part of parts.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)))) {
    try {
      const result = await ask(part);
      if (result !== undefined) return result;
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) error = thrown;
    }
  }
  throw error;
}

/** The servers with more pages of resources, and the cursor of each. */
const pages = cursorsOf<Readonly<Record<string, string>>>("resources/list", [], {
  safeParse: (value) => {
    const isPages =
      isObject(value) && Object.values(value).every((cursor) => typeof cursor === "string");
    return isPages ? { success: true, data: Object(value) } : { success: false };
  },
});

/** The resources of all servers. One that has not been used lists only those with a fixed URI. */
async function listResources(servers: readonly Part[], request: ClientRequest): Promise<object> {
  const { cursor, ...params } = request.params;
  const rest = pages.decode(typeof cursor === "string" ? cursor : undefined);
  const resources: ListedResource[] = [];
  const next: Record<string, string> = {};
  for (const part of servers) {
    const from = rest?.[part.name];
    if (rest !== undefined && from === undefined) continue;
    request.params = { ...params, ...(from === undefined ? {} : { cursor: from }) };
    const page = await resourcesOf(part, request);
    resources.push(...(page.resources ?? []));
    if (page.nextCursor !== undefined) next[part.name] = page.nextCursor;
  }
  const hasMore = Object.keys(next).length > 0;
  return { resources, ...(hasMore ? { nextCursor: pages.encode(next) } : {}) };
}

async function resourcesOf(
  part: Part,
  request: ClientRequest,
): Promise<{ resources?: ListedResource[]; nextCursor?: string }> {
  try {
    if (isOpen(part)) return Object(await send(part, request));
  } catch {
    // A server that fails must not hide the resources of the others.
  }
  const { resources } = part.runtime.definition;
  return {
    resources: resources.flatMap(({ uri, name, title, description, mimeType }) =>
      uri === undefined ? [] : { uri, name, title, description, mimeType },
    ),
  };
}

/** What any of the servers can do. */
function joinCapabilities(all: readonly ServerCapabilities[]): ServerCapabilities {
  const extensions = Object.assign({}, ...all.map((server) => server.extensions));
  const subscribe = all.some(({ resources }) => resources?.subscribe === true);
  return {
    ...Object.assign({}, ...all),
    resources: { listChanged: true, subscribe },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}
