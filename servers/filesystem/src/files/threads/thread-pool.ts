import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/core/answer";
import { errorCode } from "@refmcp/core/boundary";
import { workerFile } from "@refmcp/core/worker-file";
import type { Answer, Kind, ThreadAnswer, ThreadRequest, Work } from "./files.worker.ts";

/** Threads at most; reading files does not get faster with more. */
const MOST_WORKERS = Math.min(4, availableParallelism());
/** How long an idle thread is kept for the next search, in milliseconds. */
const IDLE_MS = 10_000;

const NEVER = new AbortController().signal;

interface Job {
  readonly request: ThreadRequest;
  readonly signal: AbortSignal;
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Threads for work that takes long. They start with the first request and end when they are idle. */
export class ThreadPool {
  readonly #waiting: Job[] = [];
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();

  /** How many requests can be worked on at once. */
  readonly width = MOST_WORKERS;
  readonly #heapMb: number;

  /** @param heapMb a request that needs more memory than this fails, not the server; buffers are not counted. */
  constructor(heapMb = 256) {
    this.#heapMb = heapMb;
  }

  /**
   * @throws the signal's reason as soon as it aborts; a thread in the middle of the work is ended by force.
   */
  async run<K extends Kind>(kind: K, work: Work<K>, signal: AbortSignal = NEVER): Promise<Answer<K>> {
    signal.throwIfAborted();
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      this.#waiting.push({ request: { kind, work }, signal, resolve, reject });
      this.#next();
    });
    // The thread answers the request that it was given.
    if ("value" in answer) return answer.value as Answer<K>;
    throw new ToolError(answer.refusal.kind, answer.refusal.message, answer.refusal);
  }

  /** Ends all threads, also those that are working; what waits for them fails. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #next(): void {
    const job = this.#waiting[0];
    if (job === undefined) return;
    if (job.signal.aborted) {
      this.#waiting.shift();
      job.reject(job.signal.reason);
      this.#next();
      return;
    }
    const thread = this.#idle.pop() ?? this.#start();
    if (thread === undefined) return;
    this.#waiting.shift();
    void thread
      .run(job)
      .then(job.resolve, job.reject)
      .finally(() => {
        if (thread.alive) this.#idle.push(thread);
        this.#next();
      });
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= MOST_WORKERS) return undefined;
    const thread = new Thread(this.#heapMb, () => {
      this.#threads.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
      this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }
}

class Thread {
  alive = true;
  readonly #ended: () => void;
  readonly #worker: Promise<Worker>;
  #timer: NodeJS.Timeout | undefined;

  constructor(heapMb: number, ended: () => void) {
    this.#ended = ended;
    this.#worker = startWorker(heapMb).then((worker) => worker.once("exit", () => this.#gone()));
  }

  async run(job: Job): Promise<ThreadAnswer> {
    clearTimeout(this.#timer);
    try {
      const worker = await this.#worker;
      // A thread that waits for work does not keep the process from ending.
      worker.ref();
      const answer = await answerTo(worker, job);
      worker.unref();
      this.#timer = setTimeout(() => void this.end(), IDLE_MS).unref();
      return answer;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#gone();
    const worker = await this.#worker.catch(() => undefined);
    await worker?.terminate();
  }

  #gone(): void {
    if (!this.alive) return;
    this.alive = false;
    clearTimeout(this.#timer);
    this.#ended();
  }
}

function answerTo(worker: Worker, { request, signal }: Job): Promise<ThreadAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (work: () => void) => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      signal.removeEventListener("abort", onAbort);
      work();
    };
    const onMessage = (answer: ThreadAnswer) => settle(() => resolve(answer));
    const onError = (error: unknown) => settle(() => reject(explained(error)));
    const onExit = (code: number) => settle(() => reject(new Error(`The thread ended (${code}).`)));
    const onAbort = () => settle(() => reject(signal.reason));
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else worker.postMessage(request);
  });
}

function explained(error: unknown): unknown {
  if (errorCode(error) !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new ToolError("too_large", "The work needed more memory than it may use.", {
    hint: "Do less at once: fewer files (path, glob), a simpler pattern, or fewer edits.",
    cause: error,
  });
}

async function startWorker(heapMb: number): Promise<Worker> {
  const worker = new Worker(workerFile("files", import.meta.url), {
    name: "files",
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // What it would print goes nowhere near the protocol's stdout.
    stdout: true,
    stderr: true,
  });
  // Errors are seen by who waits for an answer; without a listener they would end the process.
  return worker.on("error", () => undefined);
}
