import { randomUUID } from "node:crypto";
import { Connection } from "../../protocol/connection.ts";
import type { Load } from "../../protocol/load.ts";
import { isRequest } from "../../protocol/messages.ts";
import { type Outlet, outletTo, type Principal } from "../../protocol/request.ts";
import { agreedRevision, type Revision } from "../../protocol/revisions.ts";
import type { Service } from "../../protocol/service.ts";
import type { Message, RequestId } from "../../protocol/wire.ts";
import { whenExpired } from "./auth.ts";
import type { EventStore } from "./event-store.ts";
import { type Answer, type Reply, refuse } from "./reply.ts";

/** The stream that a client opens by GET, for messages that belong to no request. */
const STANDALONE = "standalone";

/** A session of a client of the legacy era: its connection, its streams, and its stored events. */
export class HttpSession {
  readonly id = randomUUID();
  /** Its owner; for other callers the session does not exist. */
  readonly principal: Principal;
  readonly store: EventStore;
  readonly #connection: Connection;
  readonly #closed: () => void;
  /** The streams that a reply is attached to. */
  readonly #attached = new Map<string, Reply>();
  /** The number of unanswered requests of each stream. */
  readonly #unanswered = new Map<string, number>();
  #responses = 0;
  /** The time of its client's last request, in milliseconds of `performance.now()`. */
  #heard = performance.now();

  constructor(
    service: Service,
    parts: { load: Load; principal: Principal; store: EventStore; closed: () => void },
  ) {
    const { load, principal, store, closed } = parts;
    this.principal = principal;
    this.store = store;
    this.#closed = closed;
    this.#connection = new Connection({
      service,
      load,
      principal,
      outlet: this.#outlet(STANDALONE),
      maxInFlight: Number.POSITIVE_INFINITY,
      dropped: (what) => service.log.debug(`Dropped ${what}.`),
    });
  }

  /** The negotiated revision; undefined before. */
  get revision(): Revision | undefined {
    return this.#connection.revision;
  }

  /** Whether its client neither waits for an answer nor listens. */
  get isIdle(): boolean {
    return this.#responses === 0 && this.#connection.isIdle;
  }

  get heard(): number {
    return this.#heard;
  }

  isPending(id: RequestId): boolean {
    return this.#connection.isPending(id);
  }

  /** Serves the checked messages of a POST; with a stream if they include requests. */
  post(messages: readonly Message[], size: number, reply: Reply): void {
    this.#hear(reply);
    const requests = messages.filter(isRequest);
    if (requests.length === 0) {
      for (const message of messages) this.#connection.accept(message, { outlet: NO_OUTLET, bytes: 0 });
      reply.send({ status: 202 });
      return;
    }
    const stream = randomUUID();
    this.#unanswered.set(stream, requests.length);
    this.#attach(stream, reply);
    const opening = requests.find(({ method }) => method === "initialize");
    const revision = opening === undefined ? this.revision : agreedRevision(opening.params?.protocolVersion);
    if (revision?.primingEvents === true) reply.event("", this.store.add(stream, ""));
    const outlet = this.#outlet(stream);
    const bytes = size / requests.length;
    for (const message of messages)
      this.#connection.accept(message, { outlet: isRequest(message) ? outlet : NO_OUTLET, bytes });
  }

  /** Opens the stream of a GET: for messages that belong to no request, or the rest of a lost stream. */
  listen(reply: Reply, principal: Principal, lastEventId: string | undefined): Answer | undefined {
    const resumed = lastEventId === undefined ? undefined : this.store.after(lastEventId);
    const stream = resumed?.stream ?? STANDALONE;
    if (this.#attached.has(stream))
      return refuse(409, "This stream is already open; a session has one of each kind.");
    this.#hear(reply);
    this.#attach(stream, reply);
    whenExpired(principal, reply, () => reply.end());
    for (const { id, json } of resumed?.events ?? []) reply.event(json, id);
    if (stream !== STANDALONE && !this.#unanswered.has(stream)) reply.end();
    return undefined;
  }

  #hear(reply: Reply): void {
    this.#heard = performance.now();
    this.#responses += 1;
    reply.whenClosed(() => {
      this.#responses -= 1;
      this.#heard = performance.now();
    });
  }

  #attach(stream: string, reply: Reply): void {
    reply.openStream({ "mcp-session-id": this.id });
    this.#attached.set(stream, reply);
    reply.whenClosed(() => {
      if (this.#attached.get(stream) === reply) this.#attached.delete(stream);
    });
  }

  /** Stores the events of a stream, so that a client that lost it can resume. */
  #outlet(stream: string): Outlet {
    const send = (json: string) => {
      const id = this.store.add(stream, json);
      this.#attached.get(stream)?.event(json, id);
    };
    const outlet = outletTo(send);
    return {
      ...outlet,
      answer: (json) => {
        outlet.answer(json);
        this.#answered(stream);
      },
    };
  }

  #answered(stream: string): void {
    const open = this.#unanswered.get(stream);
    if (open === undefined) return;
    if (open > 1) {
      this.#unanswered.set(stream, open - 1);
      return;
    }
    this.#unanswered.delete(stream);
    this.#attached.get(stream)?.end();
  }

  async close(): Promise<void> {
    this.#closed();
    await this.#connection.close();
    for (const reply of this.#attached.values()) reply.end();
  }
}

/** The outlet for messages that get no answer. */
const NO_OUTLET: Outlet = outletTo(() => undefined);
