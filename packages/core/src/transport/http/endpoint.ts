import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Caller, type Principal, type Problem, type Send } from "../../engine/caller.ts";
import type { Engine, MessageFacts } from "../../engine/engine.ts";
import { parseError } from "../../engine/errors.ts";
import { isObject, parseMessage, show } from "../../engine/message.ts";
import { isModern, MODERN_VERSIONS, sessionProblem } from "../../engine/revision.ts";
import { CODES, type RpcError } from "../../engine/wire.ts";
import { type Authenticator, whenExpired } from "./auth.ts";
import {
  type Answer,
  errorAnswer,
  headerOf,
  postSend,
  type Reply,
  readBody,
  refuse,
} from "./reply.ts";
import { Session, Sessions } from "./sessions.ts";
import type { HttpLimits } from "./settings.ts";

interface EndpointOptions {
  readonly limits: HttpLimits;
  readonly maxBytes: number;
  /** Whether clients with a handshake get no session. */
  readonly isStateless: boolean;
  readonly stepUp: Authenticator["stepUp"];
}

const JSON_AND_STREAM = ["application/json", "text/event-stream"];

/** The endpoint `/mcp`: finds out who sends a message, and lets the engine serve it. */
export class Endpoint {
  readonly sessions: Sessions;
  readonly #engine: Engine;
  readonly #options: EndpointOptions;
  #reading = 0;

  constructor(engine: Engine, options: EndpointOptions) {
    this.#engine = engine;
    this.#options = options;
    this.sessions = new Sessions(engine, options.limits);
  }

  /** Whether it has begun to read a message that is not served yet. */
  get isReading(): boolean {
    return this.#reading > 0;
  }

  /** Serves a request through its reply, or returns the response. */
  async serve(
    node: IncomingMessage,
    reply: Reply,
    principal: Principal,
  ): Promise<Answer | undefined> {
    if (node.method === "POST") return this.#post(node, reply, principal);
    if (node.method === "GET" || node.method === "DELETE")
      return this.#withoutMessage(node, reply, principal);
    return refuse(405, `${node.method} is not allowed here.`, { allow: "GET, POST, DELETE" });
  }

  async close(): Promise<void> {
    await this.sessions.close();
    await this.#engine.closeAll();
  }

