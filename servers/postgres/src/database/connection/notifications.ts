import { quoteIdentifier } from "@refmcp/sql";
import type { Connection } from "../driver/connection.ts";

const RETRY_MS = 5_000;

/**
 * Listens to one channel of a database on a separate connection while anybody is subscribed. A lost connection is
 * reopened; notifications missed in between count as "any table changed".
 */
export class Listener {
  readonly #channel: string;
  readonly #open: () => Promise<Connection>;
  /** They get the changed table as `schema.table`; undefined means any table. */
  readonly #listeners = new Set<(table: string | undefined) => void>();
  #connection: Promise<Connection> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(channel: string, open: () => Promise<Connection>) {
    this.#channel = channel;
    this.#open = open;
  }

  /**
   * Calls `changed` when a notification names the table (`schema.table` or just its name) or no table at all. Resolves once
   * the server listens.
   *
   * @returns the function that stops it.
   */
  async watch(schema: string | undefined, table: string, changed: () => void): Promise<() => void> {
    const listener = (named: string | undefined) => {
      const isSame =
        schema === undefined ? named?.endsWith(`.${table}`) : named === `${schema}.${table}`;
      if (named === undefined || named === table || isSame === true) changed();
    };
    this.#listeners.add(listener);
    try {
      await this.#connected();
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) void this.#disconnect();
    };
  }

  #connected(): Promise<Connection> {
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#open();
    connection.client.on("notification", ({ payload }) => this.#notify(payload || undefined));
    connection.client.on("end", () => this.#lost(connection));
    await connection.run(`LISTEN ${quoteIdentifier(this.#channel)}`);
    return connection;
  }

  #notify(table: string | undefined): void {
    for (const listener of this.#listeners) listener(table);
  }

  #lost(connection: Connection): void {
    connection.invalidate();
    this.#connection = undefined;
    if (this.#closed || this.#listeners.size === 0) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#connected().then(
        () => this.#notify(undefined),
        () => this.#lost(connection),
      );
    }, RETRY_MS);
    this.#retry.unref();
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#retry);
    const connection = await this.#connection?.catch(() => undefined);
    this.#connection = undefined;
    await connection?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    await this.#disconnect();
  }
}
