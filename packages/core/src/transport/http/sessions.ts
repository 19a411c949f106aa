import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Connection } from "../../protocol/connection.ts";
import { invalidRequest } from "../../protocol/errors.ts";
import { Amount, type Load, type Slots } from "../../protocol/load.ts";
import { isRequest, show } from "../../protocol/messages.ts";
import { type Principal, type Service, type Sink, sinkTo } from "../../protocol/request.ts";
import { sessionVersionProblem } from "../../protocol/revisions.ts";
import { CODES, type Message, type RequestId } from "../../protocol/wire.ts";
import { whenExpired } from "./auth.ts";
import { type Answer, headerOf, postSink, type Reply, refuse, rpcAnswer } from "./reply.ts";
import type { HttpLimits } from "./settings.ts";

/** A request of the legacy era. */
export interface LegacyRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: IncomingHttpHeaders;
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
  readonly #limits: HttpLimits;
  readonly #sessions = new Map<string, Session>();
  readonly #slots: Slots;
  readonly #sweeper: NodeJS.Timeout;
  /** Characters of messages that are kept for resumption. */
  readonly #kept: Amount;

  constructor(service: Service, load: Load, limits: HttpLimits) {
    this.#service = service;
    this.#load = load;
    this.#limits = limits;
    this.#slots = load.slots(limits.sessions);
    this.#kept = new Amount(limits.total);
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(60_000, limits.idleMs));
    this.#sweeper.unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  get kept(): number {
    return this.#kept.taken;
  }

  /** Serves a request through its reply, or returns an error response. */
  async serve(incoming: LegacyRequest): Promise<Answer | undefined> {
    const { method, headers, messages, bytes, isBatch, principal, reply } = incoming;
    const opens = messages.some(
      (message) => "method" in message && message.method === "initialize",
    );
    const id = headerOf(headers, "mcp-session-id");
    if (id === undefined && opens && !isBatch) return this.#open(incoming);
    if (id === undefined)
      return refuse(
        400,
        "The header Mcp-Session-Id is missing. Open a session with initialize first.",
      );
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal.key !== principal.key) {
      const message = "Session not found. Open a new one with initialize.";
      return rpcAnswer(404, { code: CODES.sessionNotFound, message });
    }
    const problem = problemOf(session, incoming);
    if (problem !== undefined)
      return rpcAnswer(400, invalidRequest(problem), { revision: session.connection.revision });
    const unacceptable = acceptProblem(method, headers);
    if (unacceptable !== undefined) return refuse(406, unacceptable);
    if (method === "GET")
      return session.listen(reply, principal, headerOf(headers, "last-event-id"));
    if (method === "POST") session.post(messages, bytes, reply);
    else await this.#end(session);
    return method === "POST" ? undefined : { status: 200 };
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => this.#end(session)));
  }

  #open({ method, headers, messages, bytes, principal, reply }: LegacyRequest): Answer | undefined {
    const unacceptable = acceptProblem(method, headers);
    if (unacceptable !== undefined) return refuse(406, unacceptable);
    if (!this.#slots.hasRoom(principal.owner)) this.#makeRoom(principal.owner);
    if (!this.#slots.take(principal.owner)) {
      const message = `All ${this.#slots.each} sessions of a caller are in use; try again later.`;
      return refuse(503, message, { "retry-after": "5" });
    }
    const events = new EventStore(this.#kept);
    const session = new Session(this.#service, this.#load, principal, events);
    this.#sessions.set(session.id, session);
    session.post(messages, bytes, reply);
    return undefined;
  }

  /** Its slot is free at once. */
  #end(session: Session): Promise<void> {
    if (this.#sessions.delete(session.id)) this.#slots.count(session.principal.owner, -1);
    return session.close();
  }

  /** Ends the oldest idle session: of the caller if it has as many as it may, otherwise of anyone. */
  #makeRoom(owner: string): void {
    const isOwn = this.#slots.held(owner) >= this.#slots.each;
    const [oldest] = [...this.#sessions.values()]
      .filter(({ isIdle, principal }) => isIdle && (!isOwn || principal.owner === owner))
      .sort((a, b) => a.heard - b.heard);
    if (oldest !== undefined) void this.#end(oldest);
  }

  #sweep(): void {
    const before = performance.now() - this.#limits.idleMs;
    for (const session of this.#sessions.values())
      if (session.isIdle && session.heard < before) void this.#end(session);
  }
}

/** Checks the content types that a client must accept (MCP, "Streamable HTTP"). */
function acceptProblem(
  method: LegacyRequest["method"],
  headers: IncomingHttpHeaders,
): string | undefined {
  const accept = headerOf(headers, "accept") ?? "";
  const needed = {
    POST: ["application/json", "text/event-stream"],
    GET: ["text/event-stream"],
    DELETE: [],
  };
  if (needed[method].every((type) => accept.includes(type))) return undefined;
  return `The Accept header must include ${needed[method].join(" and ")}.`;
}

function problemOf(
  session: Session,
  { headers, messages, isBatch }: LegacyRequest,
): string | undefined {
  const named = headerOf(headers, "mcp-protocol-version");
  const problem = sessionVersionProblem(session.connection.revision, named, isBatch);
  if (problem !== undefined) return problem;
  if (!isBatch && messages.some((message) => isRequest(message) && message.method === "initialize"))
    return "This session is already initialized. Open another one without the Mcp-Session-Id header.";
  return requestsProblem(messages, isBatch, (id) => session.connection.isPending(id));
}

/** Why the requests of a body cannot be served together. */
export function requestsProblem(
  messages: readonly Message[],
  isBatch: boolean,
  isPending: (id: RequestId) => boolean = () => false,
): string | undefined {
  const seen = new Set<unknown>();
  for (const message of messages) {
    if (!isRequest(message)) continue;
    if (isBatch && message.method === "initialize")
      return "initialize must not be part of a batch.";
    if (isPending(message.id) || seen.has(message.id))
      return `The id ${show(message.id)} belongs to a request that is still pending.`;
    seen.add(message.id);
  }
  return undefined;
}

/** The stream that a client opens by GET, for messages that belong to no request. */
const STANDALONE = "standalone";

const NO_SINK: Sink = sinkTo(() => undefined);

/** A session of a client of the legacy era: its connection, its streams, and the events that it can resume. */
class Session {
  readonly id = randomUUID();
  /** Its owner; for other callers the session does not exist. */
  readonly principal: Principal;
  readonly events: EventStore;
  readonly connection: Connection;
  readonly #attached = new Map<string, Reply>();
  /** Messages of no request that are kept until the client listens; each once. */
  readonly #unheard = new Set<string>();
  /** The streams with answers still to come. */
  readonly #unfinished = new Set<string>();
  #responses = 0;
  /** The time of its client's last request, in milliseconds of `performance.now()`. */
  heard = performance.now();

  constructor(service: Service, load: Load, principal: Principal, events: EventStore) {
    this.principal = principal;
    this.events = events;
    this.connection = new Connection({
      service,
      load,
      principal,
      sink: sinkTo((json) => this.#announce(json)),
      maxInFlight: Number.POSITIVE_INFINITY,
    });
  }

  /** Whether its client neither waits for an answer nor listens. */
  get isIdle(): boolean {
    return this.#responses === 0 && this.connection.isIdle;
  }

  post(messages: readonly Message[], bytes: number, reply: Reply): void {
    this.#hear(reply);
    const answers = messages.filter(isRequest).length;
    const sink = postSink(reply, answers, {
      headers: { "mcp-session-id": this.id },
      openStream: () => this.#openStream(reply),
    });
    for (const message of messages)
      this.connection.accept(
        message,
        isRequest(message) ? sink : NO_SINK,
        Math.ceil(bytes / answers),
      );
    if (answers === 0) reply.send({ status: 202 });
  }

  #openStream(reply: Reply) {
    const stream = randomUUID();
    this.#unfinished.add(stream);
    this.#attach(stream, reply);
    if (this.connection.revision?.primingEvents === true)
      reply.event("", this.events.add(stream, ""));
    return {
      event: (json: string) => this.#send(stream, json),
      end: () => {
        this.#unfinished.delete(stream);
        this.#attached.get(stream)?.end();
      },
    };
  }

  /** Opens the stream of a GET: for messages that belong to no request, or the rest of a lost stream. */
  listen(reply: Reply, principal: Principal, lastEventId: string | undefined): Answer | undefined {
    const resumed = lastEventId === undefined ? undefined : this.events.after(lastEventId);
    if (lastEventId !== undefined && resumed === undefined)
      return refuse(
        400,
        `The events after ${show(lastEventId)} are no longer available. Send the request again, or listen without Last-Event-ID.`,
      );
    const stream = resumed?.stream ?? STANDALONE;
    if (this.#attached.has(stream))
      return refuse(409, "This stream is already open; a session has one of each kind.");
    this.#hear(reply);
    this.#attach(stream, reply);
    whenExpired(principal, reply, () => reply.end());
    for (const { id, json } of resumed?.events ?? []) reply.event(json, id);
    if (stream !== STANDALONE && !this.#unfinished.has(stream)) reply.end();
    return undefined;
  }

  #hear(reply: Reply): void {
    this.heard = performance.now();
    this.#responses += 1;
    reply.whenClosed(() => {
      this.#responses -= 1;
      this.heard = performance.now();
    });
  }

  #attach(stream: string, reply: Reply): void {
    reply.openStream({ "mcp-session-id": this.id });
    this.#attached.set(stream, reply);
    reply.whenClosed(() => {
      if (this.#attached.get(stream) === reply) this.#attached.delete(stream);
    });
  }

  /** Sends a message that belongs to no request. Most clients never listen for them. */
  #announce(json: string): void {
    if (this.#attached.has(STANDALONE)) this.#unheard.clear();
    else if (this.#unheard.has(json)) return;
    else this.#unheard.add(json);
    this.#send(STANDALONE, json);
  }

  /** Sends an event, and keeps it for a client that lost the stream. */
  #send(stream: string, json: string): void {
    const id = this.events.add(stream, json);
    this.#attached.get(stream)?.event(json, id);
  }

  async close(): Promise<void> {
    await this.connection.close();
    for (const reply of this.#attached.values()) reply.end();
    this.events.clear();
  }
}

/** An event of a stream: JSON text, or "" if it only marks the beginning of the stream. */
interface StoredEvent {
  readonly id: string;
  readonly number: number;
  readonly stream: string;
  readonly json: string;
}

/** The characters that a message counts in addition to its text. */
const OVERHEAD = 200;
/** How many events of a session can be resumed. */
const MAX_EVENTS = 100;

/**
 * The latest events of one session. An event id contains its stream, so a client resumes only the stream that it lost,
 * and only if no later event is missing.
 */
class EventStore {
  /** Characters of all sessions. */
  readonly #characters: Amount;
  #kept: StoredEvent[] = [];
  #next = 1;
  /** The newest dropped event of the stream without requests, which lives as long as the session. */
  #droppedStandalone = 0;

  constructor(characters: Amount) {
    this.#characters = characters;
  }

  /** Keeps an event of a stream. @returns its id. */
  add(stream: string, json: string): string {
    const number = this.#next++;
    const id = `${number}_${stream}`;
    this.#kept.push({ id, number, stream, json });
    this.#characters.count(json.length + OVERHEAD);
    while (this.#kept.length > MAX_EVENTS || !this.#characters.hasRoom(0))
      if (!this.#dropOldest()) break;
    return id;
  }

  /** The stream of an event and the events after it; undefined if some are no longer stored. */
  after(
    id: string,
  ): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined {
    const [, digits, stream] = /^(\d{1,15})_(.+)$/.exec(id) ?? [];
    const number = Number(digits);
    if (stream === undefined || number >= this.#next) return undefined;
    const isWhole =
      stream === STANDALONE
        ? number >= this.#droppedStandalone
        : this.#kept.some((event) => event.id === id);
    if (!isWhole) return undefined;
    const events = this.#kept.filter(
      (event) => event.stream === stream && event.number > number && event.json !== "",
    );
    return { stream, events };
  }

  clear(): void {
    while (this.#dropOldest());
  }

  #dropOldest(): boolean {
    const event = this.#kept.shift();
    if (event === undefined) return false;
    this.#characters.count(-event.json.length - OVERHEAD);
    if (event.stream === STANDALONE) this.#droppedStandalone = event.number;
    return true;
  }
}
