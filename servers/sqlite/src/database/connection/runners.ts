import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { ToolError } from "@refmcp/core/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { explained } from "./failures.ts";
import type { Place } from "./handle.ts";
import type { Job, Reply } from "./protocol.ts";

export interface RunnerOptions {
  /** Megabytes of one runner. */
  readonly memory: number;
  /** Runners that work at the same time. */
  readonly most: number;
  /** Keep runners warm for the next job (default), or end each with its lease. */
  readonly spare?: boolean;
}

export interface Run {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Runner {
  readonly child: ChildProcess;
  said: string;
}

/**
 * Runs jobs in processes of their own, because a running query of SQLite can be ended in no other way: a time limit, a
 * cancellation and the memory limit kill the process, and the spare one takes over at once.
 */
export class Runners {
  readonly #options: RunnerOptions;
  readonly #all = new Set<Runner>();
  readonly #idle: Runner[] = [];
  readonly #waiting: (() => void)[] = [];
  #working = 0;
  #closed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** @throws ToolError `timeout`, `too_large` (memory), `cancelled`, or what SQLite said. */
  async run<Answer>(job: Job & { readonly place: Place }, run: Run): Promise<Answer> {
    return await this.lease(job.place.file, run, (ask) => ask<Answer>(job));
  }

  /**
   * Gives one runner for several jobs. The time limit counts for each of them.
   *
   * @param file to name in errors
   * @throws ToolError as `run`, and what `work` throws; the runner is ended then.
   */
  async lease<Result>(
    file: string,
    { signal, timeoutMs }: Run,
    work: (ask: <Answer>(job: Job) => Promise<Answer>) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    await this.#turn(signal);
    let runner: Runner | undefined;
    let isReusable = this.#options.spare ?? true;
    try {
      const mine = this.#idle.shift() ?? (await this.#start());
      runner = mine;
      this.#refill();
      return await work(async <Answer>(job: Job) => {
        const reply = await this.#ask<Answer>(mine, job, signal, timeoutMs);
        if ("answer" in reply) return reply.answer;
        if ("failed" in reply) throw explained(reply.failed, file);
        isReusable = false;
        throw new Error("a runner answered out of turn");
      });
    } finally {
      const isRoom = !this.#closed && this.#idle.length <= this.#options.most;
      if (isReusable && runner?.child.connected === true && isRoom) {
        runner.child.removeAllListeners("message");
        this.#idle.unshift(runner);
      } else runner?.child.kill("SIGKILL");
      this.#working -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#working >= this.#options.most) {
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          signal.removeEventListener("abort", leave);
          resolve();
        };
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(go), 1);
          reject(signal.reason);
        };
        signal.addEventListener("abort", leave, { once: true });
        this.#waiting.push(go);
      });
    }
    this.#working += 1;
  }

  async #ask<Answer>(
    runner: Runner,
    job: Job,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Reply<Answer>> {
    const { child } = runner;
    signal.throwIfAborted();
    const ended = new AbortController();
    let isLate = false;
    const kill = () => child.kill("SIGKILL");
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    signal.addEventListener("abort", kill, { once: true });
    try {
      const options = { signal: ended.signal };
      const reply = once(child, "message", options).then(([message]): Reply<Answer> => message);
      const exit = once(child, "close", options).then((): undefined => undefined);
      exit.catch(() => undefined);
      reply.catch(() => undefined);
      // One that ended between two jobs of a lease is not waited for. What cannot be sent shows as its end.
      const isGone = child.exitCode !== null || child.signalCode !== null || !child.connected;
      if (!isGone) child.send(job, () => undefined);
      const first = isGone ? undefined : await Promise.race([reply, exit]);
      if (first !== undefined) return first;
    } finally {
      ended.abort();
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
    }
    signal.throwIfAborted();
    if (isLate)
      throw new ToolError("timeout", `The statement was stopped after ${timeoutMs} ms; it changed nothing.`, {
        hint: "Narrow it, look at it with explain_query, or have --query-timeout-ms raised.",
      });
    if (runner.said.includes("refmcp: memory"))
      throw new ToolError(
        "too_large",
        `The statement needed more than ${this.#options.memory} MB and was stopped.`,
        {
          hint: "Ask for less at once (substr, LIMIT, no large randomblob or printf), or have --max-memory-mb raised.",
        },
      );
    throw new ToolError("unavailable", "The process that ran the statement ended.", {
      hint: "Repeat the call.",
    });
  }

  /** One spare process waits, warm. */
  #refill(): void {
    if (this.#idle.length > 0 || this.#closed || this.#options.spare === false) return;
    this.#start().then(
      (runner) => runner.child.connected && this.#idle.push(runner),
      () => undefined,
    );
  }

  async #start(): Promise<Runner> {
    const file = workerFile("runner", import.meta.url);
    if (this.#closed) throw new ToolError("unavailable", "The server is being closed.");
    const child = fork(file, [String(this.#options.memory), String(process.pid)], {
      serialization: "advanced",
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const runner: Runner = { child, said: "" };
    this.#all.add(runner);
    child.stderr?.on("data", (chunk) => (runner.said = (runner.said + String(chunk)).slice(-2_000)));
    child.on("error", () => undefined);
    child.once("exit", () => {
      this.#all.delete(runner);
      const at = this.#idle.indexOf(runner);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    const first = await Promise.race([
      once(child, "message").then(([message]): Reply<never> => message),
      once(child, "close").then((): undefined => undefined),
    ]).catch((): undefined => undefined);
    if (first === undefined)
      throw new ToolError("unavailable", "The process that runs SQLite ended while it started.", {
        hint: "Repeat the call.",
        cause: runner.said,
      });
    if ("unavailable" in first) {
      child.kill("SIGKILL");
      const { message, hint, cause } = first.unavailable;
      throw new ToolError("unavailable", message, { ...(hint !== undefined && { hint }), cause });
    }
    child.unref();
    child.channel?.unref();
    return runner;
  }

  /** Ends all of them, also in the middle of a job: what it wrote is taken back by the next one that opens the file. */
  close(): void {
    this.#closed = true;
    for (const { child } of this.#all) child.kill("SIGKILL");
  }
}
