import { ToolError } from "@refmcp/boundary/answer";
import type { ClientBase, PoolClient } from "pg";
import { explainedPostgres } from "../errors.ts";
import { type Stop, TABLES } from "./connection.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { Reader } from "./reader.ts";
import type { Store } from "./store.ts";
import { SCHEMA_VERSION, tablesOf, UPGRADABLE_VERSION, upgradeOf } from "./tables.ts";
import { Writer } from "./writer.ts";

const INT8 = 20;

/**
 * Opens or creates a memory in PostgreSQL, shared by any number of machines: one schema `refmcp_memory_SPACE` for each space.
 *
 * @param url `postgres://user:password@host:port/database`; the password is never shown.
 * @param space lower case letters, digits and `_`.
 * @throws ToolError `unavailable` if the server is unreachable or refuses, `denied` without the privilege to create.
 */
export async function openPostgresStore(url: string, space: string): Promise<Store> {
  const { Client, Pool, types } = (await import("pg")).default;
  const { host, pathname } = new URL(url);
  const schema = `refmcp_memory_${space}`;
  const server = `postgres://${host}${pathname}`;
  const location = `${server} (schema ${schema})`;
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
  try {
    const client = await pool.connect();
    try {
      await migrate(client, schema);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw explainedPostgres(error, server);
  }

  /** On a separate connection: all in the pool may be waiting for the statement to cancel. */
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

  /** Stopping cancels the running statement. Its connection is not reused, because the cancellation may arrive late. */
  const transaction = async <Value>(
    begin: string,
    stop: Stop | undefined,
    work: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> => {
    let broken = false;
    try {
      const client = await pool.connect();
      let isOver = false;
      try {
        stop?.throwIfAborted();
        await client.query(`${begin}; SET LOCAL search_path TO "${schema}"`);
        if (stop?.signal !== undefined) {
          const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
          stop.signal.addEventListener("abort", () => {
            if (isOver) return;
            broken = true;
            // If it cannot be sent, statement_timeout ends the statement.
            cancel(rows[0]?.pid ?? 0).catch(() => undefined);
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
      throw explainedPostgres(error, location);
    }
  };

  const read: Store["read"] = (work, stop) =>
    transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", stop, (client) =>
      work(new Reader(new PostgresConnection(client, stop))),
    );

  return {
    kind: "postgres",
    location,
    read,
    // Writers of a space wait for each other, so that a write's reads are still valid when it commits.
    write: (work, stop) =>
      transaction("BEGIN", stop, async (client) => {
        await client.query("SET LOCAL lock_timeout = '30s'");
        await client.query(
          "SELECT pg_advisory_xact_lock(hashtext('refmcp_memory'), hashtext($1))",
          [schema],
        );
        const writer = new Writer(new PostgresConnection(client, stop));
        const value = await work(writer);
        await writer.finish();
        // The last point at which a cancelled call still has no effect.
        stop?.throwIfAborted();
        return value;
      }),
    // Writers take turns, so the newest change's id grows with each commit.
    version: () => read(async (reader) => (await reader.changes(undefined, 1))[0]?.id ?? 0),
    async overwriteErased() {
      const tables = [...Object.values(TABLES), "changes", "found"];
      await pool.query(`VACUUM ${tables.map((table) => `"${schema}".${table}`).join(", ")}`);
      return "PostgreSQL may keep old copies in free space, its write-ahead log, replicas and backups until those are overwritten.";
    },
    size: () =>
      transaction("BEGIN READ ONLY", undefined, async (client) => {
        const { rows } = await client.query<{ size: number }>(
          "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 AS size FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'",
          [`"${schema}"`],
        );
        return rows[0]?.size ?? 0;
      }),
    close: () => pool.end(),
  };
}

/**
 * `found`, the search index: one row for each entity (name and type, under its negative id), and one for each current
 * observation (content, under its id).
 */
const INDEX = `
CREATE TABLE found (id bigint PRIMARY KEY, content text NOT NULL, words tsvector NOT NULL);
CREATE INDEX found_words ON found USING gin (words);
`;

/** The tables of a graph and its search index. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL);
${tablesOf({
  id: "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
  integer: "bigint",
  byCodePoint: 'text COLLATE "C"',
  options: "",
})}
CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION stems (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION stems ALTER MAPPING REPLACE simple WITH stems;
${INDEX}
INSERT INTO meta (key, value) VALUES ('schema_version', '${SCHEMA_VERSION}');
`;

/** Creates the schema of a space with its tables if missing. Several processes may do so at the same time. */
async function migrate(client: ClientBase, schema: string): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock(hashtext('refmcp_memory'))");
    const exists = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
    if (exists.rowCount === 0) await client.query(`CREATE SCHEMA "${schema}"`);
    await client.query(`SET LOCAL search_path TO "${schema}"`);
    const made = await client.query<{ made: boolean }>(
      "SELECT to_regclass('found') IS NOT NULL AS made",
    );
    if (made.rows[0]?.made === true) await upgrade(client, schema);
    else await client.query(SCHEMA);
    await indexSubstrings(client);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/** Upgrades the tables of the previous format. */
async function upgrade(client: ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query("SELECT value FROM meta WHERE key = 'schema_version'");
  const version = Number(rows[0]?.value);
  if (version === SCHEMA_VERSION) return;
  if (version === UPGRADABLE_VERSION) {
    await client.query(`${upgradeOf("bigint")} DROP TABLE found; ${INDEX}`);
    const writer = new Writer(new PostgresConnection(client, undefined));
    await writer.indexAll();
    await writer.setMeta("schema_version", String(SCHEMA_VERSION));
    return;
  }
  const message = `The memory in schema ${schema} has format ${version}; this server needs ${SCHEMA_VERSION}.`;
  throw new ToolError("unavailable", message, {
    hint: "Run export_graph with the server version that created it, then import_graph into another --space here.",
  });
}

/** pg_trgm is a trusted extension: users who may create in the database may install it. Without it, substrings are found by scanning. */
async function indexSubstrings(client: ClientBase): Promise<void> {
  const existing = await client.query(
    "SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'found_grams'",
  );
  if (existing.rowCount !== 0) return;
  await client.query("SAVEPOINT grams");
  try {
    const installed =
      "SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'";
    let { rows } = await client.query<{ name: string }>(installed);
    if (rows.length === 0) {
      // In a separate schema: since PostgreSQL 15, few users may create in public.
      await client.query("CREATE SCHEMA IF NOT EXISTS refmcp_extensions");
      await client.query("CREATE EXTENSION pg_trgm SCHEMA refmcp_extensions");
      ({ rows } = await client.query<{ name: string }>(installed));
    }
    const operators = `"${(rows[0]?.name ?? "").replaceAll('"', '""')}".gin_trgm_ops`;
    await client.query(`CREATE INDEX found_grams ON found USING gin (content ${operators})`);
    await client.query("RELEASE SAVEPOINT grams");
  } catch {
    await client.query("ROLLBACK TO SAVEPOINT grams");
  }
}
