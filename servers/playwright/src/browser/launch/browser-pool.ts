import { ToolError } from "@refmcp/core/answer";
import type { Browser } from "playwright";
import { killed } from "../driver/memory.ts";
import type { Launched } from "./launch.ts";

export interface BrowserPoolOptions {
  readonly launch: () => Promise<Launched>;
  /** A browser that nobody uses for this long is closed. */
  readonly idleMs?: number;
  /** Runs after which a browser is replaced, so that what pages leave in it does not pile up. */
  readonly recycleAfter?: number;
  readonly log: (sentence: string) => void;
}

/** A browser that one run may use until it releases it. */
export interface Lease {
  readonly launched: Launched;
  /** Gives it back; a `broken` one gets no further run, and is ended after its last. */
  release(broken?: boolean): Promise<void>;
}

/** A close that takes longer is not waited for. */
const CLOSE_MS = 1_500;

interface Held {
  readonly launched: Launched;
  runs: number;
  users: number;
  retired: boolean;
}

/**
 * Keeps one browser running for the runs that come: started once for all who wait for it, replaced when it crashes,
 * when it hangs and after many runs, closed when nobody needs it.
 */
export class BrowserPool {
  readonly #options: Required<BrowserPoolOptions>;
  #current: Promise<Held> | undefined;
  readonly #all = new Set<Held>();
  #idle: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #beforeClose: ((browser: Browser) => Promise<void>)[] = [];

  constructor(options: BrowserPoolOptions) {
    this.#options = { idleMs: 300_000, recycleAfter: 200, ...options };
  }

  /** Registers what must happen before a browser is closed on purpose. */
  beforeClose(listener: (browser: Browser) => Promise<void>): void {
    this.#beforeClose.push(listener);
  }

  /** The browser that runs now, for a description of the server's state; it starts none. */
  async running(): Promise<Launched | undefined> {
    const held = await this.#current?.catch(() => undefined);
    return held?.launched;
  }

  /**
   * A browser to use.
   *
   * @throws ToolError `unavailable` where none starts.
   */
  async lease(): Promise<Lease> {
    if (this.#closed)
      throw new ToolError("unavailable", "The server is closing and starts no more browsers.");
    clearTimeout(this.#idle);
    const held = await this.#fresh();
    held.users += 1;
    held.runs += 1;
    let released = false;
    return {
      launched: held.launched,
      release: async (broken = false) => {
        if (released) return;
        released = true;
        held.users -= 1;
        if (broken || held.runs >= this.#options.recycleAfter) this.#retire(held);
        // Other runs may still be using it: on a busy machine a slow close does not mean that it hangs.
        if (held.retired && held.users === 0) await this.#end(held);
        this.#watchIdle();
      },
    };
  }

  /** Ends every browser. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#current?.catch(() => undefined);
    this.#current = undefined;
    await Promise.all([...this.#all].map((held) => this.#end(held)));
  }

  async #fresh(): Promise<Held> {
    this.#current ??= this.#start();
    const starting = this.#current;
    try {
      const held = await starting;
      if (held.launched.browser.isConnected() && !held.retired) return held;
    } catch (error) {
      if (this.#current === starting) this.#current = undefined;
      throw error;
    }
    if (this.#current === starting) this.#current = undefined;
    return this.#fresh();
  }

  async #start(): Promise<Held> {
    const began = performance.now();
    const launched = await this.#options.launch();
    const held: Held = { launched, runs: 0, users: 0, retired: false };
    this.#all.add(held);
    this.#options.log(
      `browser ${launched.browser.version()} from ${launched.from} ready in ${Math.round(performance.now() - began)} ms` +
        (launched.sandboxed ? "" : "; its sandbox is off"),
    );
    launched.browser.on("disconnected", () => {
      this.#retire(held);
      this.#all.delete(held);
    });
    // Closed while it started.
    if (this.#closed) await this.#end(held);
    return held;
  }

  #retire(held: Held): void {
    held.retired = true;
    const current = this.#current;
    void current?.then(
      (one) => {
        if (one === held && this.#current === current) this.#current = undefined;
      },
      () => undefined,
    );
  }

  async #end(held: Held): Promise<void> {
    this.#retire(held);
    const { browser } = held.launched;
    const orderly = (async () => {
      for (const listener of this.#beforeClose) await listener(browser);
      await browser.close();
    })().catch(() => undefined);
    const late = Symbol("late");
    const timeout = new Promise((resolve) => setTimeout(resolve, CLOSE_MS, late).unref());
    const isLate = (await Promise.race([orderly, timeout])) === late;
    const pid = isLate ? await held.launched.pid : undefined;
    // With its group of processes: Playwright starts it as a group's leader.
    if (pid !== undefined) for (const id of process.platform === "win32" ? [pid] : [-pid, pid]) killed(id);
    this.#all.delete(held);
  }

  #watchIdle(): void {
    clearTimeout(this.#idle);
    if ([...this.#all].some((held) => held.users > 0)) return;
    this.#idle = setTimeout(() => {
      for (const held of this.#all) if (held.users === 0) void this.#end(held);
    }, this.#options.idleMs);
    this.#idle.unref();
  }
}
