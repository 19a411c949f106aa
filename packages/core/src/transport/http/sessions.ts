import { randomUUID } from "node:crypto";
import { Caller, type Principal, type Send } from "../../engine/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { internalError } from "../../engine/errors.ts";
import { CODES } from "../../engine/wire.ts";
import { whenExpired } from "./auth.ts";
import { errorAnswer, type Reply, takeSlot } from "./reply.ts";
import type { HttpLimits } from "./settings.ts";

/** A session of a client with a handshake: its caller, and the stream that it opened by GET. */
export class Session {
  readonly id = randomUUID();
  readonly headers = { "mcp-session-id": this.id };
  readonly caller: Caller;
  /** For messages that belong to no request; without it, they are dropped. */
  #stream: Reply | undefined;
  #responses = 0;
  /** The time of its client's last request, in milliseconds of `performance.now()`. */
  lastRequestAt = performance.now();

  constructor(principal: Principal) {
    const send: Send = (json = "", kind) => {
      if (this.#stream !== undefined) this.#stream.event(json);
      else if (kind === "question") {
        const error = internalError("It has no stream open (GET) to be asked on.");
        this.caller.takeResponse({ jsonrpc: "2.0", id: JSON.parse(json).id, error });
      }
    };
    this.caller = new Caller({ principal, send });
  }

  /** Whether its client neither waits for an answer nor listens. */
  get isIdle(): boolean {
    return this.#responses === 0 && this.caller.unanswered === 0;
  }

  /** Counts a request of its client, until its response has ended. */
  countRequest(reply: Reply): void {
    this.lastRequestAt = performance.now();
    this.#responses += 1;
    reply.whenClosed(() => {
      this.#responses -= 1;
      this.lastRequestAt = performance.now();
    });
  }

  /** Opens the stream of a GET, in place of an earlier one. */
  listen(reply: Reply): void {
    this.countRequest(reply);
    this.close();
    this.#stream = reply;
    reply.openStream(this.headers);
    whenExpired(this.caller, reply, () => reply.end());
    reply.whenClosed(() => {
      if (this.#stream === reply) this.#stream = undefined;
    });
  }

  close(): void {
    this.#stream?.end();
  }
}

/** The sessions of this process. */
export function createSessions(engine: Engine, limits: HttpLimits) {
  const sessionsById = new Map<string, Session>();
  const { sessions: slots } = engine.load;
  const sweeper = setInterval(
    () => {
      const idleSince = performance.now() - limits.idleMs;
      for (const session of sessionsById.values())
        if (session.isIdle && session.lastRequestAt < idleSince) void end(session);
    },
    Math.min(60_000, limits.idleMs),
  ).unref();

  /** Its slot is free at once. */
  async function end(session: Session): Promise<void> {
    if (sessionsById.delete(session.id)) slots.count(-1, session.caller.owner);
    await engine.close(session.caller);
    session.close();
  }

  return {
    end,
    /** The session with an id, or a response: it ended, never existed, or belongs to another caller. */
    find(id: string, principal: Principal) {
      const session = sessionsById.get(id);
      const message = "Session not found. Open a new one with initialize.";
      if (session?.caller.principal?.key !== principal.key)
        return errorAnswer(404, { code: CODES.sessionNotFound, message });
      session.caller.principal = principal;
      return session;
    },

    /**
     * A new session, for an `initialize` that is still to be served, or a response if there is no room for it. The
     * oldest idle session makes room: of the caller if it has as many as it may, otherwise of anyone.
     */
    open(principal: Principal) {
      const { owner } = principal;
      const isOwn = slots.usedBy(owner) >= slots.perOwner;
      const [oldest] = [...(slots.hasRoom(1, owner) ? [] : sessionsById.values())]
        .filter(({ isIdle, caller }) => isIdle && (!isOwn || caller.owner === owner))
        .sort((a, b) => a.lastRequestAt - b.lastRequestAt);
      if (oldest !== undefined) void end(oldest);
      const refusal = takeSlot(slots, owner);
      if (refusal !== undefined) return refusal;
      const session = new Session(principal);
      sessionsById.set(session.id, session);
      return session;
    },

    async close(): Promise<void> {
      clearInterval(sweeper);
      await Promise.all([...sessionsById.values()].map(end));
    },
  };
}
