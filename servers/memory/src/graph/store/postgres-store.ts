import { ToolError } from "@refmcp/boundary/answer";
import type { Client, ClientBase, Pool, PoolClient } from "pg";
import { explainedPostgres } from "../errors.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { Reader } from "./reader.ts";
import type { Store } from "./store.ts";
import { SCHEMA_VERSION, TABLES, tablesOf } from "./tables.ts";
import { Writer } from "./writer.ts";

/** PostgreSQL's number of the type int8. */
const INT8 = 20;

/**
 * Opens or creates a memory in PostgreSQL, shared by any number of machines: one schema `refmcp_memory_SPACE` for each
 * space.
 *
 * @param url `postgres://user:password@host:port/database`; the password is never shown.
 * @param space lower case letters, digits and `_`.
 * @throws ToolError `unavailable` if the server is unreachable or refuses, `denied` without the privilege to create.
 */
export async function openPostgresStore(url: string, space: string): Promise<Store> {
  const pg = (await import("pg")).default;
  const { host, pathname } = new URL(url);
  const server = `postgres://${host}${pathname}`;
  const config = {
    connectionString: url,
    application_name: "refmcp-memory",
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
    types: {
      // Ids and times are far below 2^53.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  };
  const pool = new pg.Pool({ ...config, max: 4 });
  // The pool replaces broken idle connections; without a listener their error would end the process.
  pool.on("error", () => undefined);
  const store = new PostgresStore(
    pool,
    () => new pg.Client(config),
    server,
    `refmcp_memory_${space}`,
  );
  try {
    await store.createTables();
    return store.functions();
  } catch (error) {
    await pool.end();
    throw explainedPostgres(error, server);
  }
}

class PostgresStore {
  readonly #pool: Pool;
  readonly #newClient: () => Client;
  readonly #schema: string;
  readonly #location: string;

  constructor(pool: Pool, newClient: () => Client, server: string, schema: string) {
    this.#pool = pool;
    this.#newClient = newClient;
    this.#schema = schema;
    this.#location = `${server} (schema ${schema})`;
  }

  functions(): Store {
    const schema = this.#schema;
    const read: Store["read"] = (work, signal) =>
      this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", signal, (client) =>
        work(new Reader(new PostgresConnection(client, signal))),
      );
    return {
      kind: "postgres",
      location: this.#location,
      read,
      // Writers of a space wait for each other, so that a write's reads are still valid when it commits.
      write: (work, signal) =>
        this.#transaction("BEGIN", signal, async (client) => {
          await client.query("SET LOCAL lock_timeout = '30s'");
          await client.query(
            "SELECT pg_advisory_xact_lock(hashtext('refmcp_memory'), hashtext($1))",
            [schema],
          );
          const value = await work(new Writer(new PostgresConnection(client, signal)));
          // The last point at which a cancelled call still has no effect.
          signal?.throwIfAborted();
          return value;
        }),
      // Writers take turns, so the newest change's id grows with each commit.
      version: () => read(async (reader) => (await reader.changes(undefined, 1))[0]?.id ?? 0),
      overwriteErased: async () => {
        const tables = [...Object.values(TABLES), "changes", "journal", "search"];
        await this.#pool.query(
          `VACUUM ${tables.map((table) => `"${schema}".${table}`).join(", ")}`,
        );
        return "PostgreSQL may keep old copies in free space, its write-ahead log, replicas and backups until those are overwritten.";
      },
      close: () => this.#pool.end(),
    };
  }

  /** Creates the schema of a space with its tables if missing. Several processes may do so at the same time. */
  async createTables(): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT pg_advisory_xact_lock(hashtext('refmcp_memory'))");
      await createSchema(client, this.#schema);
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  }

  /** Aborting cancels the running statement. Its connection is not reused, because the cancellation may arrive late. */
  async #transaction<Value>(
    begin: string,
    signal: AbortSignal | undefined,
    work: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> {
    let isBroken = false;
    try {
      const client = await this.#pool.connect();
      let cancel = () => {};
      try {
        signal?.throwIfAborted();
        await client.query(`${begin}; SET LOCAL search_path TO "${this.#schema}"`);
        if (signal !== undefined) {
          const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
          cancel = () => {
            isBroken = true;
            // If it cannot be sent, statement_timeout ends the statement.
            this.#cancel(rows[0]?.pid ?? 0).catch(() => undefined);
          };
          signal.addEventListener("abort", cancel, { once: true });
        }
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      } catch (error) {
        await client.query("ROLLBACK").catch(() => {
          isBroken = true;
        });
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", cancel);
        client.release(isBroken);
      }
    } catch (error) {
      throw explainedPostgres(error, this.#location);
    }
  }

  /** Cancels a statement, on a separate connection: all in the pool may be waiting for it. */
  async #cancel(pid: number): Promise<void> {
    const client = this.#newClient();
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("SELECT pg_cancel_backend($1)", [pid]);
    } finally {
      await client.end();
    }
  }
}

/**
 * The tables of a graph and its search index `search`: one row for each entity (name and type, under its negative id),
 * and one for each current observation (content, under its id).
 */
const TABLES_AND_INDEX = `
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
${tablesOf({
  id: "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
  integer: "bigint",
  byCodePoint: 'text COLLATE "C"',
  options: "",
})}
CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION stems (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION stems ALTER MAPPING REPLACE simple WITH stems;
CREATE TABLE search (id bigint PRIMARY KEY, words tsvector NOT NULL);
CREATE INDEX search_words ON search USING gin (words);
INSERT INTO meta (key, value) VALUES ('schema_version', '${SCHEMA_VERSION}');
`;

/** @throws ToolError `unavailable` for tables of another format. */
async function createSchema(client: ClientBase, schema: string): Promise<void> {
  const exists = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (exists.rowCount === 0) await client.query(`CREATE SCHEMA "${schema}"`);
  await client.query(`SET LOCAL search_path TO "${schema}"`);
  const { rows } = await client.query<{ made: boolean }>(
    "SELECT to_regclass('meta') IS NOT NULL AS made",
  );
  if (rows[0]?.made !== true) {
    await client.query(TABLES_AND_INDEX);
    return;
  }
  const select = "SELECT value FROM meta WHERE key = 'schema_version'";
  const version = Number((await client.query(select)).rows[0]?.value);
  if (version === SCHEMA_VERSION) return;
  const message = `The memory in schema ${schema} has format ${version}; this server needs ${SCHEMA_VERSION}.`;
  throw new ToolError("unavailable", message, {
    hint: "Run export_graph with the server version that created it, then import_graph into another --space here.",
  });
}
