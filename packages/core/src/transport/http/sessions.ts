import { randomUUID } from "node:crypto";
import { Caller, type Principal, type Send } from "../../engine/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { Limit } from "../../engine/load.ts";
import { show } from "../../engine/message.ts";
import { CODES } from "../../engine/wire.ts";
import { whenExpired } from "./auth.ts";
import { type Answer, type EventStream, errorAnswer, type Reply, refuse } from "./reply.ts";
import type { HttpLimits } from "./settings.ts";

/** The sessions of clients with a handshake, in this process. */
export class Sessions {
  readonly #engine: Engine;
  readonly #limits: HttpLimits;
  readonly #sessions = new Map<string, Session>();
  readonly #slots: Limit;
  readonly #sweeper: NodeJS.Timeout;
  /** Characters of messages that are kept for resumption. */
  readonly #stored: Limit;

  constructor(engine: Engine, limits: HttpLimits) {
    this.#engine = engine;
    this.#limits = limits;
    this.#slots = engine.load.limit(limits.sessions);
    this.#stored = new Limit(limits.total);
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(60_000, limits.idleMs));
    this.#sweeper.unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  get stored(): number {
    return this.#stored.used;
  }

  /** The session with an id, or a response: it ended, never existed, or belongs to another caller. */
  find(id: string, { key }: Principal): Session | Answer {
    const session = this.#sessions.get(id);
    if (session?.caller.principal?.key === key) return session;
    const message = "Session not found. Open a new one with initialize.";
    return errorAnswer(404, { code: CODES.sessionNotFound, message });
  }

  /** A new session, for an `initialize` that is still to be served, or a response if there is no room for it. */
  open(principal: Principal): Session | Answer {
    const { owner } = principal;
    if (!this.#slots.hasRoom(1, owner)) this.#makeRoom(owner);
    if (!this.#slots.take(owner)) {
      const message = `All ${this.#slots.each} sessions of a caller are in use; try again later.`;
      return refuse(503, message, { "retry-after": "5" });
    }
    const session = new Session(principal, new EventStore(this.#stored));
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Its slot is free at once. */
  async end(session: Session): Promise<void> {
    if (this.#sessions.delete(session.id)) this.#slots.count(-1, session.caller.owner);
    await this.#engine.close(session.caller);
    session.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => this.end(session)));
  }

  /** Ends the oldest idle session: of the caller if it has as many as it may, otherwise of anyone. */
  #makeRoom(owner: string): void {
    const isOwn = this.#slots.usedBy(owner) >= this.#slots.each;
    const [oldest] = [...this.#sessions.values()]
      .filter(({ isIdle, caller }) => isIdle && (!isOwn || caller.owner === owner))
      .sort((a, b) => a.heard - b.heard);
    if (oldest !== undefined) void this.end(oldest);
  }

  #sweep(): void {
    const before = performance.now() - this.#limits.idleMs;
    for (const session of this.#sessions.values())
      if (session.isIdle && session.heard < before) void this.end(session);
  }
}

/** The stream that a client opens by GET, for messages that belong to no request. */
const STANDALONE = "standalone";

/** A session: its caller, its streams, and the events that its client can resume. */
export class Session {
  readonly id = randomUUID();
  readonly headers = { "mcp-session-id": this.id };
  readonly caller: Caller;
  readonly #events: EventStore;
  readonly #attached = new Map<string, Reply>();
  /** Messages of no request that are kept until the client listens, which most never do; each once. */
  readonly #unheard = new Set<string>();
  /** The streams with an answer still to come. */
  readonly #unfinished = new Set<string>();
  #responses = 0;
  /** The time of its client's last request, in milliseconds of `performance.now()`. */
  heard = performance.now();

  constructor(principal: Principal, events: EventStore) {
    this.#events = events;
    this.caller = new Caller({ principal, send: this.#announce });
  }

  /** Whether its client neither waits for an answer nor listens. */
  get isIdle(): boolean {
    return this.#responses === 0 && this.caller.unanswered === 0;
  }

  /** Counts a request of its client, until its response has ended. */
  hear(reply: Reply): void {
    this.heard = performance.now();
    this.#responses += 1;
    reply.whenClosed(() => {
      this.#responses -= 1;
      this.heard = performance.now();
    });
  }

  /** Opens a stream for the answer to a POST, which the client can resume if the connection is lost. */
  openStream(reply: Reply): EventStream {
    const stream = randomUUID();
    this.#unfinished.add(stream);
    this.#attach(stream, reply);
    // An event without data, from which the stream can be resumed before its first message.
    if (this.caller.revision?.primingEvents === true) reply.event("", this.#events.add(stream, ""));
    return {
      event: (json) => this.#send(stream, json),
      end: () => {
        this.#unfinished.delete(stream);
        this.#attached.get(stream)?.end();
      },
    };
  }

  /** Opens the stream of a GET: for messages that belong to no request, or the rest of a lost stream. */
  listen(reply: Reply, principal: Principal, lastEventId: string | undefined): Answer | undefined {
    const rest = lastEventId === undefined ? undefined : this.#events.after(lastEventId);
    if (lastEventId !== undefined && rest === undefined)
      return refuse(
        400,
        `The events after ${show(lastEventId)} are no longer available. Send the request again, or listen without Last-Event-ID.`,
      );
    const stream = rest?.stream ?? STANDALONE;
    if (this.#attached.has(stream))
      return refuse(409, "This stream is already open; a session has one of each kind.");
    this.hear(reply);
    this.#attach(stream, reply);
    whenExpired(principal, reply, () => reply.end());
    for (const { id, json } of rest?.events ?? []) reply.event(json, id);
    if (stream !== STANDALONE && !this.#unfinished.has(stream)) reply.end();
    return undefined;
  }

  #attach(stream: string, reply: Reply): void {
    reply.openStream(this.headers);
    this.#attached.set(stream, reply);
    reply.whenClosed(() => {
      if (this.#attached.get(stream) === reply) this.#attached.delete(stream);
    });
  }

  /** Sends a message that belongs to no request. */
  readonly #announce: Send = (json = "") => {
    if (this.#attached.has(STANDALONE)) this.#unheard.clear();
    else if (this.#unheard.has(json)) return;
    else this.#unheard.add(json);
    this.#send(STANDALONE, json);
  };

  /** Sends an event, and keeps it for a client that lost the stream. */
  #send(stream: string, json: string): void {
    const id = this.#events.add(stream, json);
    this.#attached.get(stream)?.event(json, id);
  }

  close(): void {
    for (const reply of this.#attached.values()) reply.end();
    this.#events.clear();
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
 * and only if no later event of the session is missing.
 */
class EventStore {
  /** Characters of all sessions. */
  readonly #characters: Limit;
  readonly #events: StoredEvent[] = [];
  #next = 1;

  constructor(characters: Limit) {
    this.#characters = characters;
  }

  /** Keeps an event of a stream. @returns its id. */
  add(stream: string, json: string): string {
    const number = this.#next++;
    const id = `${number}_${stream}`;
    this.#events.push({ id, number, stream, json });
    this.#characters.count(json.length + OVERHEAD);
    while (this.#events.length > MAX_EVENTS || !this.#characters.hasRoom(0))
      if (!this.#dropOldest()) break;
    return id;
  }

  /** The stream of an event and the events after it; undefined if some are no longer stored. */
  after(
    id: string,
  ): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined {
    const [, digits, stream] = /^(\d{1,15})_(.+)$/.exec(id) ?? [];
    const number = Number(digits);
    const oldest = this.#events[0]?.number ?? this.#next;
    if (stream === undefined || number >= this.#next || number + 1 < oldest) return undefined;
    const events = this.#events.filter(
      (event) => event.stream === stream && event.number > number && event.json !== "",
    );
    return { stream, events };
  }

  clear(): void {
    while (this.#dropOldest());
  }

  #dropOldest(): boolean {
    const event = this.#events.shift();
    if (event !== undefined) this.#characters.count(-event.json.length - OVERHEAD);
    return event !== undefined;
  }
}
