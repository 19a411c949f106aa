import { startDeadline, WaitingLine } from "@refmcp/boundary";
import type { Link } from "../driver/link.ts";
import { closing, failure } from "../errors.ts";

const IDLE_MS = 30_000;
/** How long a connection waits for a call that can clean it in the same packet; a busy client takes less. */
const CLEAN_MS = 1;
const WAIT_MS = 15_000;

/**
 * The connections to one database: opened on demand, cleaned after use, closed when idle. A lost or cancelled connection is
 * never used again.
 */
export class Pool {
  readonly #open: () => Promise<Link>;
  readonly #max: number;
  readonly #label: string;
  readonly #idle: { link: Link; timer: NodeJS.Timeout }[] = [];
  /** A waiting call gets a connection, or the chance to open one. */
  readonly #waiting = new WaitingLine<Link | undefined>();
  readonly #all = new Set<Link>();
  /** Connections that are open or being opened. */
  #count = 0;
  /** Connections that are being cleaned. */
  #cleaning = 0;
  #closed = false;

  /** @param max maximum number of connections */
  constructor(open: () => Promise<Link>, max: number, label: string) {
    this.#open = open;
    this.#max = max;
    this.#label = label;
  }

  /**
   * Gets a connection for one piece of work; return it with `release`.
   *
   * @throws ToolError `unavailable` if the server can't be reached or all connections stay busy.
   */
  async acquire(signal: AbortSignal): Promise<Link> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#closed) throw closing();
      for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
        clearTimeout(idle.timer);
        if (!idle.link.isSpoiled) return idle.link;
        this.discard(idle.link);
      }
      // A connection that is being cleaned is available sooner than a new one; two can alternate.
      const isSoon = this.#count > 1 && this.#cleaning > this.#waiting.size;
      if (this.#count < this.#max && !isSoon) return await this.#add();
      const link = await this.#wait(signal);
      if (link !== undefined) return link;
    }
  }

  async #add(): Promise<Link> {
    this.#count += 1;
    try {
      const link = await this.#open();
      this.#all.add(link);
      return link;
    } catch (error) {
      this.#gone();
      throw error;
    }
  }

  async #wait(signal: AbortSignal): Promise<Link | undefined> {
    const deadline = startDeadline(WAIT_MS, signal, () =>
      failure(
        "pool_exhausted",
        `All ${this.#max} connections to ${this.#label} were busy for ${WAIT_MS / 1000} s.`,
      ),
    );
    try {
      return await this.#waiting.wait(deadline.signal);
    } finally {
      deadline.end();
    }
  }

  /**
   * Returns a connection. A call within the next millisecond cleans it in the packet of its first statement; otherwise it
   * is cleaned then, and closed after it was idle for a while.
   */
  release(link: Link): void {
    this.#offer(link, CLEAN_MS, () => void this.#clean(link));
  }

  async #clean(link: Link): Promise<void> {
    this.#cleaning += 1;
    await link.clean().catch(() => link.spoil());
    this.#cleaning -= 1;
    this.#offer(link, IDLE_MS, () => this.discard(link));
  }

  /** Hands a connection to the next waiting call, or keeps it and calls `unused` if nobody takes it in time. */
  #offer(link: Link, ms: number, unused: () => void): void {
    if (link.isSpoiled || this.#closed) this.discard(link);
    else if (!this.#waiting.hand(link)) {
      const timer = setTimeout(() => {
        const at = this.#idle.findIndex((entry) => entry.link === link);
        if (at === -1) return;
        this.#idle.splice(at, 1);
        unused();
      }, ms);
      timer.unref();
      this.#idle.push({ link, timer });
    }
  }

  /** Closes a connection instead of returning it. */
  discard(link: Link): void {
    if (!this.#all.delete(link)) return;
    void link.close();
    this.#gone();
  }

  #gone(): void {
    this.#count -= 1;
    // A waiting call may open a new one in its place.
    this.#waiting.hand(undefined);
  }

  /** Closes all connections, also busy ones. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    while (this.#waiting.size > 0) this.#waiting.hand(undefined);
    const links = [...this.#all];
    this.#all.clear();
    await Promise.all(links.map((link) => link.close()));
  }
}
