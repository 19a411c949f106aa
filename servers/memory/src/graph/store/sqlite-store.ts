import { stat } from "node:fs/promises";
import { keyedLock } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import type { Database } from "better-sqlite3";
import type { Model } from "../search/embedding-model.ts";
import { Reader } from "./reader.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { codeOf, explained, indexDamaged, isBusy, lockHeld, maybeIndex, readOnly } from "./sqlite-errors.ts";
import { LOCK_WAIT_MS, type OpenedFile, openFile, untilFree } from "./sqlite-file.ts";
import { indexProblem, rebuildIndex } from "./sqlite-search-index.ts";
import type { Stop, Store } from "./store.ts";
import { Writer } from "./writer.ts";

/**
 * Opens or creates a memory in a SQLite file, and rebuilds a damaged search index.
 *
 * @param file an absolute path.
 * @throws ToolError `unavailable`, `denied` or `invalid`; see `openFile`.
 */
export async function openSqliteStore(file: string): Promise<Store> {
  const Sqlite = await loadSqlite(", or use PostgreSQL with --store postgres://…");
  const store = new SqliteStore(file, await openFile(Sqlite, file));
  try {
    await store.checkIndex();
    return store;
  } catch (error) {
    await store.close();
    throw explained(error, file);
  }
}

/**
 * A graph in one SQLite file in WAL mode: readers never wait for the writer, and one process writes at a time. This process has
 * one connection for writing and one for reading, each used by one task at a time.
 */
class SqliteStore implements Store {
  readonly kind = "sqlite";
  readonly location: string;
  model: Model | undefined;
  warning: string | undefined;
  readonly #reader: SqliteConnection;
  readonly #writer: SqliteConnection | undefined;
  /** Separate queues for reading and writing. */
  readonly #inTurn = keyedLock();

  constructor(file: string, { reader, writer }: OpenedFile) {
    this.location = file;
    this.#reader = new SqliteConnection(reader);
    this.#writer = writer && new SqliteConnection(writer);
  }

  read<Value>(work: (reader: Reader) => Promise<Value>, stop?: Stop): Promise<Value> {
    return this.#transaction("read", this.#reader, stop, (connection) => {
      connection.db.exec("BEGIN");
      return work(new Reader(connection));
    });
  }

  write<Value>(work: (writer: Writer) => Promise<Value>, stop?: Stop): Promise<Value> {
    if (this.#writer === undefined) return Promise.reject(readOnly(this.location));
    return this.#transaction("write", this.#writer, stop, async (connection) => {
      await this.#lock(connection.db, stop);
      const writer = new Writer(connection);
      const value = await work(writer);
      await writer.finish();
      // The last point at which a cancelled call still has no effect.
      stop?.throwIfAborted();
      connection.db.exec("COMMIT");
      return value;
    });
  }

  /**
   * Runs some work when its queue reaches it; what it did not commit is rolled back. If it fails because the search index is
   * damaged, that is rebuilt.
   */
  async #transaction<Value>(
    queue: "read" | "write",
    connection: SqliteConnection,
    stop: Stop | undefined,
    work: (connection: SqliteConnection) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await this.#alone(queue, connection, stop, work);
    } catch (error) {
      const problem = maybeIndex(error) ? indexProblem(this.#reader.db) : undefined;
      if (problem === undefined) throw explained(error, this.location);
      throw indexDamaged(this.location, problem, await this.#rebuildIndex());
    }
  }

  #alone<Value>(
    queue: "read" | "write",
    connection: SqliteConnection,
    stop: Stop | undefined,
    work: (connection: SqliteConnection) => Promise<Value>,
  ): Promise<Value> {
    return this.#inTurn(queue, async () => {
      connection.stop = stop;
      try {
        return await work(connection);
      } finally {
        if (connection.db.open && connection.db.inTransaction) connection.db.exec("ROLLBACK");
      }
    });
  }

  /** Rebuilds a damaged search index, or warns if the file is read-only. */
  async checkIndex(): Promise<void> {
    const problem = indexProblem(this.#reader.db, true);
    if (problem === undefined) return;
    const what = `The search index of ${this.location} ${this.#writer === undefined ? "is" : "was"} damaged (${problem})`;
    this.warning = (await this.#rebuildIndex())
      ? `${what} and has been rebuilt from the stored facts. Nothing is lost.`
      : `${what}, and the file is read-only: searches can miss entities.`;
  }

  /** @returns false if the file is read-only */
  async #rebuildIndex(): Promise<boolean> {
    const writer = this.#writer;
    if (writer === undefined) return false;
    await this.#alone("write", writer, undefined, async ({ db }) => {
      await this.#lock(db, undefined);
      // Another process may have rebuilt it since.
      if (indexProblem(db) === undefined) return;
      await rebuildIndex(writer, this.location);
      db.exec("COMMIT");
    });
    return true;
  }

  /** Takes the write lock of the file; waits for other processes without blocking this one. */
  async #lock(db: Database, stop: Stop | undefined): Promise<void> {
    try {
      await untilFree(() => {
        stop?.throwIfAborted();
        db.exec("BEGIN IMMEDIATE");
      });
    } catch (error) {
      throw isBusy(error) ? lockHeld(this.location, LOCK_WAIT_MS / 1000, error) : error;
    }
  }

  /** `PRAGMA data_version` changes with the commits of all other connections, including our writer. */
  async version(): Promise<number> {
    return this.#inTurn("read", async () => Number(this.#reader.db.pragma("data_version", { simple: true })));
  }

  /**
   * The index's own secure-delete does not work for a contentless index: `optimize` rewrites it without deleted rows,
   * `secure_delete` overwrites what that frees, and the checkpoint empties the WAL.
   */
  overwriteErased(): Promise<string | undefined> {
    // No reader of this process may block the checkpoint.
    return this.#inTurn("read", () =>
      this.#inTurn("write", async () => {
        this.#writer?.db.exec("INSERT INTO search (search) VALUES ('optimize')");
        const busy = this.#writer?.db.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
        return busy === 0
          ? undefined
          : `Another process is reading: the old text stays in ${this.location}-wal until all processes have closed the memory.`;
      }),
    );
  }

  async size(): Promise<number> {
    const bytes = async (file: string) => (await stat(file).catch(() => undefined))?.size ?? 0;
    return (await bytes(this.location)) + (await bytes(`${this.location}-wal`));
  }

  async close(): Promise<void> {
    // Queued work is finished before the connections are closed.
    await this.#inTurn("read", async () => this.#reader.db.close());
    await this.#inTurn("write", async () => {
      try {
        this.#writer?.db.close();
      } catch (error) {
        if (codeOf(error) === undefined && !(error instanceof ToolError)) throw error;
      }
    });
  }
}
