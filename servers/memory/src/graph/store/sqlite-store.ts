import { statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Line } from "@refmcp/boundary";
import { loadSqlite } from "@refmcp/sql/native";
import type { Database } from "better-sqlite3";
import { explainedSqlite, failure, readOnly, sqliteCode } from "../errors.ts";
import { Reader } from "./reader.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { isBusy, LOCK_WAIT_MS, openFile, untilFree } from "./sqlite-file.ts";
import { indexProblem, rebuildIndex } from "./sqlite-index.ts";
import type { Store } from "./store.ts";
import { Writer } from "./writer.ts";

/** A WAL of this size is written back to the file. */
const MAX_WAL_BYTES = 16_000_000;
/** Pages of the search index that one step of a merge writes: a few milliseconds. */
const MERGED_AT_ONCE = 200;

/**
 * Opens or creates a memory in a SQLite file in WAL mode, and rebuilds a damaged search index. Readers never wait for
 * the writer, and one process writes at a time. This process has one connection for writing and one for reading, each
 * used by one task at a time.
 *
 * @param file an absolute path.
 * @throws ToolError `unavailable`, `denied` or `invalid`; see `openFile`.
 */
export async function openSqliteStore(file: string): Promise<Store> {
  const { reader, writer } = await openFile(
    await loadSqlite(", or use PostgreSQL with --store postgres://…"),
    file,
  );
  const store = new SqliteStore(file, reader, writer);
  try {
    return { ...store.functions(), warning: await store.checkIndex() };
  } catch (error) {
    await store.close();
    throw explainedSqlite(error, file);
  }
}

type Work<Value> = (connection: SqliteConnection) => Promise<Value>;

class SqliteStore {
  readonly #file: string;
  readonly #reading: SqliteConnection;
  /** Undefined if the file is read-only. */
  readonly #writing: SqliteConnection | undefined;
  /** Separate queues for reading and writing. */
  readonly #line = new Line();

  constructor(file: string, reader: Database, writer: Database | undefined) {
    this.#file = file;
    this.#reading = new SqliteConnection(reader);
    this.#writing = writer && new SqliteConnection(writer);
  }

