import { ToolError } from "@refmcp/boundary/answer";
import type { Log } from "@refmcp/core/internal/log";
import { internalError } from "@refmcp/core/internal/protocol/errors";
import type { StoredTask, TaskCommand } from "@refmcp/core/internal/protocol/own-task";
import type { TaskStore } from "@refmcp/core/internal/protocol/tasks";
import type { Client, Pool, QueryResult } from "pg";

const CHANNEL = "refmcp_tasks";
/** How often a process renews its claim to its tasks, in milliseconds, and after how many seconds it is lost. */
const RENEW_MS = 15_000;
const LOST_AFTER_S = 60;
const RECONNECT_MS = 1_000;
const TIMEOUT_MS = 10_000;

// The text of a task may have \u0000, which jsonb rejects. The lock keeps two processes from creating the tables at once.
const TABLES = `
  SELECT pg_advisory_xact_lock(hashtext('refmcp_tasks'));
  CREATE TABLE IF NOT EXISTS refmcp_tasks (
    id text PRIMARY KEY,
    server text NOT NULL,
    owner text NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    expires timestamptz NOT NULL,
    renewed timestamptz NOT NULL DEFAULT now(),
    task text NOT NULL
  );
  CREATE INDEX IF NOT EXISTS refmcp_tasks_owner ON refmcp_tasks (server, owner);
  CREATE TABLE IF NOT EXISTS refmcp_task_commands (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL REFERENCES refmcp_tasks ON DELETE CASCADE,
    command text NOT NULL
  )`;

interface Row {
  readonly task: string;
  readonly is_lost: boolean;
}
const COLUMNS = `task, renewed < now() - interval '${LOST_AFTER_S} s' AS is_lost`;

/**
 * Keeps tasks in PostgreSQL, so that every process with the same database finds them. Commands for a task and changes
 * of its state reach the other processes by LISTEN and NOTIFY, which need a separate session (no transaction pooler).
 *
 * @param server the server's name; several servers may share a database.
 */
