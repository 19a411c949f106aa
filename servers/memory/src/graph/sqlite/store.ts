import { stat } from "node:fs/promises";
import { ToolError } from "@refmcp/core/answer";
import { keyedLock } from "@refmcp/core/boundary";
import { loadSqlite } from "@refmcp/sql/native";
import type { Database } from "better-sqlite3";
import type { Model } from "../embeddings/model.ts";
import { Reader } from "../sql/reader.ts";
import { Writer } from "../sql/writer.ts";
import type { Stop, Store } from "../store.ts";
import { codeOf, explained, isBusy, lockHeld, readOnly } from "./failures.ts";
import { LOCK_WAIT_MS, type OpenedFile, openFile, untilFree } from "./file.ts";
import { SqliteSession } from "./session.ts";

/**
 * Opens or creates a memory in a SQLite file.
 *
 * @param file an absolute path.
 * @throws ToolError `unavailable`, `denied` or `invalid`; see `openFile`.
 */
export async function openSqliteStore(file: string): Promise<Store> {
  const Sqlite = await loadSqlite(", or use PostgreSQL with --store postgres://…");
  return new SqliteStore(file, await openFile(Sqlite, file));
}

/**
 * A graph in one SQLite file in WAL mode: readers never wait for the writer, and one process writes at a time. This process has
 * one connection for writing and one for reading, each used by one task at a time.
 */
class SqliteStore implements Store {
  readonly kind = "sqlite";
  readonly location: string;
  model: Model | undefined;
  readonly #reader: Database;
  readonly #writer: Database | undefined;
  readonly #readSession: SqliteSession;
  readonly #writeSession: SqliteSession | undefined;
  /** Separate queues for reading and writing. */
  readonly #inTurn = keyedLock();

  constructor(file: string, { reader, writer }: OpenedFile) {
    this.location = file;
    this.#reader = reader;
    this.#writer = writer;
    this.#readSession = new SqliteSession(reader);
    this.#writeSession = writer === undefined ? undefined : new SqliteSession(writer);
  }

  read<Value>(work: (reader: Reader) => Promise<Value>, stop?: Stop): Promise<Value> {
    return this.#inTurn("read", async () => {
      this.#readSession.stop = stop;
      try {
        this.#reader.exec("BEGIN");
        return await work(new Reader(this.#readSession));
      } catch (error) {
        throw explained(error, this.location);
      } finally {
        rollBack(this.#reader);
      }
    });
  }

  write<Value>(work: (writer: Writer) => Promise<Value>, stop?: Stop): Promise<Value> {
    const db = this.#writer;
    const session = this.#writeSession;
    if (db === undefined || session === undefined) return Promise.reject(readOnly(this.location));
    return this.#inTurn("write", async () => {
      session.stop = stop;
      try {
        await this.#lock(db, stop);
        const writer = new Writer(session);
        const value = await work(writer);
        await writer.finish();
        // The last moment at which a cancelled call still leaves no trace.
        stop?.throwIfAborted();
        db.exec("COMMIT");
        return value;
      } catch (error) {
        throw explained(error, this.location);
      } finally {
        rollBack(db);
      }
    });
  }

  /** Takes the write lock of the file; waits for other processes without blocking this one. */
  async #lock(db: Database, stop: Stop | undefined): Promise<void> {
    try {
      await untilFree(() => {
        stop?.throwIfAborted();
        db.exec("BEGIN IMMEDIATE");
      });
    } catch (error) {
      throw isBusy(error) ? lockHeld(this.location, LOCK_WAIT_MS / 1000) : error;
    }
  }

  /** `PRAGMA data_version` changes with the commits of all other connections, including our writer. */
  async version(): Promise<number> {
    return this.#inTurn("read", async () => Number(this.#reader.pragma("data_version", { simple: true })));
  }

  /**
   * The index's own secure-delete does not work for a contentless index: `optimize` rewrites it without deleted rows,
   * `secure_delete` overwrites what that frees, and the checkpoint empties the WAL.
   */
  scrub(): Promise<string | undefined> {
    // No reader of this process may block the checkpoint.
    return this.#inTurn("read", () =>
      this.#inTurn("write", async () => {
        this.#writer?.exec("INSERT INTO search (search) VALUES ('optimize')");
        const busy = this.#writer?.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
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
    await this.#inTurn("read", async () => this.#reader.close());
    await this.#inTurn("write", async () => {
      try {
        this.#writer?.close();
      } catch (error) {
        if (codeOf(error) === undefined && !(error instanceof ToolError)) throw error;
      }
    });
  }
}

/** Ends a transaction that was not committed. */
function rollBack(db: Database): void {
  if (db.open && db.inTransaction) db.exec("ROLLBACK");
}
