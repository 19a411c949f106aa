import { type Deadline, Line, startDeadline } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Place } from "./handle.ts";
import type { Answer, Job, Op, Run } from "./jobs.ts";
import { ENDED, SqliteProcess } from "./process.ts";

interface PoolOptions {
  /** Memory limit of one process, in MB. */
  readonly memory: number;
  /** Statements that run at the same time; one look at the schema, and one export or import, may run in addition. */
  readonly max: number;
  /** How long a job waits for a process, in milliseconds. */
  readonly waitMs?: number;
  /** How long a process stays without a job, in milliseconds. */
  readonly idleMs?: number;
}

/** How long a statement waits for a process, and an export or import for the previous one, in milliseconds. */
const WAIT_MS = 10_000;
const TRANSFER_WAIT_MS = 120_000;
/** Starting a process takes about 0.1 s, so only calls in quick succession need one that is ready. */
const IDLE_MS = 60_000;
/** A process closes its files after this time without a job. */
const REST_MS = 1_000;

/** They only read, so they run again if their process ends by itself. */
const REPEATABLE: ReadonlySet<Op> = new Set<Op>(["read", "look", "seen", "plan"]);

/** Runs jobs in separate processes, which are started when they are needed. */
export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #statements: Line;
  readonly #looks = new Line(1);
  readonly #transfers = new Line(1);
  readonly #waiting = new Set<Deadline>();
  #isClosed = false;
  readonly #all = new Set<SqliteProcess>();
  /** Without a job, the last used at the end. */
  readonly #idle: SqliteProcess[] = [];
  #rest: NodeJS.Timeout | undefined;
  #retire: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = { waitMs: WAIT_MS, idleMs: IDLE_MS, ...options };
    this.#statements = new Line(options.max);
  }

  /**
   * Runs a job.
   *
   * @param isSchema whether it looks at the schema, which should not wait for long statements
   * @throws ToolError as `SqliteProcess.run`, or `unavailable` if no process is free in time
   */
  async run<Name extends Op>(
    op: Name,
    job: Job<Name> & { place: Place },
    run: Run,
    isSchema = false,
  ): Promise<Answer<Name>> {
    const { max, waitMs } = this.#options;
    const line = isSchema ? this.#looks : this.#statements;
    return await this.#inTurn(line, isSchema ? 1 : max, waitMs, run.signal, async () => {
      for (let attempt = 0; ; attempt++) {
        const process = this.#idle.pop() ?? this.#create();
        try {
          await process.ready;
          return await process.run(op, job, { ...run, file: job.place.file });
        } catch (error) {
          const isEnd = error instanceof ToolError && error.code === ENDED;
          const isAgain = attempt === 0 && !this.#isClosed && REPEATABLE.has(op);
          if (!isEnd || !isAgain) throw error;
        } finally {
          this.#release(process);
        }
      }
    });
  }

  /**
   * Provides a process for an export or import, one at a time, which queries need not wait for. It ends with its work.
   *
   * @param file to name in errors
   * @throws ToolError as `run`, and what `work` throws
   */
  async lease<Result>(
    file: string,
    run: Run,
    work: (
      ask: <Name extends Op>(op: Name, job: Job<Name>) => Promise<Answer<Name>>,
    ) => Promise<Result>,
  ): Promise<Result> {
    return await this.#inTurn(this.#transfers, 1, TRANSFER_WAIT_MS, run.signal, async () => {
      const process = this.#create();
      try {
        await process.ready;
        return await work((op, job) => process.run(op, job, { ...run, file }));
      } finally {
        process.kill();
      }
    });
  }

  /** Does work as soon as one of a line's places is free. @throws ToolError `unavailable` if none is in time */
  async #inTurn<Result>(
    line: Line,
    places: number,
    waitMs: number,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) throw closed();
    const deadline = startDeadline(waitMs, signal, () => tooBusy(places, waitMs));
    this.#waiting.add(deadline);
    const end = () => {
      deadline.end();
      this.#waiting.delete(deadline);
    };
    const begin = () => {
      end();
      deadline.signal.throwIfAborted();
      return work();
    };
    return await line.run("", begin, deadline.signal).finally(end);
  }

  #create(): SqliteProcess {
    const process: SqliteProcess = new SqliteProcess(this.#options.memory, () => {
      this.#all.delete(process);
      const at = this.#idle.indexOf(process);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#all.add(process);
    return process;
  }

  #release(process: SqliteProcess): void {
    if (this.#all.has(process)) this.#idle.push(process);
    this.#rest ??= setTimeout(() => this.#idle.map((idle) => idle.rest()), REST_MS).unref();
    this.#rest.refresh();
    const retire = () => this.#idle.splice(0).map((idle) => idle.kill());
    this.#retire ??= setTimeout(retire, this.#options.idleMs).unref();
    this.#retire.refresh();
  }

  /** Ends all processes, even during a job. */
  close(): void {
    this.#isClosed = true;
    for (const { abort } of this.#waiting) abort(closed());
    for (const timer of [this.#rest, this.#retire]) clearTimeout(timer);
    for (const process of this.#all) process.kill();
  }
}

const closed = () => new ToolError("unavailable", "The server is closing.");

const tooBusy = (max: number, waitMs: number) =>
  new ToolError(
    "unavailable",
    `${max === 1 ? "Another statement has" : `${max} other statements have`} been running for ${waitMs / 1_000} s.`,
    { hint: "Try again later. --query-timeout-ms and timeout_ms limit how long statements run." },
  );
