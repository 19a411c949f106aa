import { ToolError } from "@refmcp/boundary/answer";
import type { Calling } from "../session/deadline.ts";
import type { RunStore } from "../store/runs.ts";
import {
  BROWSE_MS,
  type Browsed,
  type BrowseRequest,
  type SessionScript,
} from "../verdict/browse.ts";
import type { Driver } from "./driver.ts";
import type { Drivers } from "./drivers.ts";
import { type Semaphore, semaphoreOf } from "./semaphore.ts";

interface SessionsOptions {
  readonly drivers: Pick<Drivers, "dedicated">;
  readonly runs: RunStore;
  readonly changed: () => void;
  /** A session that has been idle for this long is closed. */
  readonly idleMs?: number;
}

/** Maximum open sessions; each has its own browser. */
const MAX_SESSIONS = 3;
const IDLE_MS = 10 * 60_000;
/** Number of closed sessions whose reason is kept, for error messages. */
const MAX_ENDED = 20;
const NAME = /^[\w-]{1,40}$/;
const ASK_MS = 2_000;
const CLOSING: Calling = {
  signal: new AbortController().signal,
  leftMs: ASK_MS,
  progress: () => undefined,
};
const scriptOf = (driver: Driver, call: Calling) => driver.call("script", undefined, call, ASK_MS);
/** Errors after which a page cannot be used: it crashed, or navigated to a forbidden URL. */
const FATAL = new Set(["crash", "refused"]);

/** A closed session: why, and what it did, if its browser still answered. */
interface Ended {
  readonly reason: string;
  script: SessionScript | undefined;
}

interface Held {
  readonly driver: Driver;
  readonly turn: Semaphore;
  runId: string | undefined;
  url: string;
  idle: NodeJS.Timeout | undefined;
}

/** Browser sessions by their names, each with its own driver process, limited in number and idle time. */
export class Sessions {
  readonly #options: Required<SessionsOptions>;
  readonly #all = new Map<string, Held>();
  readonly #ended = new Map<string, Ended>();

  constructor(options: SessionsOptions) {
    this.#options = { idleMs: IDLE_MS, ...options };
  }

  /**
   * Opens a session on a page.
   *
   * @throws ToolError `conflict` if the name is taken or too many sessions are open; otherwise as a run.
   */
  async open(
    name: string,
    request: Omit<BrowseRequest, "begins">,
    call: Calling,
  ): Promise<Browsed> {
    if (!NAME.test(name))
      throw new ToolError(
        "invalid",
        `${JSON.stringify(name.slice(0, 60))} is not a valid session name.`,
        {
          hint: "Use up to 40 letters, digits, hyphens and underscores.",
        },
      );
    const open = [...this.#all.keys()];
    if (this.#all.has(name))
      throw new ToolError("conflict", `The session ${name} is already open.`, {
        hint: "Continue it with pw_browse_act, or close it with pw_browse_close.",
      });
    if (open.length >= MAX_SESSIONS)
      throw new ToolError(
        "conflict",
        `${MAX_SESSIONS} sessions are open, the maximum: ${open.join(", ")}.`,
        {
          hint: "Close one with pw_browse_close, or continue it with pw_browse_act.",
        },
      );
    const driver = this.#options.drivers.dedicated();
    const { url } = request;
    const held: Held = { driver, turn: semaphoreOf(1), runId: undefined, url, idle: undefined };
    this.#all.set(name, held);
    void driver.ended.then((error) => this.#forget(name, held, error.message));
    try {
      return await this.#act(name, held, { ...request, begins: true }, call);
    } catch (error) {
      await this.#end(name, held, "it could not be opened");
      throw error;
    }
  }

  /** Performs steps in a session, and looks at its page if asked to. */
  act(
    name: string,
    request: Pick<BrowseRequest, "steps" | "assertions" | "look">,
    call: Calling,
  ): Promise<Browsed> {
    const held = this.#held(name);
    return this.#act(name, held, { ...request, url: held.url, begins: false }, call);
  }

  evaluate(name: string, expression: string, budget: number, call: Calling): Promise<string> {
    return this.#use(name, this.#held(name), call, (driver) =>
      driver.call("evaluate", { expression, budget }, call, BROWSE_MS),
    );
  }

  /**
   * What a session did so far, as a test; also of one that was closed.
   *
   * @throws ToolError `not_found` if there is no such session.
   */
  async script(name: string, call: Calling): Promise<SessionScript> {
    const ended = this.#all.has(name) ? undefined : this.#ended.get(name)?.script;
    return ended ?? this.#use(name, this.#held(name), call, (driver) => scriptOf(driver, call));
  }

  async close(name: string): Promise<void> {
    await this.#end(name, this.#held(name), "it was closed with pw_browse_close");
  }

  async #act(name: string, held: Held, request: BrowseRequest, call: Calling): Promise<Browsed> {
    const browsed = await this.#use(name, held, call, (driver) =>
      driver.call("browse", request, call, BROWSE_MS),
    );
    held.runId = browsed.run_id;
    if (browsed.artifacts.length > 0) this.#options.changed();
    return browsed;
  }

  async #use<Value>(
    name: string,
    held: Held,
    call: Calling,
    work: (driver: Driver) => Promise<Value>,
  ): Promise<Value> {
    clearTimeout(held.idle);
    try {
      return await held.turn.use(call.signal, 1, () => work(held.driver));
    } catch (error) {
      if (error instanceof ToolError && FATAL.has(error.code ?? ""))
        await this.#end(name, held, error.message);
      throw error;
    } finally {
      const { idleMs } = this.#options;
      clearTimeout(held.idle);
      const late = () =>
        void this.#end(name, held, `no call used it for ${idleMs / 60_000} minutes`);
      if (this.#all.get(name) === held) held.idle = setTimeout(late, idleMs).unref();
    }
  }

  /** @throws ToolError `not_found` with the reason why a session is no longer open. */
  #held(name: string): Held {
    const held = this.#all.get(name);
    if (held !== undefined) return held;
    const reason = this.#ended.get(name)?.reason;
    const open = [...this.#all.keys()];
    throw new ToolError(
      "not_found",
      reason === undefined
        ? `There is no session ${JSON.stringify(name.slice(0, 60))}; ${open.length === 0 ? "none is open" : `open: ${open.join(", ")}`}.`
        : `The session ${name} is closed: ${reason.replace(/\.$/, "")}.`,
      { hint: "Open one with pw_browse_open." },
    );
  }

  async #end(name: string, held: Held, reason: string): Promise<void> {
    this.#forget(name, held, reason);
    const ended = this.#ended.get(name);
    if (ended !== undefined && held.runId !== undefined)
      ended.script = await scriptOf(held.driver, CLOSING).catch(() => undefined);
    await held.driver.close();
    if (held.runId !== undefined) await this.#options.runs.dropEmpty(held.runId);
  }

  #forget(name: string, held: Held, reason: string): void {
    clearTimeout(held.idle);
    if (this.#all.get(name) !== held) return;
    this.#all.delete(name);
    this.#ended.delete(name);
    this.#ended.set(name, { reason, script: undefined });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }
}
