import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Caller, type Principal, type Send } from "../../engine/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { isObject } from "../../engine/message.ts";
import { isModern, MODERN_VERSIONS, sessionProblem } from "../../engine/revision.ts";
import { CODES, type RpcError } from "../../engine/wire.ts";
import { type Authenticator, whenExpired } from "./auth.ts";
import { readBody } from "./body.ts";
import { type Answer, errorAnswer, headerOf, type Reply, refuse } from "./reply.ts";
import { createSessions, Session } from "./sessions.ts";
import type { HttpLimits, HttpSettings } from "./settings.ts";

type Options = Pick<HttpSettings, "isStateless"> & Pick<Authenticator, "stepUp">;

/** The endpoint `/mcp`: finds out who sends a message, and lets the engine serve it. */
export function createEndpoint(engine: Engine, limits: HttpLimits, options: Options) {
  const { isStateless, stepUp } = options;
  const sessions = createSessions(engine, limits);

  /** Serves a request through its reply, or returns the response. */
  async function serve(node: IncomingMessage, reply: Reply, principal: Principal) {
    if (node.method === "POST") return post(node, reply, principal);
    if (node.method === "GET" || node.method === "DELETE")
      return withoutMessage(node, reply, principal);
    return refuse(405, `${node.method} is not allowed here.`, { allow: "GET, POST, DELETE" });
  }

  /** GET opens a stream of a session; DELETE ends the session. */
  async function withoutMessage(node: IncomingMessage, reply: Reply, principal: Principal) {
    const { method, headers } = node;
    const version = headerOf(headers, "mcp-protocol-version");
    if (isStateless || MODERN_VERSIONS.some((modern) => modern === version)) {
      const message = `There are no sessions and so no ${method}; send messages by POST.`;
      return refuse(405, message, { allow: "POST" });
    }
    const id = headerOf(headers, "mcp-session-id");
    if (id === undefined)
      return refuse(400, "The header Mcp-Session-Id is missing. Begin with initialize.");
    const session = sessions.find(id, principal);
    if (!(session instanceof Session)) return session;
    const problem = sessionProblem(session.caller, { version });
    if (problem !== undefined) return errorAnswer(400, problem);
    if (method === "DELETE") {
      await sessions.end(session);
      return { status: 200 };
    }
    const refusal = acceptProblem(headers, ["text/event-stream"]);
    if (refusal === undefined) session.listen(reply);
    return refusal;
  }

  async function post(node: IncomingMessage, reply: Reply, principal: Principal) {
    const { headers } = node;
    const body = await readBody(node, reply, engine.load, limits.messageBytes, principal);
    if (body === undefined || "status" in body) return body;
    const http = {
      version: headerOf(headers, "mcp-protocol-version"),
      method: headerOf(headers, "mcp-method"),
      name: headerOf(headers, "mcp-name"),
    };
    const isSessionless = isStateless || isModern(body.value, http);
    const session = isSessionless ? undefined : sessionOf(body.value, headers, principal);
    if (session !== undefined && "status" in session) return session;
    session?.countRequest(reply);
    const caller = session?.caller ?? new Caller({ principal });
    const send: Send = (json, kind, problem) => {
      const isLast = kind === "answer" || kind === "refusal";
      // A session whose initialize is refused ends at once.
      const extra = caller.revision === undefined ? {} : session?.headers;
      if (isLast && !reply.isStream)
        return reply.send(answerOf(caller, json, kind, problem), extra);
      reply.openStream(extra);
      if (json !== undefined) reply.event(json);
      if (isLast) reply.end();
    };
    engine.serve(body.value, caller, send, { bytes: body.bytes, http });
    if (session !== undefined && caller.revision === undefined) await sessions.end(session);
    if (session !== undefined || caller.running === 0) return undefined;
    reply.whenClosed(() => void engine.close(caller, null));
    // A stream could outlive its token.
    if (caller.unanswered === 0) whenExpired(caller, reply, () => void engine.close(caller));
    return undefined;
  }

  /**
   * The session of a message, a new one for `initialize`, or a response. Undefined for clients that drop their session's
   * id: their messages are independent.
   */
  function sessionOf(value: unknown, headers: IncomingHttpHeaders, principal: Principal) {
    const id = headerOf(headers, "mcp-session-id");
    const opens = isObject(value) && value.method === "initialize";
    if (id === undefined && !opens) return undefined;
    const refusal = acceptProblem(headers, ["application/json", "text/event-stream"]);
    if (refusal !== undefined) return refusal;
    return id === undefined ? sessions.open(principal) : sessions.find(id, principal);
  }

  /** An answer or refusal as a response. */
  function answerOf({ principal, send }: Caller, ...sendArguments: Parameters<Send>): Answer {
    const [body, kind, problem] = sendArguments;
    if (problem?.scope !== undefined && principal !== undefined)
      return stepUp(problem.scope, principal);
    if (body === undefined)
      return problem === undefined || problem.reason === "unmatched"
        ? { status: 202 }
        : errorAnswer(400, problem.error);
    const headers = { "content-type": "application/json" };
    if (problem?.reason === "rate")
      return { status: 429, headers: { ...headers, "retry-after": "60" }, body };
    if (problem?.reason === "busy")
      return { status: 503, headers: { ...headers, "retry-after": "1" }, body };
    const status = kind === "refusal" ? 400 : send === undefined ? statusOf(problem?.error) : 200;
    return { status, headers, body };
  }

  async function close() {
    await sessions.close();
    await engine.closeAll();
  }

  return { serve, close };
}

/** Most errors have status 200; these two have their own (MCP 2026-07-28, "Streamable HTTP"). */
function statusOf(error: RpcError | undefined): number {
  if (error?.code === CODES.methodNotFound) return 404;
  return error?.code === CODES.missingClientCapability ? 400 : 200;
}

/** A response if the client does not accept what it may be sent (MCP, "Streamable HTTP"). */
function acceptProblem(headers: IncomingHttpHeaders, requiredTypes: readonly string[]) {
  const accept = (headerOf(headers, "accept") ?? "*/*").toLowerCase();
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]?.trim());
  const isAccepted = (type: string) =>
    ["*/*", `${type.split("/", 1)[0]}/*`, type].some((range) => ranges.includes(range));
  if (requiredTypes.every(isAccepted)) return undefined;
  return refuse(406, `The Accept header must include ${requiredTypes.join(" and ")}.`);
}
