import { stat } from "node:fs/promises";
import { Line } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import type { Database } from "better-sqlite3";
import { damaged, explainedSqlite, failure, readOnly, sqliteCode } from "../errors.ts";
import { fold, spaced, wordsOf } from "../text.ts";
import type { Stop } from "./connection.ts";
import { Reader } from "./reader.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import {
  isBusy,
  LOCK_WAIT_MS,
  openFile,
  SEARCH_INDEX,
  untilFree,
  versionOf,
} from "./sqlite-file.ts";
import type { Store } from "./store.ts";
import { SCHEMA_VERSION, upgradeOf } from "./tables.ts";
import { Writer } from "./writer.ts";

/**
 * Opens or creates a memory in a SQLite file in WAL mode, and rebuilds a damaged search index. Readers never wait for the writer,
 * and one process writes at a time. This process has one connection for writing and one for reading, each used by one task at a time.
 *
 * @param file an absolute path.
 * @throws ToolError `unavailable`, `denied` or `invalid`; see `openFile`.
 */
export async function openSqliteStore(file: string): Promise<Store> {
  const opened = await openFile(
    await loadSqlite(", or use PostgreSQL with --store postgres://…"),
    file,
  );
  const reading = new SqliteConnection(opened.reader);
  const writing = opened.writer && new SqliteConnection(opened.writer);
  /** Separate queues for reading and writing. */
  const line = new Line();

  const alone = <Value>(
    queue: "read" | "write",
    connection: SqliteConnection,
    stop: Stop | undefined,
    work: (connection: SqliteConnection) => Promise<Value>,
  ) =>
    line.run(queue, async () => {
      connection.stop = stop;
      try {
        return await work(connection);
      } finally {
        if (connection.db.open && connection.db.inTransaction) connection.db.exec("ROLLBACK");
      }
    });

  /** Takes the write lock of the file; waits for other processes without blocking this one. */
  const lock = async (db: Database, stop?: Stop) => {
    try {
      await untilFree(() => {
        stop?.throwIfAborted();
        db.exec("BEGIN IMMEDIATE");
      });
    } catch (cause) {
      if (!isBusy(cause)) throw cause;
      const message = `Another process has held the write lock of ${file} for ${LOCK_WAIT_MS / 1000} s.`;
      throw failure("locked", message, {
        hint: "Repeat the call later. If this persists, find the process that has the file open and end it.",
        cause,
      });
    }
  };

  /** Rebuilds the search index; the return value says whether the file is writable. */
  const rebuild = async () => {
    if (writing === undefined) return false;
    await alone("write", writing, undefined, async ({ db }) => {
      await lock(db);
      // Another process may have rebuilt it since.
      if (indexProblem(db) === undefined) return;
      await rebuildIndex(writing, file);
      db.exec("COMMIT");
    });
    return true;
  };

  /**
   * Runs some work when its queue reaches it; what it did not commit is rolled back. If it fails because the search index is
   * damaged, that is rebuilt.
   */
  const transaction: typeof alone = async (queue, connection, stop, work) => {
    try {
      return await alone(queue, connection, stop, work);
    } catch (error) {
      const isSuspect = /^SQLITE_(?:CORRUPT|CONSTRAINT|ERROR)/.test(sqliteCode(error));
      const problem = isSuspect ? indexProblem(reading.db) : undefined;
      if (problem === undefined) throw explainedSqlite(error, file);
      throw (await rebuild())
        ? failure(
            "index_damaged",
            `The search index of ${file} was damaged (${problem}) and has been rebuilt. This call changed nothing.`,
            { cause: problem },
          )
        : failure(
            "index_damaged",
            `The search index of ${file} is damaged (${problem}), and the file is read-only.`,
            {
              hint: "Make the file and its directory writable, then repeat the call. Tools that do not search still work.",
              cause: problem,
            },
          );
    }
  };

  const close = async () => {
    // Queued work is finished before the connections are closed.
    await line.run("read", async () => reading.db.close());
    await line.run("write", async () => {
      try {
        writing?.db.close();
      } catch (error) {
        if (sqliteCode(error) === "" && !(error instanceof ToolError)) throw error;
      }
    });
  };

  /** Upgrades a file of the previous format, in one transaction. */
  const upgrade = async () => {
    if (writing === undefined || versionOf(writing.db) === SCHEMA_VERSION) return;
    await alone("write", writing, undefined, async ({ db }) => {
      await lock(db);
      // Another process may have upgraded it since.
      if (versionOf(db) === SCHEMA_VERSION) return;
      db.exec(upgradeOf("INTEGER"));
      await rebuildIndex(writing, file);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
      db.exec("COMMIT");
    });
  };

  /** Rebuilds a damaged search index, or warns if the file is read-only. */
  const checkIndex = async () => {
    const problem = indexProblem(reading.db, true);
    if (problem === undefined) return undefined;
    return (await rebuild())
      ? `The search index of ${file} was damaged (${problem}) and has been rebuilt from the stored facts. Nothing is lost.`
      : `The search index of ${file} is damaged (${problem}), and the file is read-only: searches can miss entities.`;
  };

  try {
    await upgrade();
    return {
      kind: "sqlite",
      location: file,
      warning: await checkIndex(),
      read: (work, stop) =>
        transaction("read", reading, stop, (connection) => {
          connection.db.exec("BEGIN");
          return work(new Reader(connection));
        }),
      async write(work, stop) {
        if (writing === undefined) throw readOnly(file);
        return transaction("write", writing, stop, async (connection) => {
          await lock(connection.db, stop);
          const writer = new Writer(connection);
          const value = await work(writer);
          await writer.finish();
          // The last point at which a cancelled call still has no effect.
          stop?.throwIfAborted();
          connection.db.exec("COMMIT");
          return value;
        });
      },
      // `PRAGMA data_version` changes with the commits of all other connections, including our writer.
      version: () =>
        line.run("read", async () => Number(reading.db.pragma("data_version", { simple: true }))),
      // The index's own secure-delete does not work for a contentless index: `optimize` rewrites it without deleted rows,
      // `secure_delete` overwrites what that frees, and the checkpoint empties the WAL, unless a reader of this process blocks it.
      overwriteErased: () =>
        line.run("read", () =>
          line.run("write", async () => {
            writing?.db.exec("INSERT INTO search (search) VALUES ('optimize')");
            const busy = writing?.db.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
            if (busy === 0) return undefined;
            return `Another process is reading: the old text stays in ${file}-wal until all processes have closed the memory.`;
          }),
        ),
      async size() {
        const bytes = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;
        return (await bytes(file)) + (await bytes(`${file}-wal`));
      },
      close,
    };
  } catch (error) {
    await close();
    throw explainedSqlite(error, file);
  }
}

