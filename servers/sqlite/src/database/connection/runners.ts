import { type ChildProcess, fork } from "node:child_process";
import { ToolError } from "@refmcp/core/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { explained } from "./failures.ts";
import type { Place } from "./handle.ts";
import type { Job, Reply } from "./protocol.ts";

export interface RunnerOptions {
  /** Memory limit of one runner, in MB. */
  readonly memory: number;
  /** Maximum runners that work at the same time. */
  readonly most: number;
  /**
   * `warm` (default): a spare runner is ready to take over when one is killed; `kept`: runners stay for the next job;
   * `none`: each runner ends with its lease.
   */
  readonly spare?: "warm" | "kept" | "none";
  /** How long a job waits for a runner, in milliseconds. */
  readonly waitMs?: number;
}

export interface Run {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How long a statement waits for a runner, in milliseconds. */
const WAIT_MS = 10_000;

/** A process that runs one job at a time. */
class Runner {
  readonly child: ChildProcess;
  said = "";
  #settle: ((reply: Reply<never> | undefined) => void) | undefined;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on("data", (chunk) => {
      this.said = (this.said + String(chunk)).slice(-2_000);
    });
    child.on("error", () => undefined);
    child.on("message", (reply: Reply<never>) => this.#end(reply));
    child.on("close", () => this.#end(undefined));
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.connected;
  }

  /** The reply to a job; undefined if the process ended, also before the job could be sent. */
  reply<Answer>(job: Job | undefined): Promise<Reply<Answer> | undefined> {
    if (!this.isAlive) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (job !== undefined) this.child.send(job, () => undefined);
    });
  }

  #end(reply: Reply<never> | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(reply);
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

/**
 * Runs jobs in separate processes, because there is no other way to stop a running SQLite query: the time limit, a
 * cancellation and the memory limit kill the process, and the spare takes over. There is never more than one process in
 * addition to those that may work at the same time.
 */
export class Runners {
  readonly #options: RunnerOptions;
  /** All runners: starting, idle and working. */
  readonly #all = new Set<Runner>();
  readonly #idle: Runner[] = [];
  readonly #waiting: (() => void)[] = [];
  #working = 0;
  #isPreparing = false;
  #closed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** @throws ToolError `timeout`, `too_large` (memory), `cancelled`, `unavailable` (no runner in time), or an error of SQLite */
  async run<Answer>(job: Job & { readonly place: Place }, run: Run): Promise<Answer> {
    return await this.lease(job.place.file, run, (ask) => ask<Answer>(job));
  }

  /**
   * Provides one runner for several jobs. The time limit applies to each of them.
   *
   * @param file the file to name in errors
   * @throws ToolError as `run`, and what `work` throws
   */
  async lease<Result>(
    file: string,
    { signal, timeoutMs }: Run,
    work: (ask: <Answer>(job: Job) => Promise<Answer>) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    if (this.#working < this.#options.most) this.#working += 1;
    else await this.#turn(signal);
    let runner: Runner | undefined;
    try {
      runner = this.#idle.shift() ?? (await this.#start());
      const mine = runner;
      this.#prepareSpare();
      return await work(async <Answer>(job: Job) => {
        const reply = await this.#ask<Answer>(mine, job, signal, timeoutMs);
        if ("answer" in reply) return reply.answer;
        if ("failed" in reply) throw explained(reply.failed, file);
        mine.kill();
        throw new Error("a runner answered out of turn");
      });
    } finally {
      if (runner?.isAlive === true && !this.#closed && this.#options.spare !== "none")
        this.#idle.unshift(runner);
      else runner?.kill();
      const next = this.#waiting.shift();
      if (next === undefined) this.#working -= 1;
      else next();
    }
  }

  /** Waits in line for a working runner's place. */
  #turn(signal: AbortSignal): Promise<void> {
    const { most, waitMs = WAIT_MS } = this.#options;
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        const at = this.#waiting.indexOf(go);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const go = () => {
        leave();
        resolve();
      };
      const cancel = () => {
        leave();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        leave();
        const others = most === 1 ? "Another statement has" : `${most} other statements have`;
        reject(
          new ToolError("unavailable", `${others} been running for ${waitMs / 1_000} s.`, {
            hint: "Try again later. --query-timeout-ms and timeout_ms limit how long statements run.",
          }),
        );
      }, waitMs);
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiting.push(go);
    });
  }

  async #ask<Answer>(
    runner: Runner,
    job: Job,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Reply<Answer>> {
    signal.throwIfAborted();
    let isLate = false;
    const kill = () => runner.kill();
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    signal.addEventListener("abort", kill, { once: true });
    try {
      const reply = await runner.reply<Answer>(job);
      if (reply !== undefined) return reply;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
    }
    signal.throwIfAborted();
    if (isLate)
      throw new ToolError("timeout", `The statement was stopped after ${timeoutMs} ms; it changed nothing.`, {
        hint: "Narrow it, check it with explain_query, or ask the user to raise --query-timeout-ms.",
      });
    if (runner.said.includes("refmcp: memory"))
      throw new ToolError(
        "too_large",
        `The statement needed more than ${this.#options.memory} MB and was stopped.`,
        {
          hint: "Request less at once (substr, LIMIT, no large randomblob or printf), or ask the user to raise --max-memory-mb.",
        },
      );
    throw new ToolError("unavailable", "The process that ran the statement ended.", {
      hint: "Repeat the call.",
    });
  }

  /** Keeps one spare process ready; a burst of calls starts no more than one. */
  #prepareSpare(): void {
    const { most, spare = "warm" } = this.#options;
    if (
      spare !== "warm" ||
      this.#closed ||
      this.#isPreparing ||
      this.#idle.length > 0 ||
      this.#all.size > most
    )
      return;
    this.#isPreparing = true;
    this.#start()
      .then(
        (runner) => void (runner.isAlive && this.#idle.push(runner)),
        () => undefined,
      )
      .finally(() => {
        this.#isPreparing = false;
      });
  }

  async #start(): Promise<Runner> {
    const file = workerFile("runner", import.meta.url);
    if (this.#closed) throw new ToolError("unavailable", "The server is closing.");
    const child = fork(file, [String(this.#options.memory), String(process.pid)], {
      serialization: "advanced",
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const runner = new Runner(child);
    this.#all.add(runner);
    child.once("exit", () => {
      this.#all.delete(runner);
      const at = this.#idle.indexOf(runner);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    const first = await runner.reply<never>(undefined);
    if (first === undefined)
      throw new ToolError("unavailable", "The process that runs SQLite ended while it started.", {
        hint: "Repeat the call.",
        cause: runner.said,
      });
    if ("unavailable" in first) {
      runner.kill();
      const { message, hint, cause } = first.unavailable;
      throw new ToolError("unavailable", message, { ...(hint !== undefined && { hint }), cause });
    }
    child.unref();
    child.channel?.unref();
    return runner;
  }

  /** Ends all runners, even during a job: whoever opens the file next rolls back an unfinished change. */
  close(): void {
    this.#closed = true;
    for (const runner of this.#all) runner.kill();
  }
}
