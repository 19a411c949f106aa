import { type JSONRPCMessage, specTypeSchemas } from "@modelcontextprotocol/server";
import type { Runtime } from "../../bind/runtime.ts";
import type { Binding } from "../../bind/server.ts";
import type { OptionTable } from "../../define/options.ts";
import { invalidParams, invalidRequest, show } from "../jsonrpc.ts";
import type { Principal } from "./auth.ts";
import { rpcResponse } from "./errors.ts";
import { type EventLimits, EventStores } from "./event-store.ts";
import { HttpSession } from "./session.ts";

export interface SessionLimits extends EventLimits {
  readonly sessions: number;
  /** How long a session is kept without a word of its client, in milliseconds. */
  readonly idleMs: number;
}

/** A legacy request as it came. */
export interface LegacyRequest {
  readonly request: Request;
  /** The messages of a POST. */
  readonly messages: readonly JSONRPCMessage[];
  readonly isBatch: boolean;
  readonly principal: Principal;
  readonly whenClosed: (work: () => void) => void;
}

/** JSON-RPC code of the SDKs for an unknown session, and for a transport's refusal. */
const NO_SESSION = -32_001;
const REFUSED = -32_000;

/** What a session can have negotiated. */
const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** All sessions of legacy clients in this process. */
export class Sessions<Context> {
  readonly #runtime: Runtime<Context, OptionTable>;
  readonly #binding: Binding<Context>;
  readonly #limits: SessionLimits;
  readonly #stores: EventStores;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(runtime: Runtime<Context, OptionTable>, binding: Binding<Context>, limits: SessionLimits) {
    this.#runtime = runtime;
    this.#binding = binding;
    this.#limits = limits;
    this.#stores = new EventStores(limits);
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(60_000, limits.idleMs));
    this.#sweeper.unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Requests of all sessions that are unanswered and whose stream is gone. */
  get unattended(): number {
    let count = 0;
    for (const session of this.#sessions.values()) count += session.unattended;
    return count;
  }

  /** Characters of messages that are kept for resumption. */
  get kept(): number {
    return this.#stores.size;
  }

  async serve(incoming: LegacyRequest): Promise<Response> {
    const { request, messages, isBatch, principal, whenClosed } = incoming;
    const opens = messages.some((message) => "method" in message && message.method === "initialize");
    const id = request.headers.get("mcp-session-id");
    if (id === null && opens && !isBatch) return this.#open(incoming);
    if (id === null)
      return refuse(400, "The header Mcp-Session-Id is missing. Open a session with initialize first.");
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== principal.key) {
      const error = { code: NO_SESSION, message: "Session not found. Open a new one with initialize." };
      return rpcResponse(404, error);
    }
    const problem = problemOf(session, incoming);
    if (problem !== undefined) return rpcResponse(400, invalidRequest(problem), undefined, session.version);
    // An answer that nobody waits for is dropped: the SDK would take "1" for 1.
    const kept = messages.filter((message) => "method" in message || isAwaited(session, message));
    if (request.method === "POST" && kept.length === 0) return new Response(null, { status: 202 });
    const resumed = request.headers.get("last-event-id");
    if (request.method === "GET" && resumed !== null && !session.store.canResume(resumed)) {
      return refuse(
        400,
        `What came after the event ${show(resumed)} is no longer kept. Send the request again, or listen without Last-Event-ID.`,
      );
    }
    return session.serve(request, isBatch ? kept : kept[0], principal, whenClosed);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => session.close().catch(() => undefined)));
  }

  async #open({ request, messages, principal, whenClosed }: LegacyRequest): Promise<Response> {
    const problem = await openingProblem(messages[0]);
    if (problem !== undefined) return problem;
    if (this.#sessions.size >= this.#limits.sessions && !(await this.#makeRoom(principal.key))) {
      return rpcResponse(
        503,
        { code: REFUSED, message: `All ${this.#limits.sessions} sessions are in use; try again later.` },
        undefined,
        undefined,
        { "retry-after": "5" },
      );
    }
    const store = this.#stores.open();
    let opened: string | undefined;
    const session: HttpSession = await HttpSession.open(this.#runtime, this.#binding, {
      owner: principal.key,
      store,
      events: {
        opened: (id) => {
          opened = id;
          this.#sessions.set(id, session);
        },
        closed: () => {
          this.#stores.close(store);
          if (opened !== undefined) this.#sessions.delete(opened);
        },
      },
    });
    const response = await session.serve(request, messages[0], principal, whenClosed);
    if (opened === undefined) await session.close();
    return response;
  }

  /**
   * Ends an idle session: the oldest of the caller who has most. Nobody pushes out a caller who has fewer.
   *
   * @returns whether there was one.
   */
  async #makeRoom(newcomer: string): Promise<boolean> {
    const counts = new Map<string, number>();
    for (const { owner } of this.#sessions.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    const held = (owner: string) => counts.get(owner) ?? 0;
    const [found] = [...this.#sessions.values()]
      .filter(({ isIdle, owner }) => isIdle && held(owner) >= held(newcomer))
      .sort((a, b) => held(b.owner) - held(a.owner) || a.heard - b.heard);
    await found?.close();
    return found !== undefined;
  }

  #sweep(): void {
    const before = performance.now() - this.#limits.idleMs;
    for (const session of this.#sessions.values())
      if (session.isIdle && session.heard < before) void session.close().catch(() => undefined);
  }
}

/** What the SDK's transport would only answer with "Server not initialized" to. */
async function openingProblem(message: JSONRPCMessage | undefined): Promise<Response | undefined> {
  const { issues } = await specTypeSchemas.InitializeRequest["~standard"].validate(message);
  if (issues === undefined) return undefined;
  const problems = issues.slice(0, 5).map(({ path = [], message: why }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part));
    return `${place.join(".")}: ${why}`;
  });
  const id = message !== undefined && "method" in message && "id" in message ? message.id : undefined;
  return rpcResponse(400, invalidParams(`initialize: ${problems.join("; ")}.`), id);
}

function problemOf(session: HttpSession, { request, messages, isBatch }: LegacyRequest): string | undefined {
  const named = request.headers.get("mcp-protocol-version");
  // Only what no session speaks is refused (2025-06-18, "Protocol Version Header"): clients are known that name an older
  // revision than the one they negotiated, and the official suite is one of them.
  if (named !== null && !LEGACY_REVISIONS.includes(named))
    return `The header MCP-Protocol-Version says ${show(named)}, but this session negotiated ${session.version}.`;
  if (isBatch && session.version !== "2025-03-26")
    return `Batches are not allowed in protocol version ${session.version}; send one message per request.`;
  const seen = new Set<unknown>();
  for (const message of messages) {
    if (!("method" in message && "id" in message)) continue;
    if (isBatch && message.method === "initialize") return "initialize must not be part of a batch.";
    if (session.isPending(message.id) || seen.has(message.id))
      return `The id ${show(message.id)} belongs to a request that is not answered yet.`;
    seen.add(message.id);
  }
  return undefined;
}

function isAwaited(session: HttpSession, message: JSONRPCMessage): boolean {
  return !("method" in message) && message.id !== undefined && session.isAsking(message.id);
}

function refuse(status: number, message: string): Response {
  return rpcResponse(status, { code: REFUSED, message });
}
