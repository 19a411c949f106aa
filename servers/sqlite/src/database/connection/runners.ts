import { Line, startDeadline } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Jobs } from "./execute.ts";
import { MAX_JOBS, type Op } from "./frames.ts";
import type { Place } from "./handle.ts";
import { Runner, type Task } from "./runner.ts";

export type { Op } from "./frames.ts";
export type Job<Name extends Op> = Parameters<Jobs[Name]>[0];
export type Answer<Name extends Op> = ReturnType<Jobs[Name]>;
export type Ask = <Name extends Op>(op: Name, job: Job<Name>) => Promise<Answer<Name>>;

export interface RunnersOptions {
  /** Memory limit of one runner, in MB. */
  readonly memory: number;
  readonly max: number;
  /** How long a job waits for a runner, in milliseconds. */
  readonly waitMs?: number;
  /** How long a runner stays without a job, in milliseconds. */
  readonly idleMs?: number;
}

export interface Run {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How long a statement waits for a runner, in milliseconds. */
const WAIT_MS = 10_000;
/** Starting a runner takes about 0.1 s, so only calls in quick succession need one that is ready. */
const IDLE_MS = 60_000;
/** A runner closes its files after this time without a job. */
const REST_MS = 1_000;
/** They only read, so they may run again elsewhere. All others are alone in their frame and run once. */
const REPEATABLE: ReadonlySet<Op> = new Set<Op>(["read", "look", "explain"]);

interface Waiting extends Task {
  /** Where it waits for a runner, and until when. */
  line: Set<Waiting>;
  late: NodeJS.Timeout | undefined;
  /** Whether no other job may be in its frame. */
  isAlone: boolean;
  runner: Runner<Waiting> | undefined;
}

/**
 * Runs jobs in separate processes, because there is no other way to stop a running SQLite query: the time limit, a
 * cancellation and the memory limit kill the process. All waiting jobs go to a runner in one frame. If one of them takes
 * long or ends the process, the others move to another runner, which starts then: as long as all jobs are short, there is
 * one process, and never more than one in addition to those that may work at the same time.
 */
export class Runners {
  readonly #options: Required<RunnersOptions>;
  /** All runners: starting, idle and working. */
  readonly #all = new Set<Runner<Waiting>>();
  readonly #idle: Runner<Waiting>[] = [];
  readonly #working = new Set<Runner<Waiting>>();
  readonly #statements = new Set<Waiting>();
  /** Statements that moved from another runner. They go first. */
  readonly #moved = new Set<Waiting>();
  readonly #schema = new Set<Waiting>();
  #isSending = false;
  #isStarting = false;
  #isClosed = false;
  #rest: NodeJS.Timeout | undefined;
  #retire: NodeJS.Timeout | undefined;

  constructor(options: RunnersOptions) {
    this.#options = { waitMs: WAIT_MS, idleMs: IDLE_MS, ...options };
  }

  /**
   * Runs a job.
   *
   * @param isSchema whether it looks at the schema, which should not wait for long queries: it may use one more runner
   * @throws ToolError `timeout`, `too_large` (memory), `cancelled`, `unavailable` (no runner in time), or an error of SQLite
   */
  run<Name extends Op>(
    op: Name,
    job: Job<Name> & { place: Place },
    run: Run,
    isSchema = false,
  ): Promise<Answer<Name>> {
    if (this.#isClosed) return Promise.reject(closing());
    return asked(
      { op, job, file: job.place.file, ...run },
      (task) => {
        const waiting: Waiting = Object.assign(task, {
          line: isSchema ? this.#schema : this.#statements,
          late: undefined,
          isAlone: !REPEATABLE.has(op),
          runner: undefined,
        });
        this.#wait(waiting);
        return waiting;
      },
      (task) => {
        if (task.runner !== undefined) task.runner.cancel(task);
        else this.#refuse(task, run.signal.reason);
      },
    );
  }

  #wait(task: Waiting): void {
    const { max, waitMs } = this.#options;
    task.line.add(task);
    task.late = setTimeout(() => {
      if (this.#open.includes(task.line)) task.late?.refresh();
      else this.#refuse(task, tooBusy(max, waitMs));
    }, waitMs).unref();
    this.#sendSoon();
  }

  #refuse(task: Waiting, reason: unknown): void {
    clearTimeout(task.late);
    task.line.delete(task);
    task.reject(reason);
  }

  /** So that all jobs of a tick are in one frame. */
  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    process.nextTick(this.#send);
  }

  readonly #send = (): void => {
    this.#isSending = false;
    while (this.#idle.length > 0) {
      const frame = this.#take();
      const runner = frame.length === 0 ? undefined : this.#idle.pop();
      if (runner === undefined) break;
      this.#working.add(runner);
      for (const task of frame) {
        clearTimeout(task.late);
        task.runner = runner;
      }
      runner.send(frame);
    }
    if (this.#statements.size + this.#moved.size + this.#schema.size > 0) void this.#start();
  };

