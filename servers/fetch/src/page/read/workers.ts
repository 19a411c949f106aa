import { fork } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";
import { Line, startDeadline } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import type { Done, Work } from "./converter.ts";

/** The limits of conversions. */
export interface WorkerOptions {
  /** How many run at the same time. */
  readonly max: number;
  /**
   * A thread starts fast and is kept. A process is used once: its memory limit includes what is outside the heap, such
   * as the decoded streams of a PDF.
   */
  readonly kind: "thread" | "process";
  /** Milliseconds. */
  readonly maxMs: number;
  /**
   * Milliseconds of CPU time, for threads: one that takes longer is given up once the process has used as much, so that
   * a busy machine does not lose a page.
   */
  readonly cpuMs?: number;
  /** Memory limit: of a thread's heap, or of the process. */
  readonly maxMb: number;
}

type Reply<Result> = { readonly done: Result } | { readonly failed: string };

/** Why a conversion failed. */
export class ConversionError extends Error {
  /** Whether the thread can be used again. */
  readonly isReusable: boolean;

  constructor(reason: string, isReusable = false) {
    super(reason);
    this.isReusable = isReusable;
  }
}

/**
 * Threads or processes that convert one page or document at a time, within limits of time and memory. They are started when
 * needed; the last one used is the first to be used again.
 */
export class WorkerPool {
  readonly #options: WorkerOptions;
  readonly #line: Line;
  readonly #idle: Engine[] = [];
  readonly #all = new Set<Engine>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#line = new Line(options.max);
  }

  /** @throws ConversionError if it exceeds a limit or cannot be converted; the signal's reason. */
  async run<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    return await this.#line.run("", () => this.#convert<Result>(work, signal), signal);
  }

  async #convert<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const { maxMs, cpuMs = maxMs, maxMb, kind } = this.#options;
    const engine = this.#idle.pop() ?? this.#started();
    const late = () => new ConversionError(`converting it took more than ${cpuMs / 1000} s`);
    const deadline = startDeadline(maxMs, signal, late);
    const before = process.cpuUsage();
    const check = () => {
      const { user, system } = process.cpuUsage(before);
      const leftMs = cpuMs - (user + system) / 1000;
      if (leftMs <= 0) deadline.abort(late());
      else timer = setTimeout(check, leftMs).unref();
    };
    let timer = setTimeout(check, cpuMs).unref();
    const listening = { signal: deadline.signal };
    const tooLarge = () => new ConversionError(`it needed more than ${maxMb} MB`);
    let isReusable = kind === "thread";
    engine.hold(true);
    try {
      engine.post(work);
      const [message] = await Promise.race([
        once(engine.events, "message", listening),
        once(engine.events, "exit", listening).then(() => {
          throw tooLarge();
        }),
      ]);
      const reply: Reply<Result> = message;
      if ("done" in reply) return reply.done;
      throw new ConversionError(`it is too complex (${oneLine(reply.failed.slice(0, 80))})`, true);
    } catch (error) {
      if (error instanceof ConversionError && error.isReusable) throw error;
      // It is still busy, or has ended.
      isReusable = false;
      deadline.signal.throwIfAborted();
      throw tooLarge();
    } finally {
      clearTimeout(timer);
      deadline.abort();
      engine.hold(false);
      if (isReusable && this.#all.has(engine)) this.#idle.push(engine);
      else await this.#end(engine);
    }
  }

  #started(): Engine {
    const { kind, maxMb } = this.#options;
    const engine = kind === "thread" ? threadOf(maxMb) : processOf(maxMb);
    this.#all.add(engine);
    engine.events.once("exit", () => this.#forget(engine));
    return engine;
  }

  #forget(engine: Engine): void {
    this.#all.delete(engine);
    const at = this.#idle.indexOf(engine);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  async #end(engine: Engine): Promise<void> {
    this.#forget(engine);
    await engine.end();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((engine) => this.#end(engine)));
  }
}

/** What a thread and a process have in common. */
interface Engine {
  /** Emits `message` and `exit`. */
  readonly events: EventEmitter;
  post(work: Work): void;
  /** Whether it keeps the server running. */
  hold(isHeld: boolean): void;
  end(): unknown;
}

function threadOf(maxMb: number): Engine {
  const worker = new Worker(workerFile("convert", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxMb },
    stdout: true,
    stderr: true,
  });
  worker.on("error", () => undefined);
  worker.unref();
  return {
    events: worker,
    post: (work) => worker.postMessage(work),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    end: () => worker.terminate(),
  };
}

function processOf(maxMb: number): Engine {
  const child = fork(workerFile("convert", import.meta.url), [String(maxMb)], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.on("error", () => child.emit("exit"));
  return {
    events: child,
    post: (work) => child.send(work),
    hold: () => undefined,
    end: () => child.kill("SIGKILL"),
  };
}
