import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import type { Statement } from "better-sqlite3";
import { openNodes, readGraph } from "../read/read.ts";
import { searchNodes } from "../search/search.ts";
import { Reader } from "../store/reader.ts";
import { SqliteConnection } from "../store/sqlite-connection.ts";
import type { Store } from "../store/store.ts";

/** The jobs that are fast enough for the main thread in a small memory. */
const JOBS = { openNodes, readGraph, searchNodes };

/** A larger memory is read in the thread: entities and observations, and bytes of the file. Below, a search takes 20 ms at most. */
const [MAX_ROWS, MAX_BYTES] = [2_000, 1024 * 1024];
const MAX_ANSWERS = 20;

/**
 * Reads a small memory in the main thread, over its own read-only connection. A message to the thread and back costs more than
 * the search itself. Everything unusual is left to the thread: a large memory, a locked or damaged file.
 */
export class NearReader {
  readonly #connection: SqliteConnection;
  readonly #store: Store;
  /** Answers about the memory in this version. */
  readonly #answers = new Map<string, string>();
  #version = Number.NaN;
  #size: Statement<[], { rows: number; bytes: number }> | undefined;
  /** One job at a time: a connection has one transaction. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(connection: SqliteConnection, location: string) {
    this.#connection = connection;
    const { db } = connection;
    const refuse = () => Promise.reject(new TypeError("the main thread only reads"));
    this.#store = {
      kind: "sqlite",
      location,
      async read(work) {
        db.exec("BEGIN");
        try {
          return await work(new Reader(connection));
        } finally {
          if (db.inTransaction) db.exec("ROLLBACK");
        }
      },
      write: refuse,
      version: refuse,
      overwriteErased: refuse,
      size: refuse,
      close: refuse,
    };
  }

  /** @param file a memory that the thread has open; undefined if it cannot be read here. */
  static async open(file: string): Promise<NearReader | undefined> {
    try {
      const Sqlite = await loadSqlite("");
      const near = new NearReader(
        new SqliteConnection(new Sqlite(file, { readonly: true, timeout: 0 })),
        file,
      );
      if (near.#isSmall()) return near;
      near.close();
      return undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Runs a job.
   *
   * @returns its result as JSON; undefined if the thread has to do it.
   * @throws ToolError what the job throws.
   */
  run(name: string, args: readonly unknown[]): Promise<string | undefined> {
    const job = Object.entries(JOBS).find(([one]) => one === name)?.[1];
    if (job === undefined) return Promise.resolve(undefined);
    const running = this.#last.then(async () => {
      try {
        if (!this.#connection.db.open || !this.#isSmall()) return undefined;
        return await this.#answer(JSON.stringify([name, args]), () =>
          Reflect.apply(job, undefined, [this.#store, ...args]),
        );
      } catch (error) {
        if (error instanceof ToolError) throw error;
        return undefined;
      }
    });
    this.#last = running.catch(() => undefined);
    return running;
  }

  /** The answer to the same question about the same memory, which hosts often ask (read_graph), is kept. */
  async #answer(question: string, work: () => Promise<object>): Promise<string> {
    // It changes with every commit of any process.
    const version = Number(this.#connection.db.pragma("data_version", { simple: true }));
    if (version !== this.#version || this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
    this.#version = version;
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const answer = JSON.stringify(await work());
    this.#answers.set(question, answer);
    return answer;
  }

  #isSmall(): boolean {
    const { db } = this.#connection;
    this.#size ??= db.prepare(
      "SELECT sum(live) AS rows, (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) AS bytes FROM counters WHERE kind < 2",
    );
    const { rows = 0, bytes = 0 } = this.#size.get() ?? {};
    return rows <= MAX_ROWS && bytes <= MAX_BYTES;
  }

  close(): void {
    this.#connection.db.close();
  }
}