  /** The lines whose jobs may run now. */
  get #open(): readonly Set<Waiting>[] {
    const free = this.#options.max - this.#working.size;
    return free < 0
      ? []
      : free === 0
        ? [this.#schema]
        : [this.#schema, this.#moved, this.#statements];
  }

  /** The jobs of the next frame. */
  #take(): Waiting[] {
    const frame: Waiting[] = [];
    for (const line of this.#open)
      for (const task of line) {
        if (frame.length >= MAX_JOBS || (frame.length > 0 && task.isAlone)) break;
        line.delete(task);
        frame.push(task);
        if (task.isAlone) return frame;
      }
    return frame;
  }

  /** Starts a runner, if all others are busy for a while. */
  async #start(): Promise<void> {
    const isBusy = this.#idle.length === 0 && [...this.#all].every(({ isLong }) => isLong);
    if (this.#isClosed || this.#isStarting || !isBusy || this.#all.size > this.#options.max) return;
    this.#isStarting = true;
    let started: Runner<Waiting> | undefined;
    try {
      const runner: Runner<Waiting> = new Runner(this.#options.memory, {
        free: (others) => {
          this.#working.delete(runner);
          this.#move(others, false);
          this.#addIdle(runner);
        },
        long: (others) => {
          this.#move(others, false);
          void this.#start();
        },
        ended: (others) => {
          this.#all.delete(runner);
          this.#working.delete(runner);
          const at = this.#idle.indexOf(runner);
          if (at >= 0) this.#idle.splice(at, 1);
          this.#move(others, true);
        },
      });
      started = runner;
      this.#all.add(runner);
      await runner.start();
      this.#addIdle(runner);
    } catch (error) {
      if (started !== undefined) this.#all.delete(started);
      if (this.#all.size === 0) this.#refuseAll(error);
    } finally {
      this.#isStarting = false;
    }
  }

  #move(tasks: readonly Waiting[], isAlone: boolean): void {
    for (const task of tasks) {
      if (task.line !== this.#schema) task.line = this.#moved;
      task.isAlone ||= isAlone;
      task.runner = undefined;
      this.#wait(task);
    }
    if (this.#isClosed) this.#refuseAll(closing());
    else this.#sendSoon();
  }

  #addIdle(runner: Runner<Waiting>): void {
    this.#idle.push(runner);
    this.#rest ??= setTimeout(() => this.#idle.map((one) => one.rest()), REST_MS).unref();
    this.#rest.refresh();
    this.#retire ??= setTimeout(
      () => this.#idle.splice(0).map((one) => one.kill()),
      this.#options.idleMs,
    ).unref();
    this.#retire.refresh();
    this.#send();
  }

  #refuseAll(reason: unknown): void {
    for (const line of [this.#schema, this.#moved, this.#statements])
      for (const task of line) this.#refuse(task, reason);
  }

  /** Ends all runners, even during a job: whoever opens the file next rolls back an unfinished change. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#rest);
    clearTimeout(this.#retire);
    this.#refuseAll(closing());
    for (const runner of this.#all) runner.kill();
  }
}

/** Provides processes for work of several jobs, such as an export. Each process ends with its work. */
export class Leases {
  readonly #options: Required<Omit<RunnersOptions, "idleMs">>;
  readonly #runners = new Set<Runner>();
  readonly #line: Line;
  #isClosed = false;

  constructor(options: Omit<RunnersOptions, "idleMs">) {
    this.#options = { waitMs: WAIT_MS, ...options };
    this.#line = new Line(options.max);
  }

  /**
   * Provides one runner for several jobs. The time limit applies to each of them.
   *
   * @param file the file to name in errors
   * @throws ToolError as `Runners.run`, and what `work` throws
   */
  async lease<Result>(
    file: string,
    run: Run,
    work: (ask: Ask) => Promise<Result>,
  ): Promise<Result> {
    const { max, waitMs } = this.#options;
    const deadline = startDeadline(waitMs, run.signal, () => tooBusy(max, waitMs));
    const begin = () => {
      deadline.end();
      return this.#work(file, run, work);
    };
    try {
      return await this.#line.run("", begin, deadline.signal);
    } finally {
      deadline.end();
    }
  }

  async #work<Result>(
    file: string,
    run: Run,
    work: (ask: Ask) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) throw closing();
    const nothing = () => undefined;
    const runner = new Runner(this.#options.memory, {
      free: nothing,
      long: nothing,
      ended: nothing,
    });
    this.#runners.add(runner);
    try {
      await runner.start();
      return await work(async (op, job) => {
        run.signal.throwIfAborted();
        return await asked(
          { op, job, file, ...run },
          (task) => {
            runner.send([task]);
            return task;
          },
          (task) => runner.cancel(task),
        );
      });
    } finally {
      runner.kill();
      this.#runners.delete(runner);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const runner of this.#runners) runner.kill();
  }
}

const closing = () => new ToolError("unavailable", "The server is closing.");

const tooBusy = (max: number, waitMs: number) =>
  new ToolError(
    "unavailable",
    `${max === 1 ? "Another statement has" : `${max} other statements have`} been running for ${waitMs / 1_000} s.`,
    { hint: "Try again later. --query-timeout-ms and timeout_ms limit how long statements run." },
  );

/**
 * The answer to a job.
 *
 * @param begin gives it to a runner or a line
 * @param leave is called if the caller cancels it first
 */
function asked<Value, One extends Task>(
  parts: Omit<Task, "resolve" | "reject">,
  begin: (task: Task) => One,
  leave: (task: One) => void,
): Promise<Value> {
  const { signal } = parts;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = () => signal.removeEventListener("abort", cancel);
    const task = begin({
      ...parts,
      resolve(answer) {
        end();
        resolve(answer);
      },
      reject(error) {
        end();
        reject(error);
      },
    });
    const cancel = () => leave(task);
    signal.addEventListener("abort", cancel, { once: true });
  });
}