  functions(): Store {
    return {
      kind: "sqlite",
      location: this.#file,
      read: (work, signal) =>
        this.#transaction("read", this.#reading, signal, (connection) => {
          connection.db.exec("BEGIN");
          return work(new Reader(connection));
        }),
      write: async (work, signal) => {
        if (this.#writing === undefined) throw readOnly(this.#file);
        return this.#transaction("write", this.#writing, signal, async (connection) => {
          await this.#lock(connection.db, signal);
          const value = await work(new Writer(connection));
          // What follows a large change takes turns of the event loop. A savepoint makes FTS5 write what it holds.
          await nextTurn();
          connection.db.exec("SAVEPOINT indexed; RELEASE indexed");
          await nextTurn();
          // The last point at which a cancelled call still has no effect.
          signal?.throwIfAborted();
          connection.db.exec("COMMIT");
          // Copies a large WAL to the file and empties it; while another process reads, a later write does.
          const wal = statSync(`${this.#file}-wal`, { throwIfNoEntry: false });
          for (const mode of (wal?.size ?? 0) < MAX_WAL_BYTES ? [] : ["PASSIVE", "TRUNCATE"]) {
            await nextTurn();
            connection.db.pragma(`wal_checkpoint(${mode})`);
          }
          return value;
        });
      },
      // It changes with the commits of all other connections, including our writer's (SQLite, "PRAGMA data_version").
      version: () =>
        this.#line.run("read", async () =>
          Number(this.#reading.db.pragma("data_version", { simple: true })),
        ),
      overwriteErased: () => this.#overwriteErased(),
      close: () => this.close(),
    };
  }

  /** Rebuilds a damaged search index, or warns if the file is read-only. @returns what its user should know */
  async checkIndex(): Promise<string | undefined> {
    const problem = indexProblem(this.#reading.db, true);
    if (problem === undefined) return undefined;
    return (await this.#rebuild())
      ? `The search index of ${this.#file} was damaged (${problem}) and has been rebuilt from the stored facts. Nothing is lost.`
      : `The search index of ${this.#file} is damaged (${problem}), and the file is read-only: searches can miss entities.`;
  }

  /** Closes the connections after queued work. */
  async close(): Promise<void> {
    await this.#line.run("read", async () => this.#reading.db.close());
    await this.#line.run("write", async () => {
      try {
        this.#writing?.db.close();
      } catch (error) {
        if (sqliteCode(error) === "") throw error;
      }
    });
  }

  /** Runs some work when its queue reaches it; what it did not commit is rolled back. */
  #alone<Value>(
    queue: "read" | "write",
    connection: SqliteConnection,
    signal: AbortSignal | undefined,
    work: Work<Value>,
  ): Promise<Value> {
    return this.#line.run(queue, async () => {
      connection.signal = signal;
      try {
        return await work(connection);
      } finally {
        if (connection.db.open && connection.db.inTransaction) connection.db.exec("ROLLBACK");
      }
    });
  }

  /** As `#alone`; if the work fails because the search index is damaged, that is rebuilt. */
  async #transaction<Value>(
    queue: "read" | "write",
    connection: SqliteConnection,
    signal: AbortSignal | undefined,
    work: Work<Value>,
  ): Promise<Value> {
    try {
      return await this.#alone(queue, connection, signal, work);
    } catch (error) {
      const isSuspect = /^SQLITE_(?:CORRUPT|CONSTRAINT|ERROR)/.test(sqliteCode(error));
      const problem = isSuspect ? indexProblem(connection.db) : undefined;
      if (problem === undefined) throw explainedSqlite(error, this.#file);
      const index = `The search index of ${this.#file}`;
      if (await this.#rebuild())
        throw failure(
          "index_damaged",
          `${index} was damaged (${problem}) and has been rebuilt. This call changed nothing.`,
          { cause: problem },
        );
      throw failure(
        "index_damaged",
        `${index} is damaged (${problem}), and the file is read-only.`,
        {
          hint: "Make the file and its directory writable, then repeat the call. Tools that do not search still work.",
          cause: problem,
        },
      );
    }
  }

  /** Takes the write lock of the file; waits for other processes without blocking this one. */
  async #lock(db: Database, signal?: AbortSignal): Promise<void> {
    try {
      await untilFree(() => {
        signal?.throwIfAborted();
        db.exec("BEGIN IMMEDIATE");
      });
    } catch (cause) {
      if (!isBusy(cause)) throw cause;
      const message = `Another process has held the write lock of ${this.#file} for ${LOCK_WAIT_MS / 1000} s.`;
      throw failure("locked", message, {
        hint: "Repeat the call later. If this persists, find the process that has the file open and end it.",
        cause,
      });
    }
  }

  /** Rebuilds the search index. @returns whether the file is writable */
  async #rebuild(): Promise<boolean> {
    const writing = this.#writing;
    if (writing === undefined) return false;
    await this.#alone("write", writing, undefined, async ({ db }) => {
      await this.#lock(db);
      // Another process may have rebuilt it since.
      if (indexProblem(db) === undefined) return;
      await rebuildIndex(writing, this.#file);
      db.exec("COMMIT");
    });
    return true;
  }

  /**
   * The index's own secure-delete does not work for a contentless index: merging all of it rewrites it without deleted
   * rows (SQLite, "FTS5", 6.8), `secure_delete` overwrites what that frees, and the checkpoint empties the WAL, unless a
   * reader blocks it.
   */
  #overwriteErased(): Promise<string | undefined> {
    return this.#line.run("read", () =>
      this.#line.run("write", async () => {
        const writing = this.#writing;
        if (writing === undefined) return undefined;
        const changes = writing.db.prepare<[], { count: number }>(
          "SELECT total_changes() AS count",
        );
        const merge = "INSERT INTO search (search, rank) VALUES ('merge', ?)";
        const count = () => changes.get()?.count ?? 0;
        // A negative number begins to merge everything; a step without work changes one row.
        for (
          let pages = -MERGED_AT_ONCE, before = -2;
          count() - before >= 2;
          pages = MERGED_AT_ONCE
        ) {
          before = count();
          await writing.all(merge, pages);
        }
        const busy = writing.db.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
        if (busy === 0) return undefined;
        return `Another process is reading: the old text stays in ${this.#file}-wal until all processes have closed the memory.`;
      }),
    );
  }
}
