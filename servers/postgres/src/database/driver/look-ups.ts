import { errorCode } from "@refmcp/boundary";
import type { QueryResultRow } from "pg";
import { catalogRows, type OwnQuery } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { Pool } from "./pool.ts";

/** How long the sessions look up names themselves after a look-up failed. */
const PAUSE_MS = 30_000;

const SETTINGS = [
  "SET SESSION search_path = pg_catalog, pg_temp",
  "SET SESSION plan_cache_mode = 'force_generic_plan'",
  "SET SESSION default_transaction_read_only = 'on'",
  // The definition of a view waits for locks of its tables; other look-ups must not wait with it.
  "SET SESSION lock_timeout = 100",
];
const LOCK_TIMEOUT = "55P03";

/**
 * Look-ups that judge statements, on a separate connection that runs none from outside: ours are prepared once, and nothing can
 * replace them. Planning them takes ten times as long as running them.
 *
 * What they see is committed. A read-only transaction sees nothing else, since it can't create anything, and they search all
 * schemas by name, so the temporary objects of all sessions, too.
 */
export class LookUps {
  readonly #pool: Pool;
  /** The names of prepared statements by their text. */
  readonly #prepared = new WeakMap<Connection, Map<string, string>>();
  #pausedUntil = 0;

  constructor(open: () => Promise<Connection>, label: string) {
    const prepare = async () => {
      const connection = await open();
      this.#prepared.set(connection, new Map());
      try {
        await connection.runAll(SETTINGS);
        return connection;
      } catch (error) {
        await connection.close();
        throw error;
      }
    };
    this.#pool = new Pool(prepare, 1, label);
  }

  /**
   * @param reading the session that the statement will run in
   * @returns undefined if that session has to look it up itself: behind a pooler, on another server, if there is no other
   *   connection, or if it is new, so that it costs more
   */
  async rows<Row extends QueryResultRow>(
    reading: Connection,
    query: OwnQuery,
    signal: AbortSignal,
  ): Promise<Row[] | undefined> {
    if (reading.isPooled || !reading.isReused || Date.now() < this.#pausedUntil) return undefined;
    try {
      return await this.#pool.use(signal, async (connection) => {
        const { client, isPooled, role } = connection;
        if (isPooled || role.server !== reading.role.server) return undefined;
        const prepared = this.#prepared.get(connection);
        const looking = catalogRows<Row>(client, query, { prepared });
        looking.catch(() => connection.invalidate());
        return await connection.stoppable(looking, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (errorCode(error) !== LOCK_TIMEOUT) this.#pausedUntil = Date.now() + PAUSE_MS;
      return undefined;
    }
  }

  readonly close = () => this.#pool.close();
}
