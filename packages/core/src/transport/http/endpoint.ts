import type { IncomingMessage } from "node:http";
import { invalidRequest, parseError } from "../../protocol/errors.ts";
import type { Load } from "../../protocol/load.ts";
import { isRequest, readMessage } from "../../protocol/messages.ts";
import { requestProblem } from "../../protocol/params.ts";
import { parseMessage } from "../../protocol/parse.ts";
import type { Principal } from "../../protocol/request.ts";
import { MODERN_VERSIONS, REVISIONS } from "../../protocol/revisions.ts";
import type { Service } from "../../protocol/service.ts";
import type { Message, RequestMessage } from "../../protocol/wire.ts";
import { type Body, readBody } from "./body.ts";
import { headerOf, headerProblem, isModern } from "./headers.ts";
import { type Answer, type Reply, refuse, rpcAnswer } from "./reply.ts";
import { type SessionLimits, Sessions } from "./sessions.ts";
import { StatelessEndpoint } from "./stateless.ts";

const MAX_BATCH = 100;

/** The endpoint `/mcp`: reads a request, determines its era, and does the checks that all messages share. */
export class Endpoint {
  readonly #stateless: StatelessEndpoint;
  readonly sessions: Sessions;
  readonly #load: Load;
  readonly #maxBytes: number;
  #reading = 0;

  constructor(service: Service, load: Load, limits: SessionLimits, maxBytes: number) {
    this.#load = load;
    this.#maxBytes = maxBytes;
    this.#stateless = new StatelessEndpoint(service, load);
    this.sessions = new Sessions(service, load, limits);
  }

  /** Whether a message is being read. */
  get isReading(): boolean {
    return this.#reading > 0;
  }

  /** Serves a request through its reply, or returns an error response. */
  async serve(node: IncomingMessage, reply: Reply, principal: Principal): Promise<Answer | undefined> {
    const { method, headers } = node;
    if (method === "POST") return this.#post(node, reply, principal);
    if (method !== "GET" && method !== "DELETE")
      return refuse(405, `${method} is not allowed here.`, { allow: "GET, POST, DELETE" });
    const version = headerOf(headers, "mcp-protocol-version");
    if (version !== undefined && MODERN_VERSIONS.includes(version))
      return refuse(405, `Protocol version ${version} has no ${method}; send messages by POST.`, {
        allow: "POST",
      });
    const empty = { messages: [], bytes: 0, isBatch: false };
    return this.sessions.serve({ method, headers, ...empty, principal, reply });
  }

  async close(): Promise<void> {
    await Promise.all([this.#stateless.close(), this.sessions.close()]);
  }

  async #post(node: IncomingMessage, reply: Reply, principal: Principal): Promise<Answer | undefined> {
    const { headers } = node;
    const revision = REVISIONS.get(headerOf(headers, "mcp-protocol-version") ?? "");
    if (!/^application\/json\s*(?:;|$)/i.test(headerOf(headers, "content-type") ?? ""))
      return refuse(415, "Content-Type must be application/json.");
    this.#reading += 1;
    const body = await readBody(node, reply, { maxBytes: this.#maxBytes, load: this.#load });
    this.#reading -= 1;
    if (body.kind !== "text") return this.#unread(body);
    const parsed = parseMessage(body.text, "body");
    if ("error" in parsed)
      return rpcAnswer(400, parsed.error, {
        revision,
        ...(parsed.id === undefined ? {} : { id: parsed.id }),
      });
    const { value } = parsed;
    const isBatch = Array.isArray(value);
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (entries.length === 0 || entries.length > MAX_BATCH) {
      const size = `A batch must have 1 to ${MAX_BATCH} messages, not ${entries.length}.`;
      return rpcAnswer(400, invalidRequest(size), { revision });
    }
    const messages: Message[] = [];
    for (const entry of entries) {
      const read = readMessage(entry);
      if (read.kind === "refused")
        return rpcAnswer(400, read.error, { revision, ...(read.id === undefined ? {} : { id: read.id }) });
      if (read.kind === "dropped") return rpcAnswer(400, invalidRequest(read.why), { revision });
      messages.push(read.message);
    }
    const [message] = messages;
    if (!isBatch && message !== undefined && "method" in message && isModern(headers, message)) {
      const problem = headerProblem(headers, message);
      if (problem !== undefined)
        return rpcAnswer(400, problem, { revision, ...("id" in message ? { id: message.id } : {}) });
      if (!("id" in message)) return { status: 202 };
      const refused = this.#refusal([message], "modern");
      if (refused === undefined) this.#stateless.serve(message, body.bytes, reply, principal);
      return refused;
    }
    const { bytes } = body;
    return (
      this.#refusal(messages.filter(isRequest), "legacy") ??
      this.sessions.serve({ method: "POST", headers, messages, bytes, isBatch, principal, reply })
    );
  }

  /** The refusal of requests with invalid parameters, or if too many are running. */
  #refusal(requests: readonly RequestMessage[], era: "legacy" | "modern"): Answer | undefined {
    for (const request of requests) {
      const problem = requestProblem(request, era);
      if (problem !== undefined) return rpcAnswer(400, problem, { id: request.id });
    }
    const count = requests.filter(({ method }) => method !== "subscriptions/listen").length;
    // Responses and cancellations are never refused, because running requests may be waiting for them.
    if (count === 0 || this.#load.hasRoomFor(count)) return undefined;
    return busy(`${this.#load.requests} requests are pending; retry later.`);
  }

  #unread(body: Exclude<Body, { kind: "text" }>): Answer | undefined {
    switch (body.kind) {
      case "too-large":
        return refuse(413, `A message can have at most ${this.#maxBytes} bytes.`, { connection: "close" });
      case "too-many":
        return busy("Too many large messages at once; retry later.");
      case "not-utf8":
        return rpcAnswer(400, parseError("The body is not valid UTF-8."));
      case "gone":
        return undefined;
    }
  }
}

function busy(message: string): Answer {
  return refuse(503, message, { "retry-after": "1" });
}
