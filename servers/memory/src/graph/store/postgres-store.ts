import type { Pool, PoolClient } from "pg";
import type { Model } from "../search/embedding-model.ts";
import { TABLES } from "./connection.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { explained } from "./postgres-errors.ts";
import { migrate } from "./postgres-schema.ts";
import { Reader } from "./reader.ts";
import type { Stop, Store } from "./store.ts";
import { Writer } from "./writer.ts";

const INT8 = 20;

/**
 * Opens or creates a memory in PostgreSQL: one schema `refmcp_memory_SPACE` for each space.
 *
 * @param url `postgres://user:password@host:port/database`; the password is never shown.
 * @param space lower case letters, digits and `_`.
 * @throws ToolError `unavailable` if the server is unreachable or refuses, `denied` without the privilege to create.
 */
export async function openPostgresStore(url: string, space: string): Promise<Store> {
  const { Client, Pool, types } = (await import("pg")).default;
  const { host, pathname } = new URL(url);
  const location = `postgres://${host}${pathname}`;
  const config = {
    connectionString: url,
    application_name: "refmcp-memory",
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
    types: {
      // Ids and times are far below 2^53.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : types.getTypeParser(oid, format),
    },
  };
  const pool = new Pool({ ...config, max: 4 });
  // The pool replaces broken idle connections; without a listener their error would end the process.
  pool.on("error", () => undefined);
  const schema = `refmcp_memory_${space}`;
  try {
    const client = await pool.connect();
    try {
      await migrate(client, schema);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw explained(error, location);
  }
  // On a separate connection: all in the pool may be waiting for the statement to cancel.
  const cancel = async (pid: number) => {
    const client = new Client(config);
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("SELECT pg_cancel_backend($1)", [pid]);
    } finally {
      await client.end();
    }
  };
  return new PostgresStore(pool, cancel, location, schema);
}

/** A graph in one schema of a PostgreSQL database, shared by any number of machines. */
class PostgresStore implements Store {
  readonly kind = "postgres";
  readonly location: string;
  model: Model | undefined;
  readonly #pool: Pool;
  readonly #cancel: (pid: number) => Promise<void>;
  readonly #schema: string;

  constructor(pool: Pool, cancel: (pid: number) => Promise<void>, location: string, schema: string) {
    this.#pool = pool;
    this.#cancel = cancel;
    this.location = `${location} (schema ${schema})`;
    this.#schema = schema;
  }

  read<Value>(work: (reader: Reader) => Promise<Value>, stop?: Stop): Promise<Value> {
    return this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", stop, (client) =>
      work(new Reader(new PostgresConnection(client, stop))),
    );
  }

  /** Writers of a space wait for each other, so that a write's reads are still valid when it commits. */
  write<Value>(work: (writer: Writer) => Promise<Value>, stop?: Stop): Promise<Value> {
    return this.#transaction("BEGIN", stop, async (client) => {
      await client.query("SET LOCAL lock_timeout = '30s'");
      await client.query("SELECT pg_advisory_xact_lock(hashtext('refmcp_memory'), hashtext($1))", [
        this.#schema,
      ]);
      const writer = new Writer(new PostgresConnection(client, stop));
      const value = await work(writer);
      await writer.finish();
      // The last point at which a cancelled call still has no effect.
      stop?.throwIfAborted();
      return value;
    });
  }

  /**
   * Stopping cancels the running statement. Its connection is not reused, because the cancellation may arrive late.
   */
  async #transaction<Value>(
    begin: string,
    stop: Stop | undefined,
    work: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> {
    let broken = false;
    try {
      const client = await this.#pool.connect();
      let isOver = false;
      try {
        stop?.throwIfAborted();
        await client.query(`${begin}; SET LOCAL search_path TO "${this.#schema}"`);
        if (stop?.signal !== undefined) {
          const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
          stop.signal.addEventListener("abort", () => {
            if (isOver) return;
            broken = true;
            // If it cannot be sent, statement_timeout ends the statement.
            this.#cancel(rows[0]?.pid ?? 0).catch(() => undefined);
          });
        }
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      } catch (error) {
        await client.query("ROLLBACK").catch(() => {
          broken = true;
        });
        stop?.throwIfAborted();
        throw error;
      } finally {
        isOver = true;
        client.release(broken);
      }
    } catch (error) {
      throw explained(error, this.location);
    }
  }

  /** Writers take turns, so the newest change's id grows with each commit. */
  version(): Promise<number> {
    return this.read(async (reader) => (await reader.changes(undefined, 1))[0]?.id ?? 0);
  }

  async overwriteErased(): Promise<string> {
    const tables = [...Object.values(TABLES), "changes", "found"];
    await this.#pool.query(`VACUUM ${tables.map((table) => `"${this.#schema}".${table}`).join(", ")}`);
    return "PostgreSQL may keep old copies in free space, its write-ahead log, replicas and backups until those are overwritten.";
  }

  size(): Promise<number> {
    return this.#transaction("BEGIN READ ONLY", undefined, async (client) => {
      const { rows } = await client.query<{ size: number }>(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 AS size FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'",
        [`"${this.#schema}"`],
      );
      return rows[0]?.size ?? 0;
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