/** With more rows, opening a memory does not read the whole index to check it. */
const MAX_CHECKED = 100_000;
/** How many entities are tried until one has a name that can be looked up. */
const MAX_TRIED = 20;
const PROBE_WORDS = 5;

/**
 * What is wrong with the search index; undefined if nothing was found. FTS5's own check, which does not see missing rows of
 * every table of the index, is left out for a large memory if `isOpening`.
 */
function indexProblem(db: Database, isOpening = false): string | undefined {
  const look = db.transaction(() => {
    const { indexed = 0, live = 0 } =
      db
        .prepare<[], { indexed: number; live: number }>(
          "SELECT (SELECT count(*) FROM search_docsize) AS indexed, sum(live) AS live FROM counters WHERE kind IN (0, 1)",
        )
        .get() ?? {};
    if (indexed !== live) return `it has ${indexed} of ${live} rows`;
    if (!isOpening || live <= MAX_CHECKED) {
      const found = String(db.pragma("quick_check(search)", { simple: true }));
      if (found !== "ok") return found;
    }
    return hasNewest(db) ? undefined : "it lacks an entity's name";
  });
  try {
    return look.deferred();
  } catch (error) {
    return isBusy(error) ? undefined : String(error);
  }
}

/** Whether a search for the name of one of the newest entities finds it, with a rank. */
function hasNewest(db: Database): boolean {
  const newest = db
    .prepare<[number], { id: number; name: string }>(
      "SELECT id, name FROM entities WHERE removed_by IS NULL ORDER BY id DESC LIMIT ?",
    )
    .all(MAX_TRIED)
    // Every Node.js version folds ASCII alike.
    .find(({ name }) => /^[ -~]*[a-z0-9][ -~]*$/i.test(name));
  if (newest === undefined) return true;
  const words = wordsOf(spaced(fold(newest.name))).slice(0, PROBE_WORDS);
  const probe = db.prepare("SELECT bm25(search) FROM search WHERE search MATCH ? AND rowid = ?");
  return probe.get(`name : "${words.join(" ")}"`, -newest.id) !== undefined;
}

/** Tables that are not derived from others. */
const STORED = ["entities", "observations", "relations", "changes", "counters", "meta"];

/**
 * Makes a damaged search index from the stored texts again, inside a transaction that locks the file.
 *
 * @throws ToolError `unavailable` if more than the index is damaged.
 */
async function rebuildIndex(connection: SqliteConnection, file: string): Promise<void> {
  const { db } = connection;
  for (const table of STORED) {
    const found = String(db.pragma(`quick_check(${table})`, { simple: true }));
    if (found !== "ok") throw damaged(file, found);
  }
  // Otherwise the tables inside the index cannot be written.
  db.unsafeMode(true);
  try {
    // FTS5 does not even drop an index that has lost its version.
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'search_config'").get() !== undefined)
      db.exec("INSERT OR REPLACE INTO search_config (k, v) VALUES ('version', 4)");
    db.exec(`DROP TABLE IF EXISTS terms; DROP TABLE IF EXISTS search; ${SEARCH_INDEX}`);
  } finally {
    db.unsafeMode(false);
  }
  await new Writer(connection).indexAll();
}