export class PostgresTaskStore implements TaskStore {
  readonly #url: string;
  readonly #server: string;
  readonly #log: Log;
  /** The tasks that this process runs. */
  readonly #own = new Set<string>();
  readonly #process = crypto.randomUUID();
  #event: (id: string, command?: TaskCommand) => void = () => undefined;
  #pool: Promise<Pool> | undefined;
  #listener: Client | undefined;
  #renewing: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string, server: string, log: Log) {
    this.#url = url;
    this.#server = server;
    this.#log = log;
  }

  listen(event: (id: string, command?: TaskCommand) => void): void {
    this.#event = event;
  }

  async put(task: StoredTask): Promise<void> {
    const { id, owner, status, createdAt, ttlMs } = task;
    const isRunning = status === "working" || status === "input_required";
    if (isRunning) this.#own.add(id);
    await this.#query(
      `WITH kept AS (
         INSERT INTO refmcp_tasks (id, server, owner, expires, task)
         VALUES ($1, $2, $3, to_timestamp($4), $5)
         ON CONFLICT (id) DO UPDATE SET expires = excluded.expires, renewed = now(), task = excluded.task
         RETURNING id
       ) SELECT pg_notify($6, $7) FROM kept`,
      [
        id,
        this.#server,
        owner,
        (createdAt + ttlMs) / 1_000,
        JSON.stringify(task),
        CHANNEL,
        this.#note(id),
      ],
    );
    if (!isRunning) this.#own.delete(id);
  }

  async get(id: string): Promise<StoredTask | undefined> {
    const { rows } = await this.#query<Row>(
      `SELECT ${COLUMNS} FROM refmcp_tasks WHERE id = $1 AND server = $2 AND expires > now()`,
      [id, this.#server],
    );
    return rows.map(taskOf)[0];
  }

  async list(owner: string): Promise<readonly StoredTask[]> {
    const { rows } = await this.#query<Row>(
      `SELECT ${COLUMNS} FROM refmcp_tasks WHERE server = $1 AND owner = $2 AND expires > now()
       ORDER BY created DESC LIMIT 1000`,
      [this.#server, owner],
    );
    return rows.map(taskOf);
  }

  async send(id: string, command: TaskCommand): Promise<void> {
    await this.#query(
      `WITH sent AS (
         INSERT INTO refmcp_task_commands (id, command) SELECT id, $2 FROM refmcp_tasks WHERE id = $1 RETURNING id
       ) SELECT pg_notify($3, $4) FROM sent`,
      [id, JSON.stringify(command), CHANNEL, this.#note(id)],
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#renewing);
    await this.#listener?.end().catch(() => undefined);
    await (await this.#pool?.catch(() => undefined))?.end();
  }

  /** What a notification says: from which process, and which task. */
  #note(id: string): string {
    return `${this.#process} ${id}`;
  }

  async #query<Result extends object>(
    text: string,
    values: unknown[],
  ): Promise<QueryResult<Result>> {
    try {
      this.#pool ??= this.#open();
      return await (await this.#pool).query<Result>(text, values);
    } catch (error) {
      this.#log.warning(`The database of tasks: ${messageOf(error)}`);
      throw new ToolError("unavailable", "The database that keeps the tasks did not answer.", {
        hint: "Try again later.",
      });
    }
  }

  async #open(): Promise<Pool> {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ ...this.#connection, max: 4, query_timeout: TIMEOUT_MS });
    // A lost idle connection is replaced by the next query.
    pool.on("error", (error) => this.#log.debug(`The database of tasks: ${error.message}`));
    try {
      await pool.query(TABLES);
      await this.#connect();
    } catch (error) {
      this.#pool = undefined;
      await pool.end();
      throw error;
    }
    this.#renewing = setInterval(() => void this.#renew(pool), RENEW_MS).unref();
    return pool;
  }

  get #connection() {
    return { connectionString: this.#url, connectionTimeoutMillis: TIMEOUT_MS };
  }

  /** Opens the session that is told of changes, and again when it is lost. */
  async #connect(): Promise<void> {
    const { default: pg } = await import("pg");
    const client = new pg.Client(this.#connection);
    client.on("error", (error) => this.#log.warning(`The database of tasks: ${error.message}`));
    client.on("notification", ({ payload = "" }) => void this.#told(payload));
    await client.connect();
    client.on("end", () => this.#reconnectSoon());
    this.#listener = client;
    await client.query(`LISTEN ${CHANNEL}`);
  }

  #reconnectSoon(): void {
    if (!this.#isClosed) setTimeout(() => void this.#reconnect(), RECONNECT_MS).unref();
  }

  async #reconnect(): Promise<void> {
    try {
      await this.#connect();
      // What was sent in between was not heard.
      for (const id of this.#own) await this.#take(id);
    } catch (error) {
      this.#log.warning(`The database of tasks: ${messageOf(error)}`);
      this.#reconnectSoon();
    }
  }

  async #told(payload: string): Promise<void> {
    const [from, id = ""] = payload.split(" ", 2);
    if (from === this.#process) return;
    if (this.#own.has(id)) await this.#take(id).catch(() => undefined);
    else this.#event(id);
  }

  /** Takes the commands for a task of this process. */
  async #take(id: string): Promise<void> {
    const { rows } = await this.#query<{ number: string; command: string }>(
      "DELETE FROM refmcp_task_commands WHERE id = $1 RETURNING number, command",
      [id],
    );
    const inOrder = rows.toSorted((a, b) => Number(BigInt(a.number) - BigInt(b.number)));
    for (const { command } of inOrder) this.#event(id, JSON.parse(command));
  }

  async #renew(pool: Pool): Promise<void> {
    try {
      await pool.query("UPDATE refmcp_tasks SET renewed = now() WHERE id = ANY($1)", [
        [...this.#own],
      ]);
      await pool.query("DELETE FROM refmcp_tasks WHERE expires < now()");
    } catch (error) {
      this.#log.warning(`The database of tasks: ${messageOf(error)}`);
    }
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** A task, which has failed if the process that ran it is gone. */
function taskOf({ task: text, is_lost }: Row): StoredTask {
  const task: StoredTask = JSON.parse(text);
  if (!is_lost || (task.status !== "working" && task.status !== "input_required")) return task;
  const error = internalError("The process that ran this task ended before it was finished.");
  return {
    ...task,
    status: "failed",
    inputRequests: undefined,
    error,
    statusMessage: error.message,
  };
}
