import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Connection } from "../../protocol/connection.ts";
import { invalidRequest, parseError } from "../../protocol/errors.ts";
import type { Load } from "../../protocol/load.ts";
import { isRequest, parseMessage, readMessage, show } from "../../protocol/messages.ts";
import { requestProblem } from "../../protocol/params.ts";
import { missingScope, type Principal, type Service, sinkTo } from "../../protocol/request.ts";
import {
  headerMismatch,
  httpVersionProblem,
  isModern,
  MODERN_VERSIONS,
  REVISIONS,
  type Revision,
  revisionOf,
  sessionVersionProblem,
} from "../../protocol/revisions.ts";
import {
  CODES,
  type Era,
  META,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type RpcError,
} from "../../protocol/wire.ts";
import { type Authenticator, whenExpired } from "./auth.ts";
import {
  type Answer,
  type Body,
  headerOf,
  postSink,
  type Reply,
  readBody,
  refuse,
  rpcAnswer,
} from "./reply.ts";
import { requestsProblem, Sessions } from "./sessions.ts";
import type { HttpLimits } from "./settings.ts";

const MAX_BATCH = 100;

/** The endpoint `/mcp`: reads a request, determines its era, and does the checks that all messages share. */
export class Endpoint {
  /** Serves all clients of the modern era, whose requests are independent. */
  readonly #stateless: Connection;
  readonly sessions: Sessions;
  readonly #service: Service;
  readonly #stepUp: Authenticator["stepUp"];
  readonly #isStateless: boolean;
  readonly #load: Load;
  readonly #maxBytes: number;
  #reading = 0;

  /** @param isStateless whether legacy clients get no session either. */
  constructor(
    service: Service,
    parts: {
      readonly load: Load;
      readonly limits: HttpLimits;
      readonly maxBytes: number;
      readonly isStateless: boolean;
      readonly stepUp: Authenticator["stepUp"];
    },
  ) {
    const { load, limits, maxBytes, isStateless, stepUp } = parts;
    this.#service = service;
    this.#stepUp = stepUp;
    this.#isStateless = isStateless;
    this.#load = load;
    this.#maxBytes = maxBytes;
    this.#stateless = new Connection({ service, load, sink: sinkTo(() => undefined) });
    this.sessions = new Sessions(service, load, limits);
  }

  get isReading(): boolean {
    return this.#reading > 0;
  }

  /** Serves a request through its reply, or returns an error response. */
  async serve(
    node: IncomingMessage,
    reply: Reply,
    principal: Principal,
  ): Promise<Answer | undefined> {
    const { method, headers } = node;
    if (method === "POST") return this.#post(node, reply, principal);
    if (method !== "GET" && method !== "DELETE")
      return refuse(405, `${method} is not allowed here.`, { allow: "GET, POST, DELETE" });
    const version = headerOf(headers, "mcp-protocol-version");
    if (this.#isStateless)
      return refuse(
        405,
        `This server has no sessions and so no ${method}; send messages by POST.`,
        {
          allow: "POST",
        },
      );
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

  async #post(
    node: IncomingMessage,
    reply: Reply,
    principal: Principal,
  ): Promise<Answer | undefined> {
    const { headers } = node;
    const revision = REVISIONS.get(headerOf(headers, "mcp-protocol-version") ?? "");
    const refused = (error: RpcError, id?: RequestId) => rpcAnswer(400, error, { revision, id });
    const unsupported = mediaProblem(headers);
    if (unsupported !== undefined) return refuse(415, unsupported);
    this.#reading += 1;
    const body = await readBody(node, reply, { maxBytes: this.#maxBytes, load: this.#load });
    this.#reading -= 1;
    if (body.kind !== "text") return this.#unread(body);
    const parsed = parseMessage(body.text, "body");
    if ("error" in parsed) return refused(parsed.error, parsed.id);
    const isBatch = Array.isArray(parsed.value);
    const entries: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
    if (entries.length === 0 || entries.length > MAX_BATCH)
      return refused(
        invalidRequest(`A batch must have 1 to ${MAX_BATCH} messages, not ${entries.length}.`),
      );
    const messages: Message[] = [];
    for (const entry of entries) {
      const read = readMessage(entry);
      if (read.kind === "refused") return refused(read.error, read.id);
      if (read.kind === "dropped") return refused(invalidRequest(read.why));
      messages.push(read.message);
    }
    const [message] = messages;
    const { bytes } = body;
    if (!isBatch && message !== undefined && "method" in message) {
      const named = headerOf(headers, "mcp-protocol-version");
      if (isModern(message, named)) {
        const problem = httpVersionProblem(message, named) ?? headerProblem(headers, message);
        if (problem !== undefined)
          return refused(problem, "id" in message ? message.id : undefined);
        if (!("id" in message)) return { status: 202 };
        const answer = this.#refusal([message], "modern", principal);
        if (answer === undefined)
          this.#serveStateless([message], {
            revision: versionOf(message),
            bytes,
            reply,
            principal,
          });
        return answer;
      }
    }
    if (revision?.era === "modern")
      return refused(
        invalidRequest(
          isBatch
            ? `Batches are not allowed in protocol version ${revision.version}; send one message per request.`
            : `The server asks nothing in protocol version ${revision.version}, so no response is expected.`,
        ),
      );
    const refusal = this.#refusal(messages.filter(isRequest), "legacy", principal);
    if (refusal !== undefined) return refusal;
    if (!this.#isStateless)
      return this.sessions.serve({
        method: "POST",
        headers,
        messages,
        bytes,
        isBatch,
        principal,
        reply,
      });
    const spoken = revision ?? revisionOf(WITHOUT_HEADER);
    const problem =
      sessionVersionProblem(spoken, headerOf(headers, "mcp-protocol-version"), isBatch) ??
      requestsProblem(messages, isBatch);
    if (problem !== undefined) return rpcAnswer(400, invalidRequest(problem), { revision: spoken });
    this.#serveStateless(messages, { revision: spoken, bytes, reply, principal });
    return undefined;
  }

  #serveStateless(
    messages: readonly Message[],
    about: {
      readonly revision: Revision;
      readonly bytes: number;
      readonly reply: Reply;
      readonly principal: Principal;
    },
  ): void {
    const { revision, reply, principal } = about;
    const requests = messages.filter(isRequest);
    if (requests.length === 0) reply.send({ status: 202 });
    const sink = postSink(reply, requests.length, {
      statusOf: revision.era === "modern" ? statusOf : undefined,
      openStream: () => reply.openStream(),
    });
    const bytes = Math.ceil(about.bytes / requests.length);
    for (const message of requests) {
      const request = this.#stateless.acceptStateless(message, {
        revision,
        sink,
        bytes,
        principal,
      });
      reply.whenClosed(() => request.abort());
      if (request.isSubscription)
        whenExpired(principal, reply, () => this.#stateless.endStream(request));
    }
  }