  /** GET opens a stream of a session; DELETE ends the session. */
  async #withoutMessage(
    { method, headers }: IncomingMessage,
    reply: Reply,
    principal: Principal,
  ): Promise<Answer | undefined> {
    const version = headerOf(headers, "mcp-protocol-version");
    const isModernClient = version !== undefined && MODERN_VERSIONS.includes(version);
    if (this.#options.isStateless || isModernClient) {
      const who = isModernClient ? `Protocol version ${version}` : "This server";
      const message = `${who} has no sessions and so no ${method}; send messages by POST.`;
      return refuse(405, message, { allow: "POST" });
    }
    const id = headerOf(headers, "mcp-session-id");
    if (id === undefined)
      return refuse(
        400,
        "The header Mcp-Session-Id is missing. Open a session with initialize first.",
      );
    const session = this.sessions.find(id, principal);
    if (!(session instanceof Session)) return session;
    const problem = sessionProblem(session.caller, { version });
    if (problem !== undefined) return errorAnswer(400, problem);
    if (method === "GET")
      return (
        acceptProblem(headers, ["text/event-stream"]) ??
        session.listen(reply, principal, headerOf(headers, "last-event-id"))
      );
    await this.sessions.end(session);
    return { status: 200 };
  }

  async #post(
    node: IncomingMessage,
    reply: Reply,
    principal: Principal,
  ): Promise<Answer | undefined> {
    const { headers } = node;
    const media = mediaProblem(headers);
    if (media !== undefined) return refuse(415, media);
    const body = await this.#read(node, reply);
    if (body === undefined || "status" in body) return body;
    const { value, bytes } = body;
    const http = {
      version: headerOf(headers, "mcp-protocol-version"),
      method: headerOf(headers, "mcp-method"),
      name: headerOf(headers, "mcp-name"),
    };
    const session = isModern(value, http) ? undefined : this.#session(value, headers, principal);
    if (session !== undefined && "status" in session) return session;
    if (session === undefined) this.#serveAlone(value, { bytes, http }, reply, principal);
    else await this.#serveInSession(value, { bytes, http }, reply, session);
    return undefined;
  }

  /** The value in a body, or a response; undefined if the client has gone. */
  async #read(
    node: IncomingMessage,
    reply: Reply,
  ): Promise<{ readonly value: unknown; readonly bytes: number } | Answer | undefined> {
    const { maxBytes } = this.#options;
    this.#reading += 1;
    const body = await readBody(node, reply, { maxBytes, load: this.#engine.load });
    this.#reading -= 1;
    switch (body.kind) {
      case "gone":
        return undefined;
      case "too-large": {
        const message = `A message can have at most ${maxBytes} bytes.`;
        return refuse(413, message, { connection: "close" });
      }
      case "too-many":
        return refuse(503, "Too many large messages at once; retry later.", { "retry-after": "1" });
      case "not-utf8":
        return errorAnswer(400, parseError("The body is not valid UTF-8."));
      case "text": {
        const parsed = parseMessage(body.text);
        return "error" in parsed
          ? errorAnswer(400, parsed.error)
          : { value: parsed.value, bytes: body.bytes };
      }
    }
  }

  /**
   * The session of a message, a new one for `initialize`, or a response. Undefined for an independent message: without
   * sessions, and for clients that drop their session's id.
   */
  #session(
    value: unknown,
    headers: IncomingHttpHeaders,
    principal: Principal,
  ): Session | Answer | undefined {
    if (this.#options.isStateless) return undefined;
    const id = headerOf(headers, "mcp-session-id");
    const opens = isObject(value) && value.method === "initialize";
    if (id === undefined && !opens) return undefined;
    const unacceptable = acceptProblem(headers, JSON_AND_STREAM);
    if (unacceptable !== undefined) return unacceptable;
    return id === undefined ? this.sessions.open(principal) : this.sessions.find(id, principal);
  }

  async #serveInSession(
    value: unknown,
    facts: MessageFacts,
    reply: Reply,
    session: Session,
  ): Promise<void> {
    const { caller } = session;
    session.hear(reply);
    const send = postSend(
      () => session.openStream(reply),
      (json, kind, problem) =>
        reply.send(
          this.#answerOf(json, kind, problem, caller),
          // A session whose initialize is refused ends at once.
          caller.revision === undefined ? {} : session.headers,
        ),
    );
    this.#engine.serve(value, caller, send, facts);
    if (caller.revision === undefined) await this.sessions.end(session);
  }

  #serveAlone(value: unknown, facts: MessageFacts, reply: Reply, principal: Principal): void {
    const caller = new Caller({ principal });
    const send = postSend(
      () => {
        reply.openStream();
        return reply;
      },
      (json, kind, problem) => reply.send(this.#answerOf(json, kind, problem, caller)),
    );
    this.#engine.serve(value, caller, send, facts);
    if (caller.running === 0) return;
    reply.whenClosed(() => void this.#engine.close(caller, null));
    // A stream could outlive its token.
    if (caller.unanswered === 0)
      whenExpired(principal, reply, () => void this.#engine.close(caller));
  }

  /** An answer or refusal as a response. */
  #answerOf(
    json: string | undefined,
    kind: Parameters<Send>[1],
    problem: Problem | undefined,
    { principal, send }: Caller,
  ): Answer {
    if (problem?.scope !== undefined && principal !== undefined)
      return this.#options.stepUp(problem.scope, principal);
    if (json === undefined)
      return problem === undefined || problem.reason === "unmatched"
        ? { status: 202 }
        : errorAnswer(400, problem.error);
    const type = { "content-type": "application/json" };
    if (problem?.reason === "rate")
      return {
        status: 429,
        headers: { ...type, "retry-after": String(problem.retryAfter) },
        body: json,
      };
    if (problem?.reason === "busy")
      return { status: 503, headers: { ...type, "retry-after": "1" }, body: json };
    const status = kind === "refusal" ? 400 : send === undefined ? statusOf(problem?.error) : 200;
    return { status, headers: type, body: json };
  }
}

/** Most errors have status 200; these two have their own (MCP 2026-07-28, "Streamable HTTP"). */
function statusOf(error: RpcError | undefined): number {
  if (error?.code === CODES.methodNotFound) return 404;
  return error?.code === CODES.missingClientCapability ? 400 : 200;
}

/** A response if the client does not accept what it may be sent (MCP, "Streamable HTTP"). */
function acceptProblem(
  headers: IncomingHttpHeaders,
  needed: readonly string[],
): Answer | undefined {
  const accept = (headerOf(headers, "accept") ?? "*/*").toLowerCase();
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]?.trim());
  const isAccepted = (type: string) =>
    ["*/*", `${type.split("/", 1)[0]}/*`, type].some((range) => ranges.includes(range));
  if (needed.every(isAccepted)) return undefined;
  return refuse(406, `The Accept header must include ${needed.join(" and ")}.`);
}

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
