import { quoteIdentifier } from "@refmcp/sql";
import type { Link } from "../driver/link.ts";

/** Receives the changed table as `schema.table`; undefined means any table. */
type Hear = (table: string | undefined) => void;

const RETRY_MS = 5_000;

/**
 * Listens to one channel of a database on a separate connection while anybody is subscribed. A lost connection is
 * reopened; notifications missed in between count as "any table changed".
 */
export class Listener {
  readonly #channel: string;
  readonly #open: () => Promise<Link>;
  readonly #hearers = new Set<Hear>();
  #link: Promise<Link> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(channel: string, open: () => Promise<Link>) {
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
    const hear: Hear = (named) => {
      if (named === undefined || named === table || named === `${schema ?? ""}.${table}`) changed();
      else if (schema === undefined && named.endsWith(`.${table}`)) changed();
    };
    this.#hearers.add(hear);
    try {
      await this.#connected();
    } catch (error) {
      this.#hearers.delete(hear);
      throw error;
    }
    return () => {
      this.#hearers.delete(hear);
      if (this.#hearers.size === 0) void this.#hangUp();
    };
  }

  #connected(): Promise<Link> {
    this.#link ??= this.#connect().catch((error: unknown) => {
      this.#link = undefined;
      throw error;
    });
    return this.#link;
  }

  async #connect(): Promise<Link> {
    const link = await this.#open();
    link.client.on("notification", ({ payload }) => this.#tell(payload === "" ? undefined : payload));
    link.client.on("end", () => this.#lost(link));
    await link.run(`LISTEN ${quoteIdentifier(this.#channel)}`);
    return link;
  }

  #tell(table: string | undefined): void {
    for (const hear of this.#hearers) hear(table);
  }

  #lost(link: Link): void {
    link.spoil();
    this.#link = undefined;
    if (this.#closed || this.#hearers.size === 0) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#connected().then(
        () => this.#tell(undefined),
        () => this.#lost(link),
      );
    }, RETRY_MS);
    this.#retry.unref();
  }

  async #hangUp(): Promise<void> {
    clearTimeout(this.#retry);
    const link = await this.#link?.catch(() => undefined);
    this.#link = undefined;
    await link?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hearers.clear();
    await this.#hangUp();
  }
}
