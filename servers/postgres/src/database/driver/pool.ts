import { Line, startDeadline } from "@refmcp/boundary";
import type { Connection } from "./connection.ts";
import { closing, failure, isLost } from "./errors.ts";

const IDLE_MS = 30_000;
const WAIT_MS = 15_000;
/** A connection that was lost while idle shows it within this time; later, somebody has stopped the work. */
const NOTICE_MS = 1_000;

/**
 * The connections to one database: opened on demand, cleaned after use, closed when idle. A lost or cancelled connection is
 * never used again.
 *
 * Not pg-pool: it creates its clients itself, from one host and one way to use TLS, and libpq's several hosts and attempts with
 * and without TLS (`sslmode=prefer`) are one connection only after all of them.
 */
export class Pool {
  readonly #open: () => Promise<Connection>;
  readonly #line: Line;
  readonly #busy: string;
  /** Clean ones that no call uses, the last used at the end. */
  readonly #idle: { readonly connection: Connection; readonly timer: NodeJS.Timeout }[] = [];
  readonly #all = new Set<Connection>();
  #isClosed = false;

  constructor(open: () => Promise<Connection>, max: number, label: string) {
    this.#open = open;
    this.#line = new Line(max);
    this.#busy = `All ${max} connections to ${label} were busy for ${WAIT_MS / 1000} s.`;
  }

  /**
   * Does one piece of work on a connection as soon as one is free; again on another one, if that may be, if an idle connection
   * was lost unnoticed.
   *
   * @throws ToolError `unavailable` if the server can't be reached or all connections stay busy
   */
  async use<Value>(
    signal: AbortSignal,
    work: (connection: Connection) => Promise<Value>,
  ): Promise<Value> {
    const deadline = startDeadline(WAIT_MS, signal, () => failure("pool_exhausted", this.#busy));
    const turn = new Promise<Value>((resolve, reject) => {
      const run = async (): Promise<void> => {
        deadline.end();
        if (this.#isClosed) throw closing();
        const idle = this.#idle.pop();
        clearTimeout(idle?.timer);
        const connection = idle?.connection ?? (await this.#open());
        this.#all.add(connection);
        const started = performance.now();
        try {
          if (this.#isClosed) throw closing();
          resolve(await work(connection));
        } catch (error) {
          const isUnnoticed = idle !== undefined && performance.now() - started < NOTICE_MS;
          if (isUnnoticed && connection.isRepeatable && isLost(error) && !signal.aborted) {
            this.#discard(connection);
            return await run();
          }
          reject(error);
        }
        // The next call waits until it is clean, but this one does not.
        await this.#release(connection);
      };
      this.#line.run("", run, deadline.signal).catch(reject);
    });
    return await turn.finally(deadline.end);
  }

  async #release(connection: Connection): Promise<void> {
    if (!connection.isInvalid) await connection.clean().catch(() => connection.invalidate());
    if (connection.isInvalid || this.#isClosed) return this.#discard(connection);
    const retire = () => {
      const at = this.#idle.findIndex((idle) => idle.connection === connection);
      this.#idle.splice(at, at < 0 ? 0 : 1);
      this.#discard(connection);
    };
    this.#idle.push({ connection, timer: setTimeout(retire, IDLE_MS).unref() });
  }

  #discard(connection: Connection): void {
    if (this.#all.delete(connection)) void connection.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    const connections = [...this.#all];
    this.#all.clear();
    await Promise.all(connections.map((connection) => connection.close()));
  }
}
