import { type ChildProcess, fork } from "node:child_process";
import { startDeadline, WaitingLine } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/launch/worker-file";
import type { Jobs } from "./execute.ts";
import { explained, type Failure } from "./failures.ts";
import type { Place } from "./handle.ts";

export type Op = keyof Jobs;
export type Job<Name extends Op> = Parameters<Jobs[Name]>[0];
export type Answer<Name extends Op> = ReturnType<Jobs[Name]>;

export interface Message {
  readonly op: Op;
  readonly job: never;
}

export type Reply<Value> =
  | { readonly ready: true }
  /** SQLite could not be loaded; the cause is for the log. */
  | { readonly unavailable: { message: string; hint: string | undefined; cause: string } }
  | { readonly failed: Failure }
  | { readonly answer: Value };

export type Ask = <Name extends Op>(op: Name, job: Job<Name>) => Promise<Answer<Name>>;

export interface RunnerOptions {
  /** Memory limit of one runner, in MB. */
  readonly memory: number;
  readonly max: number;
  /**
   * `warm` (default): a spare runner is ready to take over when one is killed; `kept`: runners stay for the next job;
   * `none`: each runner ends with its lease.
   */
  readonly spare?: "warm" | "kept" | "none";
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
  reply<Value>(message?: object): Promise<Reply<Value> | undefined> {
    if (!this.isAlive) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (message !== undefined) this.child.send(message, () => undefined);
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
  readonly #waiting = new WaitingLine();
  #working = 0;
  /** Ends the idle runners; starts again whenever there is another. */
  #rest: NodeJS.Timeout | undefined;
  #isPreparing = false;
  #closed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** @throws ToolError `timeout`, `too_large` (memory), `cancelled`, `unavailable` (no runner in time), or an error of SQLite */
  async run<Name extends Op>(op: Name, job: Job<Name> & { place: Place }, run: Run): Promise<Answer<Name>> {
    return await this.lease(job.place.file, run, (ask) => ask(op, job));
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
    work: (ask: Ask) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    if (this.#working < this.#options.max) this.#working += 1;
    else await this.#turn(signal);
    let runner: Runner | undefined;
    try {
      runner = this.#idle.shift() ?? (await this.#start());
      const mine = runner;
      this.#prepareSpare();
      return await work(async <Name extends Op>(op: Name, job: Job<Name>) => {
        const reply = await this.#ask<Answer<Name>>(mine, { op, job }, signal, timeoutMs);
        if ("answer" in reply) return reply.answer;
        if ("failed" in reply) throw explained(reply.failed, file);
        mine.kill();
        throw new Error("unexpected message from a runner");
      });
    } finally {
      if (runner?.isAlive === true && !this.#closed && this.#options.spare !== "none")
        this.#idle.unshift(runner);
      else runner?.kill();
      this.#endIdleLater();
      if (!this.#waiting.hand()) this.#working -= 1;
    }
  }

  #endIdleLater(): void {
    if (this.#closed) return;
    this.#rest ??= setTimeout(() => {
      for (const runner of this.#idle.splice(0)) runner.kill();
    }, this.#options.idleMs ?? IDLE_MS).unref();
    this.#rest.refresh();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { max, waitMs = WAIT_MS } = this.#options;
    const deadline = startDeadline(waitMs, signal, () => {
      const others = max === 1 ? "Another statement has" : `${max} other statements have`;
      return new ToolError("unavailable", `${others} been running for ${waitMs / 1_000} s.`, {
        hint: "Try again later. --query-timeout-ms and timeout_ms limit how long statements run.",
      });
    });
    try {
      await this.#waiting.wait(deadline.signal);
    } finally {
      deadline.end();
    }
  }

  async #ask<Value>(
    runner: Runner,
    message: object,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Reply<Value>> {
    signal.throwIfAborted();
    const late = () =>
      new ToolError("timeout", `The statement was stopped after ${timeoutMs} ms; it changed nothing.`, {
        hint: "Narrow it, check it with explain, or ask the user to raise --query-timeout-ms.",
      });
    const deadline = startDeadline(timeoutMs, signal, late);
    deadline.signal.addEventListener("abort", () => runner.kill(), { once: true });
    const reply = await runner.reply<Value>(message).finally(() => deadline.end());
    if (reply !== undefined) return reply;
    deadline.signal.throwIfAborted();
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
    const { max, spare = "warm" } = this.#options;
    const isEnough = this.#isPreparing || this.#idle.length > 0 || this.#all.size > max;
    if (spare !== "warm" || this.#closed || isEnough) return;
    this.#isPreparing = true;
    const prepared = this.#start().then((runner) => {
      if (runner.isAlive) this.#idle.push(runner);
      this.#endIdleLater();
    });
    prepared
      .catch(() => undefined)
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
    const first = await runner.reply<never>();
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
    clearTimeout(this.#rest);
    for (const runner of this.#all) runner.kill();
  }
}
