/** Threads and processes with limits of time and memory, for work whose cost its input decides. */
import { fork } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";
import { Line, startDeadline } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";

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
export class ConversionError extends Error {}

/**
 * Threads or processes that do one piece of work at a time, within limits of time and memory. They are started when needed; the
 * last one used is the first to be used again.
 */
export class WorkerPool<Work extends object, Done> {
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
    const { kind, maxMb } = this.#options;
    const engine = this.#idle.pop() ?? this.#started();
    const limit = startLimit(this.#options, signal);
    let isReusable = false;
    engine.hold(true);
    try {
      engine.post(work);
      const reply = await replyOf<Result>(engine, maxMb, limit.signal);
      isReusable = kind === "thread" && this.#all.has(engine);
      if ("done" in reply) return reply.done;
      throw new ConversionError(`it is too complex (${oneLine(reply.failed.slice(0, 80))})`);
    } finally {
      limit.end();
      engine.hold(false);
      if (isReusable) this.#idle.push(engine);
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

/** Aborts when the time is over: by the clock, and by the CPU time that this process and its threads have used. */
function startLimit({ maxMs, cpuMs = maxMs }: WorkerOptions, signal: AbortSignal) {
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
  const end = () => {
    clearTimeout(timer);
    deadline.abort();
  };
  return { signal: deadline.signal, end };
}

/** What a thread or process replies. @throws ConversionError if it ends instead; the signal's reason. */
async function replyOf<Result>(
  { events }: Engine,
  maxMb: number,
  signal: AbortSignal,
): Promise<Reply<Result>> {
  try {
    const end = once(events, "exit", { signal }).then(() => [undefined]);
    const [reply] = await Promise.race([once(events, "message", { signal }), end]);
    if (reply !== undefined) return reply;
  } catch {
    // Aborted, or it has failed.
  }
  signal.throwIfAborted();
  throw new ConversionError(`it needed more than ${maxMb} MB`);
}

/** What a thread and a process have in common. */
interface Engine {
  /** Emits `message` and `exit`. */
  readonly events: EventEmitter;
  post(work: object): void;
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
