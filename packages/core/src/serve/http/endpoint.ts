import type { IncomingMessage } from "node:http";
import {
  classifyInboundRequest,
  isJsonContentType,
  type JSONRPCMessage,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Runtime } from "../../bind/runtime.ts";
import { bind } from "../../bind/server.ts";
import type { OptionTable } from "../../define/options.ts";
import { withTrace } from "../../trace.ts";
import { MODERN_REVISIONS } from "../era-gate.ts";
import { invalidParams, invalidRequest, readMessage } from "../jsonrpc.ts";
import { dropNulls, paramProblem } from "../params.ts";
import type { Principal } from "./auth.ts";
import { type Body, BodyReader } from "./body.ts";
import { rpcResponse } from "./errors.ts";
import { ModernEndpoint } from "./modern.ts";
import { type SessionLimits, Sessions } from "./sessions.ts";

/** What a process bears. */
export interface EndpointLimits extends SessionLimits {
  /** Most requests that are unanswered at once, whether their clients still wait or not; streams that only listen do not count. */
  readonly inFlight: number;
}

/** A request of Node with what is known of it. */
export interface Incoming {
  readonly node: IncomingMessage;
  readonly request: Request;
  readonly principal: Principal;
  /** Takes what to do when the response is over, however it ends. */
  readonly whenClosed: (work: () => void) => void;
}

/** All bodies under way may take this many times the largest. */
const BODIES_AT_ONCE = 8;
const MOST_ENTRIES = 100;
const REFUSED = -32_000;

/** The endpoint `/mcp`: reads a request, settles its era, and lets through only what the SDK handles right. */
export class Endpoint<Context> {
  readonly #modern: ModernEndpoint<Context>;
  readonly #sessions: Sessions<Context>;
  readonly #bodies: BodyReader;
  readonly #limits: EndpointLimits;
  readonly #maxBytes: number;
  #attended = 0;
  #reading = 0;

  constructor(runtime: Runtime<Context, OptionTable>, limits: EndpointLimits) {
    const binding = bind(runtime);
    this.#limits = limits;
    this.#maxBytes = runtime.options.maxMessageBytes;
    this.#modern = new ModernEndpoint(runtime, binding);
    this.#sessions = new Sessions(runtime, binding, limits);
    this.#bodies = new BodyReader(this.#maxBytes, this.#maxBytes * BODIES_AT_ONCE);
  }

  /** Requests that are unanswered, also those whose client went away and may resume. */
  get inFlight(): number {
    return this.#attended + this.#sessions.unattended;
  }

  /** Whether nothing is being read or answered. */
  get isQuiet(): boolean {
    return this.#reading === 0 && this.inFlight === 0;
  }

  /** Characters of messages that are kept for clients that lost a stream. */
  get kept(): number {
    return this.#sessions.kept;
  }

  get sessions(): number {
    return this.#sessions.count;
  }

