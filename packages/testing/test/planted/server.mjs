// A small good MCP server, in both eras, over stdio or with `--http` over Streamable HTTP. `node server.mjs RULE` plants the
// defect that this rule of the judge must find.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [defect = "none", ...flags] = process.argv.slice(2);
/** @param {string} rule */
const has = (rule) => defect === rule;
const LEGACY = ["2025-06-18", "2025-11-25"];
const MODERN = "2026-07-28";
const INFO = { name: "planted", version: "1.0.0" };
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** @typedef {Record<string, any>} Json */

class Failure extends Error {
  /** @param {number} code @param {string} message @param {Json} [data] */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const READ = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const NOTE = {
  type: "object",
  properties: { text: { type: "string" }, words: { type: "integer", minimum: 0 } },
  required: ["text", "words"],
  additionalProperties: false,
};

/** @param {Json} properties @param {string[]} required */
const input = (properties, required) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const id = { type: "string", description: "The id of a note, for example n1.", examples: ["n1"] };
const tags = {
  type: "array",
  items: { type: "string" },
  maxItems: 10,
  description: 'Tags, for example ["home"].',
};

/** @type {Json[]} */
const tools = [
  {
    name: "read_note",
    title: "Read a note",
    description: "Read the text of a note and count its words.",
    annotations: READ,
    inputSchema: input({ id }, ["id"]),
    outputSchema: NOTE,
  },
  {
    name: "tag_note",
    title: "Tag a note",
    description: "Add tags to a note.",
    annotations: { ...READ, readOnlyHint: false },
    inputSchema: input({ tags, id }, ["tags", "id"]),
  },
];
const [first = {}, second = {}] = tools;
/** @type {Record<string, () => void>} */
const PLANTED_IN_TOOLS = {
  "tool-name": () => (first.name = "read note!"),
  "tool-host-name": () => (first.name = "read_note_".repeat(5)),
  "tool-duplicate": () => tools.push({ ...first }),
  "tool-title": () => delete first.title,
  "tool-description": () => delete first.description,
  "tool-description-long": () => (first.description = "Read a note. ".repeat(200)),
  "tool-description-same": () => (second.description = first.description),
  "tool-argument": () => (first.inputSchema = input({ id: { type: "string" } }, ["id"])),
  "tool-schema": () => (first.inputSchema = {}),
  "tool-portable": () =>
    (first.inputSchema = { ...first.inputSchema, anyOf: [{ required: ["id"] }] }),
  "tool-keyword": () =>
    (first.inputSchema = { ...first.inputSchema, not: { required: ["other"] } }),
  "tool-bounds": () =>
    (second.inputSchema = input({ tags: { ...tags, maxItems: undefined }, id }, ["tags", "id"])),
  "tool-wording": () => (first.description = "IMPORTANT: read a note."),
  "tool-tokens": () =>
    (first.inputSchema = { ...first.inputSchema, description: "A note. ".repeat(2_000) }),
  "hint-missing": () => delete second.annotations,
  "hint-contradiction": () => (first.annotations = { ...READ, destructiveHint: true }),
  "hint-name": () => (first.name = "delete_note"),
  "list-shape": () => delete second.inputSchema,
};
PLANTED_IN_TOOLS[defect]?.();

/** What is wrong with the arguments, in a sentence. @param {Json} schema @param {Json} args */
function problemOf(schema, args) {
  const { properties = {}, required = [] } = schema;
  const expected = Object.keys(properties).join(", ");
  for (const name of required)
    if (!(name in args)) return `The argument ${name} is missing. Expected arguments: ${expected}.`;
  for (const [name, value] of Object.entries(args)) {
    const { type, maxItems = 10 } = properties[name] ?? {};
    if (type === undefined && has("input-unknown")) continue;
    if (type === undefined)
      return `There is no argument ${name.slice(0, 50)}. Expected arguments: ${expected}.`;
    if (type === "string" && typeof value !== "string")
      return `The argument ${name} must be a text, for example "n1".`;
    if (type !== "array") continue;
    const isTags =
      Array.isArray(value) &&
      value.length <= maxItems &&
      value.every((one) => typeof one === "string");
    if (!isTags)
      return `The argument ${name} must be a list of at most ${maxItems} texts, for example ["home"].`;
  }
  return undefined;
}

/** @param {Json} params */
async function call({ name, arguments: args = {} }) {
  if (typeof name !== "string") {
    if (has("request-malformed")) return { content: [] };
    throw new Failure(-32602, "The name of the tool must be a text.");
  }
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    if (has("request-unknown-tool")) return { content: [] };
    throw new Failure(-32602, `There is no tool ${name.slice(0, 50)}.`);
  }
  const size =
    JSON.stringify(Object.keys(args)).length + (Array.isArray(args.tags) ? args.tags.length : 0);
  if (size > 10_000) await strain(args);
  const problem = has("input-unchecked") ? undefined : problemOf(tool.inputSchema ?? {}, args);
  if (problem !== undefined) {
    if (has("error-kind")) throw new Failure(-32602, problem);
    return { content: [{ type: "text", text: worded(problem) }], isError: true };
  }
  if (has("answer-fails"))
    return { content: [{ type: "text", text: "The note n1 does not exist." }], isError: true };
  if (has("hint-changes")) appendFileSync(flags[0] ?? "", "x");
  if (tool.outputSchema === undefined) return { content: [{ type: "text", text: "Added." }] };
  const note = { text: has("answer-large") ? "word ".repeat(30_000) : "two words", words: 2 };
  return {
    content: has("answer-text")
      ? []
      : [
          has("answer-shape")
            ? { type: "image", data: "?" }
            : { type: "text", text: JSON.stringify(note) },
        ],
    structuredContent: has("answer-output") ? { ...note, words: "two" } : note,
  };
}

