/**
 * Processes with limits of time and memory, for work whose cost its input decides: what hangs or fills one of them costs
 * nothing but its own result.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Line, startDeadline } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";

/** The limits of conversions. */
export interface WorkerLimits {
  /** How many run at the same time. */
  readonly max: number;
  /** Milliseconds. */
  readonly maxMs: number;
  readonly maxMb: number;
  /** Whether a process does more than one piece of work. */
  readonly isKept: boolean;
}

type Reply<Result> = { readonly done: Result } | { readonly failed: string };

/** Why a conversion failed. */
export class ConversionError extends Error {}

/** Processes that are started when needed; the last one used is the first to be used again. */
export class WorkerPool<Work extends object, Done> {
  readonly #limits: WorkerLimits;
  readonly #line: Line;
  readonly #idle: ChildProcess[] = [];
  readonly #all = new Set<ChildProcess>();

  constructor(limits: WorkerLimits) {
    this.#limits = limits;
    this.#line = new Line(limits.max);
  }

  /** @throws ConversionError if it exceeds a limit or cannot be converted; the signal's reason. */
  async run<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    return await this.#line.run("", () => this.#convert<Result>(work, signal), signal);
  }

  async #convert<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    const { maxMs, isKept } = this.#limits;
    const late = () => new ConversionError(`converting it took more than ${maxMs / 1000} s`);
    const worker = this.#idle.pop() ?? this.#start();
    const deadline = startDeadline(maxMs, signal, late);
    let isReusable = false;
    hold(worker, true);
    try {
      worker.send(work);
      const reply = await this.#replyOf<Result>(worker, deadline.signal);
      isReusable = isKept;
      if ("done" in reply) return reply.done;
      throw new ConversionError(`it is too complex (${oneLine(reply.failed.slice(0, 80))})`);
    } finally {
      deadline.abort();
      hold(worker, false);
      if (isReusable) this.#idle.push(worker);
      else worker.kill("SIGKILL");
    }
  }

  /** What a process replies. @throws ConversionError if it ends instead; the signal's reason. */
  async #replyOf<Result>(worker: ChildProcess, signal: AbortSignal): Promise<Reply<Result>> {
    try {
      const exit = once(worker, "exit", { signal }).then(() => [undefined]);
      const [reply] = await Promise.race([once(worker, "message", { signal }), exit]);
      if (reply !== undefined) return reply;
    } catch {
      // Aborted, or it could not be started.
    }
    signal.throwIfAborted();
    throw new ConversionError(`it needed more than ${this.#limits.maxMb} MB`);
  }

  #start(): ChildProcess {
    const worker = fork(workerFile("convert", import.meta.url), [String(this.#limits.maxMb)], {
      serialization: "advanced",
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#all.add(worker);
    worker.on("error", () => undefined);
    worker.once("exit", () => {
      this.#all.delete(worker);
      if (this.#idle.includes(worker)) this.#idle.splice(this.#idle.indexOf(worker), 1);
    });
    return worker;
  }

  close(): void {
    for (const worker of this.#all) worker.kill("SIGKILL");
  }
}

/** Whether a process keeps the server running. */
function hold(worker: ChildProcess, isHeld: boolean): void {
  for (const handle of [worker, worker.channel]) isHeld ? handle?.ref() : handle?.unref();
}