  /** The refusal of requests with invalid parameters, or if too many are running. */
  #refusal(
    requests: readonly RequestMessage[],
    era: Era,
    principal: Principal,
  ): Answer | undefined {
    const { owner } = principal;
    for (const request of requests) {
      const problem = requestProblem(request, era);
      if (problem !== undefined) return rpcAnswer(400, problem, { id: request.id });
      const scope = missingScope(this.#service, principal, request);
      if (scope !== undefined) return this.#stepUp(scope, principal);
    }
    const count = requests.filter(({ method }) => method !== "subscriptions/listen").length;
    // Responses and cancellations are never refused, because running requests may be waiting for them.
    if (count > 0 && !this.#load.requests.hasRoom(owner, count))
      return busy(`${this.#load.requests.held(owner)} requests are pending; retry later.`);
    const seconds = this.#load.rates.retryAfter(owner, requests.length);
    if (seconds === 0) return undefined;
    return refuse(429, `Too many requests; retry after ${seconds} s.`, {
      "retry-after": String(seconds),
    });
  }

  #unread({ kind }: Exclude<Body, { kind: "text" }>): Answer | undefined {
    if (kind === "too-large")
      return refuse(413, `A message can have at most ${this.#maxBytes} bytes.`, {
        connection: "close",
      });
    if (kind === "too-many") return busy("Too many large messages at once; retry later.");
    return kind === "gone" ? undefined : rpcAnswer(400, parseError("The body is not valid UTF-8."));
  }
}

/** The version of a client that names none (MCP 2025-06-18, "Protocol Version Header"). */
const WITHOUT_HEADER = "2025-03-26";

/** The version of a modern message, which is already checked. */
const versionOf = ({ params }: RequestMessage): Revision =>
  revisionOf(String(params?._meta?.[META.version]));

/** Why a body cannot be read: only JSON in UTF-8, without compression. */
function mediaProblem(headers: IncomingHttpHeaders): string | undefined {
  const type = headerOf(headers, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return "Content-Type must be application/json.";
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    return `The charset must be utf-8, not ${show(charset)}.`;
  const encoding = headerOf(headers, "content-encoding") ?? "identity";
  return /^identity$/i.test(encoding)
    ? undefined
    : `The Content-Encoding ${show(encoding)} is not supported; send the body uncompressed.`;
}

function busy(message: string): Answer {
  return refuse(503, message, { "retry-after": "1" });
}

/** Most errors have status 200; these two have their own (MCP 2026-07-28, "Streamable HTTP"). */
function statusOf(error: RpcError | undefined): number {
  if (error?.code === CODES.methodNotFound) return 404;
  return error?.code === CODES.missingClientCapability ? 400 : 200;
}

/** The parameter that the header `Mcp-Name` repeats (MCP 2026-07-28, "Standard request headers"; SEP-2663). */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Whether `Mcp-Method` and `Mcp-Name` are missing or do not match the body of a modern message. */
function headerProblem(
  headers: IncomingHttpHeaders,
  message: RequestMessage | NotificationMessage,
): RpcError | undefined {
  const { method, params } = message;
  const named = headerOf(headers, "mcp-method");
  const body = `the body names method ${show(method)}`;
  if (named === undefined ? "id" in message : named !== method)
    return headerMismatch("Mcp-Method", named, body);
  const parameter = NAMED_BY.get(method);
  if (parameter === undefined || !("id" in message)) return undefined;
  const value = params?.[parameter];
  const given = headerOf(headers, "mcp-name");
  const has = `the body has params.${parameter} = ${show(value)}`;
  if (given === undefined)
    return typeof value === "string" ? headerMismatch("Mcp-Name", given, has) : undefined;
  const name = decoded(given);
  if (name === undefined)
    return headerMismatch("Mcp-Name", given, "its Base64 encoding is invalid");
  return typeof value === "string" && name !== value
    ? headerMismatch("Mcp-Name", given, has)
    : undefined;
}

/** Decodes a header's value, which is written as `=?base64?…?=` if it has non-ASCII characters. */
function decoded(value: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/s.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === base64.replace(/=+$/, "")
    ? bytes.toString("utf8")
    : undefined;
}
