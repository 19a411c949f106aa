import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../protocol/errors.ts";
import type { Load } from "../../protocol/load.ts";
import { isRequest, show } from "../../protocol/messages.ts";
import type { Principal } from "../../protocol/request.ts";
import { LEGACY_VERSIONS } from "../../protocol/revisions.ts";
import type { Service } from "../../protocol/service.ts";
import { CODES, type Message } from "../../protocol/wire.ts";
import { type EventLimits, EventStores } from "./event-store.ts";
import { headerOf } from "./headers.ts";
import { type Answer, type Reply, refuse, rpcAnswer } from "./reply.ts";
import { HttpSession } from "./session.ts";

export interface SessionLimits extends EventLimits {
  readonly sessions: number;
  /** How long a session is kept without a request from its client, in milliseconds. */
  readonly idleMs: number;
}

/** A request of the legacy era. */
export interface LegacyRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: IncomingHttpHeaders;
  /** The messages of a POST. */
  readonly messages: readonly Message[];
  readonly bytes: number;
  readonly isBatch: boolean;
  readonly principal: Principal;
  readonly reply: Reply;
}

/** All sessions of legacy clients in this process. */
export class Sessions {
  readonly #service: Service;
  readonly #load: Load;
  readonly #limits: SessionLimits;
  readonly #stores: EventStores;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(service: Service, load: Load, limits: SessionLimits) {
    this.#service = service;
    this.#load = load;
    this.#limits = limits;
    this.#stores = new EventStores(limits);
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(60_000, limits.idleMs));
    this.#sweeper.unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Characters of messages that are kept for resumption. */
  get kept(): number {
    return this.#stores.size;
  }

  /** Serves a request through its reply, or returns an error response. */
  async serve(incoming: LegacyRequest): Promise<Answer | undefined> {
    const { method, headers, messages, bytes, isBatch, principal, reply } = incoming;
    const opens = messages.some((message) => "method" in message && message.method === "initialize");
    const id = headerOf(headers, "mcp-session-id");
    if (id === undefined && opens && !isBatch) return this.#open(incoming);
    if (id === undefined)
      return refuse(400, "The header Mcp-Session-Id is missing. Open a session with initialize first.");
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal.key !== principal.key) {
      const message = "Session not found. Open a new one with initialize.";
      return rpcAnswer(404, { code: CODES.sessionNotFound, message });
    }
    const problem = problemOf(session, incoming);
    if (problem !== undefined) return rpcAnswer(400, invalidRequest(problem), { revision: session.revision });
    const unacceptable = acceptProblem(method, headers);
    if (unacceptable !== undefined) return refuse(406, unacceptable);
    if (method === "DELETE") {
      await session.close();
      return { status: 200 };
    }
    if (method === "POST") {
      session.post(messages, bytes, reply);
      return undefined;
    }
    const resumed = headerOf(headers, "last-event-id");
    if (resumed !== undefined && session.store.after(resumed) === undefined) {
      return refuse(
        400,
        `The events after ${show(resumed)} are no longer available. Send the request again, or listen without Last-Event-ID.`,
      );
    }
    return session.listen(reply, principal, resumed);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  #open({ method, headers, messages, bytes, principal, reply }: LegacyRequest): Answer | undefined {
    const unacceptable = acceptProblem(method, headers);
    if (unacceptable !== undefined) return refuse(406, unacceptable);
    if (this.#sessions.size >= this.#limits.sessions && !this.#makeRoom(principal.key)) {
      const message = `All ${this.#limits.sessions} sessions are in use; try again later.`;
      return refuse(503, message, { "retry-after": "5" });
    }
    const store = this.#stores.open();
    const session = new HttpSession(this.#service, {
      load: this.#load,
      principal,
      store,
      closed: () => {
        this.#stores.close(store);
        this.#sessions.delete(session.id);
      },
    });
    this.#sessions.set(session.id, session);
    session.post(messages, bytes, reply);
    return undefined;
  }

  /**
   * Ends an idle session: the oldest of the caller with the most. A caller cannot displace one who has fewer.
   *
   * @returns whether there was one.
   */
  #makeRoom(newcomer: string): boolean {
    const counts = new Map<string, number>();
    for (const { principal } of this.#sessions.values())
      counts.set(principal.key, (counts.get(principal.key) ?? 0) + 1);
    const held = (owner: string) => counts.get(owner) ?? 0;
    const [found] = [...this.#sessions.values()]
      .filter(({ isIdle, principal }) => isIdle && held(principal.key) >= held(newcomer))
      .sort((a, b) => held(b.principal.key) - held(a.principal.key) || a.heard - b.heard);
    // Its slot is free at once.
    void found?.close();
    return found !== undefined;
  }

  #sweep(): void {
    const before = performance.now() - this.#limits.idleMs;
    for (const session of this.#sessions.values())
      if (session.isIdle && session.heard < before) void session.close();
  }
}

/** Checks the content types that a client must accept (MCP, "Streamable HTTP"). */
function acceptProblem(method: LegacyRequest["method"], headers: IncomingHttpHeaders): string | undefined {
  const accept = headerOf(headers, "accept") ?? "";
  const needed =
    method === "POST"
      ? ["application/json", "text/event-stream"]
      : method === "GET"
        ? ["text/event-stream"]
        : [];
  if (needed.every((type) => accept.includes(type))) return undefined;
  return `The Accept header must include ${needed.join(" and ")}.`;
}

function problemOf(session: HttpSession, { headers, messages, isBatch }: LegacyRequest): string | undefined {
  const named = headerOf(headers, "mcp-protocol-version");
  // Only unsupported versions are refused (2025-06-18, "Protocol Version Header"): some clients, including the official
  // suite, name an older revision than they negotiated.
  if (named !== undefined && !LEGACY_VERSIONS.includes(named))
    return `The MCP-Protocol-Version header is ${show(named)}, but this session negotiated ${session.revision?.version}.`;
  if (isBatch && session.revision?.batches !== true)
    return `Batches are not allowed in protocol version ${session.revision?.version}; send one message per request.`;
  const seen = new Set<unknown>();
  for (const message of messages) {
    if (!isRequest(message)) continue;
    if (message.method === "initialize")
      return isBatch
        ? "initialize must not be part of a batch."
        : "This session is already initialized. Open another one without the Mcp-Session-Id header.";
    if (session.isPending(message.id) || seen.has(message.id))
      return `The id ${show(message.id)} belongs to a request that is still pending.`;
    seen.add(message.id);
  }
  return undefined;
}