/** @param {string} problem */
function worded(problem) {
  if (has("error-unhelpful")) return "undefined";
  if (has("error-argument")) return "One of the values is not as expected.";
  if (has("error-leak")) return `${problem}\n    at call (file:///srv/planted/server.mjs:10:5)`;
  return problem;
}

/** @type {Buffer[]} */
const kept = [];

/** What a server does that checks too much. @param {Json} args */
async function strain(args) {
  if (has("hostile-crash")) process.exit(1);
  if (has("hostile-hang")) await new Promise(() => undefined);
  // A second of processor time, in microseconds.
  for (
    const start = process.cpuUsage();
    has("hostile-blocked") && process.cpuUsage(start).user < 1_000_000;
  );
  if (has("hostile-memory")) kept.push(Buffer.alloc(150_000_000, 1));
  if (has("hostile-answer"))
    throw new Failure(
      -32602,
      `These arguments are wrong: ${JSON.stringify(args).slice(0, 100_000)}`,
    );
}

let lists = 0;
/** @param {string} key @param {Json[]} items @param {Json} params */
function list(key, items, { cursor }) {
  if (key === "tools" && cursor === undefined) lists += 1;
  if (has("list-declared") && key === "prompts")
    throw new Failure(-32601, "There is no prompts/list.");
  if (has("list-pages")) return { [key]: items, nextCursor: "again" };
  if (cursor !== undefined && !has("list-cursor"))
    throw new Failure(-32602, "The cursor is unknown.");
  return { [key]: has("list-order") && lists % 2 === 0 ? [...items].reverse() : items };
}

const resources = [{ uri: "note://n1", name: "n1", description: "A note." }];
const prompts = [{ name: "summarize", description: "Summarize a note." }];
const capabilities = {
  ...(has("list-undeclared") ? {} : { resources: {} }),
  tools: {},
  prompts: {},
};

/** @type {Record<string, (params: Json) => unknown>} */
const METHODS = {
  "tools/list": (params) => list("tools", tools, params),
  "tools/call": call,
  "resources/list": (params) => list("resources", resources, params),
  "resources/templates/list": (params) => list("resourceTemplates", [], params),
  "resources/read"({ uri }) {
    if (uri === "note://n1") return { contents: [{ uri, text: "two words" }] };
    if (has("request-resource")) return { contents: [] };
    throw new Failure(has("modern-codes") ? -32002 : -32602, "There is no such resource.");
  },
  "prompts/list": (params) => list("prompts", prompts, params),
  "prompts/get"() {
    throw new Failure(has("request-prompt") ? -32603 : -32602, "There is no such prompt.");
  },
};

let isInitialized = !has("init-early");
/** @type {Record<string, (params: Json) => unknown>} */
const LEGACY_ONLY = {
  initialize({ protocolVersion }) {
    if (!isInitialized && wasEarly) throw new Failure(-32600, "The server is broken.");
    isInitialized = true;
    const known =
      LEGACY.includes(protocolVersion) || has("init-version") ? protocolVersion : LEGACY.at(-1);
    return { protocolVersion: known, capabilities, serverInfo: has("init-shape") ? {} : INFO };
  },
  ping() {
    if (has("rpc-ping")) throw new Failure(-32601, "There is no ping.");
    return {};
  },
};
let wasEarly = false;

/** @param {string} method @param {Json} params */
async function legacy(method, params) {
  wasEarly ||= !isInitialized && method !== "initialize";
  const handler = METHODS[method] ?? LEGACY_ONLY[method];
  if (handler !== undefined) return await handler(params);
  if (has("rpc-answers")) return await new Promise(() => undefined);
  throw new Failure(
    has("rpc-unknown-method") ? -32603 : -32601,
    `There is no method ${method.slice(0, 50)}.`,
  );
}

