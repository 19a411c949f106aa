import { startDeadline, WaitingLine } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Place } from "./handle.ts";
import type { Answer, Job, Op, Run } from "./jobs.ts";
import { ENDED, SqliteProcess } from "./process.ts";

interface PoolOptions {
  /** Memory limit of one process, in MB. */
  readonly memory: number;
  /** Statements that run at the same time; one look at the schema may run in addition. */
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
/** A second process is started only if the first one has been busy with one job for this time, in milliseconds. */
const LONG_MS = 40;
/** They only read, so they run again if their process ends by itself. */
const REPEATABLE: ReadonlySet<Op> = new Set<Op>(["read", "look", "seen", "plan"]);

interface Waiting {
  readonly limit: number;
  take(process: SqliteProcess): void;
  refuse(reason: unknown): void;
}

/** Runs jobs in separate processes: as long as all jobs are short, in one. */
export class Pool {
  readonly #options: Required<PoolOptions>;
  /** All processes, also those that start or work for an export or import. */
  readonly #all = new Set<SqliteProcess>();
  readonly #idle: SqliteProcess[] = [];
  readonly #busy = new Set<SqliteProcess>();
  readonly #waiting = new Set<Waiting>();
  readonly #waitingTransfers = new WaitingLine();
  #isTransferring = false;
  #isStarting = false;
  #isClosed = false;
  #growth: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #retire: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = { waitMs: WAIT_MS, idleMs: IDLE_MS, ...options };
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
    for (let attempt = 0; ; attempt++) {
      const process = await this.#acquire(isSchema, run.signal);
      try {
        return await process.run(op, job, { ...run, file: job.place.file });
      } catch (error) {
        const isEnd = error instanceof ToolError && error.code === ENDED;
        if (!isEnd || attempt > 0 || !REPEATABLE.has(op)) throw error;
      } finally {
        this.#release(process);
      }
    }
  }

  #acquire(isSchema: boolean, signal: AbortSignal): Promise<SqliteProcess> {
    const { max, waitMs } = this.#options;
    const limit = isSchema ? max + 1 : max;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closing());
      if (signal.aborted) return reject(signal.reason);
      const end = () => {
        clearTimeout(late);
        signal.removeEventListener("abort", cancel);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        limit,
        take(process) {
          end();
          resolve(process);
        },
        refuse(reason) {
          end();
          reject(reason);
        },
      };
      const cancel = () => waiting.refuse(signal.reason);
      const late = setTimeout(() => {
        // While a process starts, nothing is in the way.
        if (this.#busy.size < limit) late.refresh();
        else waiting.refuse(tooBusy(max, waitMs));
      }, waitMs).unref();
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  #release(process: SqliteProcess): void {
    // One that ended has left it.
    if (this.#busy.delete(process)) this.#idle.push(process);
    this.#rest ??= setTimeout(() => this.#idle.map((idle) => idle.rest()), REST_MS).unref();
    this.#rest.refresh();
    const retire = () => this.#idle.splice(0).map((idle) => idle.kill());
    this.#retire ??= setTimeout(retire, this.#options.idleMs).unref();
    this.#retire.refresh();
    this.#serve();
  }

  /** Hands free processes to those who wait. */
  #serve(): void {
    for (const waiting of this.#waiting) {
      if (this.#busy.size >= waiting.limit) continue;
      const process = this.#idle.pop();
      if (process === undefined) {
        this.#grow();
        return;
      }
      this.#busy.add(process);
      waiting.take(process);
    }
  }

  /** Starts a process, if all others are busy with jobs that take long. */
  #grow(): void {
    if (this.#isStarting || this.#isClosed) return;
    const since = [...this.#busy].map((process) => process.since ?? Number.POSITIVE_INFINITY);
    if (since.every((start) => performance.now() - start >= LONG_MS)) void this.#start();
    // Replies that have arrived since are read before the look.
    else this.#growth ??= setTimeout(() => setImmediate(this.#look), LONG_MS).unref();
  }

  readonly #look = (): void => {
    this.#growth = undefined;
    this.#serve();
  };

  async #start(): Promise<void> {
    this.#isStarting = true;
    const process = this.#create();
    try {
      await process.ready;
      this.#busy.add(process);
    } catch (error) {
      if (this.#busy.size + this.#idle.length === 0)
        for (const waiting of this.#waiting) waiting.refuse(error);
    }
    this.#isStarting = false;
    this.#release(process);
  }

  #create(): SqliteProcess {
    const process: SqliteProcess = new SqliteProcess(this.#options.memory, () => {
      this.#all.delete(process);
      this.#busy.delete(process);
      const at = this.#idle.indexOf(process);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#all.add(process);
    return process;
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
    run.signal.throwIfAborted();
    if (this.#isTransferring) await this.#turn(run.signal);
    this.#isTransferring = true;
    let process: SqliteProcess | undefined;
    try {
      if (this.#isClosed) throw closing();
      const mine = this.#create();
      process = mine;
      await mine.ready;
      return await work((op, job) => mine.run(op, job, { ...run, file }));
    } finally {
      process?.kill();
      if (!this.#waitingTransfers.hand()) this.#isTransferring = false;
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const late = () => tooBusy(1, TRANSFER_WAIT_MS);
    const deadline = startDeadline(TRANSFER_WAIT_MS, signal, late);
    try {
      await this.#waitingTransfers.wait(deadline.signal);
    } finally {
      deadline.end();
    }
  }

  /** Ends all processes, even during a job. */
  close(): void {
    this.#isClosed = true;
    for (const timer of [this.#growth, this.#rest, this.#retire]) clearTimeout(timer);
    for (const waiting of this.#waiting) waiting.refuse(closing());
    for (const process of this.#all) process.kill();
  }
}

const closing = () => new ToolError("unavailable", "The server is closing.");

const tooBusy = (max: number, waitMs: number) =>
  new ToolError(
    "unavailable",
    `${max === 1 ? "Another statement has" : `${max} other statements have`} been running for ${waitMs / 1_000} s.`,
    { hint: "Try again later. --query-timeout-ms and timeout_ms limit how long statements run." },
  );
