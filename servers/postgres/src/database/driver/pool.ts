import { startDeadline, WaitingLine } from "@refmcp/boundary";
import type { Connection } from "./connection.ts";
import { closing, failure } from "./errors.ts";

const IDLE_MS = 30_000;
/** How long a connection waits for a call that can clean it in the same packet; a busy client takes less. */
const CLEAN_MS = 1;
const WAIT_MS = 15_000;

/**
 * The connections to one database: opened on demand, cleaned after use, closed when idle. A lost or cancelled connection is
 * never used again.
 */
export class Pool {
  readonly #open: () => Promise<Connection>;
  readonly #max: number;
  readonly #label: string;
  readonly #idle: { connection: Connection; timer: NodeJS.Timeout }[] = [];
  /** A waiting call gets a connection, or the chance to open one. */
  readonly #waiting = new WaitingLine<Connection | undefined>();
  readonly #all = new Set<Connection>();
  /** Connections that are open or being opened. */
  #count = 0;
  #cleaning = 0;
  #closed = false;

  constructor(open: () => Promise<Connection>, max: number, label: string) {
    this.#open = open;
    this.#max = max;
    this.#label = label;
  }

  /**
   * Gets a connection for one piece of work; return it with `release`.
   *
   * @throws ToolError `unavailable` if the server can't be reached or all connections stay busy.
   */
  async acquire(signal: AbortSignal): Promise<Connection> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#closed) throw closing();
      for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
        clearTimeout(idle.timer);
        if (!idle.connection.isInvalid) return idle.connection;
        this.discard(idle.connection);
      }
      // A connection that is being cleaned is available sooner than a new one; two can alternate.
      const isSoon = this.#count > 1 && this.#cleaning > this.#waiting.size;
      if (this.#count < this.#max && !isSoon) return await this.#add();
      const connection = await this.#wait(signal);
      if (connection !== undefined) return connection;
    }
  }

  async #add(): Promise<Connection> {
    this.#count += 1;
    try {
      const connection = await this.#open();
      this.#all.add(connection);
      return connection;
    } catch (error) {
      this.#gone();
      throw error;
    }
  }

  async #wait(signal: AbortSignal): Promise<Connection | undefined> {
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
  release(connection: Connection): void {
    this.#offer(connection, CLEAN_MS, () => void this.#clean(connection));
  }

  async #clean(connection: Connection): Promise<void> {
    this.#cleaning += 1;
    await connection.clean().catch(() => connection.invalidate());
    this.#cleaning -= 1;
    this.#offer(connection, IDLE_MS, () => this.discard(connection));
  }

  /** Hands a connection to the next waiting call, or keeps it and calls `unused` if nobody takes it in time. */
  #offer(connection: Connection, ms: number, unused: () => void): void {
    if (connection.isInvalid || this.#closed) this.discard(connection);
    else if (!this.#waiting.hand(connection)) {
      const timer = setTimeout(() => {
        const at = this.#idle.findIndex((entry) => entry.connection === connection);
        if (at === -1) return;
        this.#idle.splice(at, 1);
        unused();
      }, ms);
      timer.unref();
      this.#idle.push({ connection, timer });
    }
  }

  discard(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    void connection.close();
    this.#gone();
  }

  #gone(): void {
    this.#count -= 1;
    // A waiting call may open a new one in its place.
    this.#waiting.hand(undefined);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    while (this.#waiting.size > 0) this.#waiting.hand(undefined);
    const connections = [...this.#all];
    this.#all.clear();
    await Promise.all(connections.map((connection) => connection.close()));
  }
}
