import { Line } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Calling } from "../deadline.ts";
import type { Driver } from "../driver/driver.ts";
import type { Drivers } from "../driver/drivers.ts";
import type { RunStore } from "../store/runs.ts";
import { BROWSE_MS, type Browsed, type BrowseRequest } from "./browse.ts";

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
/** Errors after which a page cannot be used: it crashed, or navigated to a forbidden URL. */
const FATAL = new Set(["crash", "refused"]);

interface Held {
  readonly driver: Driver;
  runId: string | undefined;
  url: string;
  idle: NodeJS.Timeout | undefined;
}

/** Browser sessions by their names, each with its own driver process, limited in number and idle time. */
export class Sessions {
  readonly #options: Required<SessionsOptions>;
  readonly #all = new Map<string, Held>();
  /** Why sessions were closed. */
  readonly #ended = new Map<string, string>();
  /** The calls of one session wait for each other. */
  readonly #line = new Line();

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
    const quotedName = JSON.stringify(name.slice(0, 60));
    if (!NAME.test(name))
      throw new ToolError("invalid", `${quotedName} is not a valid session name.`, {
        hint: "Use up to 40 letters, digits, hyphens and underscores.",
      });
    if (this.#all.has(name))
      throw new ToolError("conflict", `The session ${name} is already open.`, {
        hint: "Continue it with pw_browse_act, or close it with pw_browse_close.",
      });
    const open = [...this.#all.keys()].join(", ");
    if (this.#all.size >= MAX_SESSIONS)
      throw new ToolError("conflict", `${MAX_SESSIONS} sessions are open, the maximum: ${open}.`, {
        hint: "Close one with pw_browse_close, or continue it with pw_browse_act.",
      });
    const driver = this.#options.drivers.dedicated();
    const held: Held = { driver, runId: undefined, url: request.url, idle: undefined };
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
      return await this.#line.run(name, () => work(held.driver), call.signal);
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
    const reason = this.#ended.get(name)?.replace(/\.$/, "");
    const open = [...this.#all.keys()].join(", ") || "none";
    const message =
      reason === undefined
        ? `There is no session ${JSON.stringify(name.slice(0, 60))}; open: ${open}.`
        : `The session ${name} is closed: ${reason}.`;
    throw new ToolError("not_found", message, { hint: "Open one with pw_browse_open." });
  }

  async #end(name: string, held: Held, reason: string): Promise<void> {
    this.#forget(name, held, reason);
    await held.driver.close();
    if (held.runId !== undefined) await this.#options.runs.dropEmpty(held.runId);
  }

  #forget(name: string, held: Held, reason: string): void {
    clearTimeout(held.idle);
    if (this.#all.get(name) !== held) return;
    this.#all.delete(name);
    if (this.#ended.size >= MAX_ENDED) this.#ended.clear();
    this.#ended.set(name, reason);
  }
}