const CACHED = /\/list$|^server\/discover$|^resources\/read$/;
/** @param {string} method @param {Json} params */
async function modern(method, params) {
  const meta = params._meta;
  if (meta[VERSION_KEY] !== MODERN && !has("modern-version"))
    throw new Failure(-32022, "The revision is not supported.", {
      supported: [MODERN],
      requested: meta[VERSION_KEY],
    });
  if (meta[CAPABILITIES_KEY] === undefined && !has("modern-meta"))
    throw new Failure(-32602, `_meta has no ${CAPABILITIES_KEY}.`);
  if (has("modern-requests")) write({ jsonrpc: "2.0", id: "s1", method: "roots/list" });
  const discover = () => ({ supportedVersions: [MODERN], capabilities });
  const handler =
    method === "server/discover" && !has("modern-discover") ? discover : METHODS[method];
  if (handler === undefined)
    throw new Failure(-32601, `There is no method ${method.slice(0, 50)}.`);
  return {
    ...(has("modern-result-type") ? {} : { resultType: "complete" }),
    ...(CACHED.test(method) && !has("modern-caching") ? { ttlMs: 0, cacheScope: "private" } : {}),
    ...(has("modern-server-info") ? {} : { _meta: { "io.modelcontextprotocol/serverInfo": INFO } }),
    .../** @type {Json} */ (await handler(params)),
  };
}

/** The response to a message, if it has one. @param {Json} message @returns {Promise<Json | undefined>} */
async function respond(message) {
  const { id, method, params = {} } = message;
  if (typeof method !== "string")
    return has("rpc-invalid-request")
      ? undefined
      : { jsonrpc: "2.0", id, error: { code: -32600, message: "Not a request." } };
  if (id === undefined) {
    if (has("request-cancelled") && method === "notifications/cancelled") process.exit(1);
    return has("rpc-notification")
      ? { jsonrpc: "2.0", id: null, error: { code: -32601, message: method } }
      : undefined;
  }
  const shownId = has("rpc-id") && typeof id === "string" ? 99_999 : id;
  const envelope = has("rpc-envelope") ? {} : { jsonrpc: "2.0" };
  try {
    const isModern = params._meta?.[VERSION_KEY] !== undefined;
    const result = isModern ? await modern(method, params) : await legacy(method, params);
    return { ...envelope, id: shownId, result };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, data } = error;
    return {
      ...envelope,
      id: shownId,
      error: { code, message: error.message, ...(data !== undefined && { data }) },
    };
  }
}

/** @param {Json} message */
function write(message) {
  const text = JSON.stringify(message);
  process.stdout.write(
    has("stdout-utf8") ? Buffer.from(text.replace("planted", "plant\u00e9"), "latin1") : text,
  );
  process.stdout.write("\n");
}

/** @param {string} line */
async function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    if (has("process-crash")) process.exit(1);
    if (!has("rpc-parse-error"))
      write({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Not JSON." } });
    return;
  }
  if (has("stdout-endless") && message.method === "tools/list")
    process.stdout.write("x".repeat(70_000_000));
  const response = await respond(message);
  if (response !== undefined) write(response);
}

/** @param {import("node:http").IncomingMessage} request */
async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

/** The status and the body of an HTTP response. @param {import("node:http").IncomingMessage} request @returns {Promise<[number, Json?]>} */
async function answerHttp(request) {
  const { origin, "mcp-session-id": session, "mcp-protocol-version": version } = request.headers;
  if (origin !== undefined && !has("http-origin")) return [403];
  if (request.method === "GET") return [has("http-get") ? 200 : 405];
  if (request.method === "DELETE") {
    sessions.delete(String(session));
    return [204];
  }
  const message = JSON.parse(await bodyOf(request));
  const claim = message.params?._meta?.[VERSION_KEY];
  if (claim === undefined && message.method !== "initialize") {
    if (!sessions.has(String(session)) && !has("http-session")) return [404];
    if (version !== undefined && !LEGACY.includes(String(version)) && !has("http-version"))
      return [400];
  }
  const mismatch = claim !== undefined && version !== claim && !has("http-modern-status");
  if (mismatch)
    return [
      400,
      {
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32020, message: "The header does not match." },
      },
    ];
  const response = await respond(message);
  if (response === undefined) return has("http-notification") ? [200, {}] : [202];
  const isMissing =
    claim !== undefined && response.error?.code === -32601 && !has("http-modern-status");
  return [isMissing ? 404 : 200, response];
}

/** @type {Set<string>} */
const sessions = new Set();

if (flags.includes("--http")) {
  const server = createServer(async (request, response) => {
    const [status, body] = await answerHttp(request);
    const started = body?.result?.protocolVersion === undefined ? undefined : `s${sessions.size}`;
    if (started !== undefined) sessions.add(started);
    response.writeHead(status, {
      ...(body === undefined || has("http-answer-type")
        ? {}
        : { "content-type": "application/json" }),
      ...(started === undefined ? {} : { "mcp-session-id": started }),
    });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object")
      process.stdout.write(`http://127.0.0.1:${address?.port}/mcp\n`);
  });
} else {
  if (has("stdout-noise")) process.stdout.write("Server started\n");
  if (has("process-children")) spawn("sleep", ["60"], { stdio: "ignore", detached: true }).unref();
  if (has("process-stdin")) setInterval(() => undefined, 1_000);
  if (has("process-sigterm")) process.on("SIGTERM", () => undefined);
  const start = () => {
    const lines = createInterface({ input: process.stdin });
    lines.on("line", (line) => void take(line));
    if (has("process-exit-code")) lines.on("close", () => process.exit(3));
  };
  if (has("process-start")) setTimeout(start, 1_000);
  else start();
}