  async serve(incoming: Incoming): Promise<Response> {
    const { method } = incoming.request;
    if (method === "GET" || method === "DELETE") return this.#serveStream(incoming);
    if (method !== "POST") return notAllowed(`${method} is not allowed here.`, "GET, POST, DELETE");
    return this.#servePost(incoming);
  }

  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
  }

  #serveStream({ request, principal, whenClosed }: Incoming): Promise<Response> | Response {
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null && MODERN_REVISIONS.includes(version))
      return notAllowed(
        `Protocol version ${version} has no ${request.method}; send messages by POST.`,
        "POST",
      );
    return this.#sessions.serve({ request, messages: [], isBatch: false, principal, whenClosed });
  }

  async #servePost(incoming: Incoming): Promise<Response> {
    const { node, request, principal, whenClosed } = incoming;
    const version = request.headers.get("mcp-protocol-version") ?? undefined;
    if (!isJsonContentType(request.headers.get("content-type")))
      return rpcResponse(
        415,
        { code: REFUSED, message: "Content-Type must be application/json." },
        undefined,
        version,
      );
    this.#reading += 1;
    const body = await this.#bodies.read(node, whenClosed).finally(() => {
      this.#reading -= 1;
    });
    if (body.kind !== "text") return this.#unread(body, version);
    let value: unknown;
    try {
      value = JSON.parse(body.text);
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 200) : "?";
      return parseError(`The body is not JSON: ${why}.`, version);
    }
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (entries.length === 0 || entries.length > MOST_ENTRIES) {
      const size = `A batch must have from 1 to ${MOST_ENTRIES} messages, not ${entries.length}.`;
      return rpcResponse(400, invalidRequest(size), undefined, version);
    }
    const messages: JSONRPCMessage[] = [];
    for (const entry of entries) {
      const read = readMessage(entry);
      if (read.kind === "refused") return rpcResponse(400, read.error, read.id, version);
      if (read.kind === "dropped") return rpcResponse(400, invalidRequest(read.why), undefined, version);
      messages.push(read.message);
    }
    const [message] = messages;
    const isModern = !Array.isArray(value) && this.#isModern(request, message);
    const era = isModern ? "modern" : "legacy";
    for (const one of messages) {
      if (!("method" in one && "id" in one)) continue;
      dropNulls(one.method, one.params, era);
      const problem = paramProblem(one.method, one.params, era);
      if (problem !== undefined) return rpcResponse(400, invalidParams(problem), one.id, version);
    }
    // What answers or cancels is never refused for want of room: others may wait for it.
    const requests = messages.filter((one) => "method" in one && "id" in one);
    const onlyListens = isModern && message !== undefined && isListen(message);
    if (!onlyListens) {
      if (this.inFlight + requests.length > this.#limits.inFlight)
        return busy(`${this.inFlight} requests are unanswered; send this one again later.`);
      this.#attended += requests.length;
      whenClosed(() => {
        this.#attended -= requests.length;
      });
    }
    if (!isModern || message === undefined || !("method" in message)) {
      const isBatch = Array.isArray(value);
      const params = message !== undefined && "method" in message ? message.params : undefined;
      return withTrace(params, () =>
        this.#sessions.serve({ request, messages, isBatch, principal, whenClosed }),
      );
    }
    return withTrace(message.params, () => this.#modern.serve(request, message, principal, whenClosed));
  }

  /** Whether the modern path answers a message: also one that claims the modern era wrongly. */
  #isModern(request: Request, message: JSONRPCMessage | undefined): boolean {
    const { headers } = request;
    const header = (name: string) => headers.get(name) ?? undefined;
    const [version, method, name] = [
      header("mcp-protocol-version"),
      header("mcp-method"),
      header("mcp-name"),
    ];
    const outcome = classifyInboundRequest({
      httpMethod: "POST",
      body: message,
      ...(version === undefined ? {} : { protocolVersionHeader: version }),
      ...(method === undefined ? {} : { mcpMethodHeader: method }),
      ...(name === undefined ? {} : { mcpNameHeader: name }),
    });
    return outcome.kind !== "legacy";
  }

  #unread(body: Exclude<Body, { kind: "text" }>, version: string | undefined): Response {
    switch (body.kind) {
      case "too-large": {
        const message = `A message may have at most ${this.#maxBytes} bytes.`;
        return rpcResponse(413, { code: REFUSED, message }, undefined, version, { connection: "close" });
      }
      case "too-many":
        return busy("Too many large messages at once; send this one again later.");
      case "not-utf8":
        return parseError("The body is not valid UTF-8.", version);
      case "gone":
        return new Response(null, { status: 499 });
    }
  }
}

function isListen(message: JSONRPCMessage): boolean {
  return "method" in message && message.method === "subscriptions/listen";
}

function parseError(message: string, version: string | undefined): Response {
  return rpcResponse(400, { code: ProtocolErrorCode.ParseError, message }, undefined, version);
}

function notAllowed(message: string, allow: string): Response {
  return rpcResponse(405, { code: REFUSED, message }, undefined, undefined, { allow });
}

function busy(message: string): Response {
  return rpcResponse(503, { code: REFUSED, message }, undefined, undefined, { "retry-after": "1" });
}
