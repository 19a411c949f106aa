import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { failure, named } from "../errors.ts";
import type { Answer, Kind, ThreadAnswer, ThreadRequest, Work } from "./files.worker.ts";

/** Maximum threads; more do not make reading files faster. */
const MAX_THREADS = Math.min(4, availableParallelism());
/** Memory of a thread: several copies of a 32 MiB text. Buffers are not counted. */
const HEAP_MB = 1_024;
/** How long an idle thread is kept, in milliseconds. */
const IDLE_MS = 10_000;
/** How often a busy thread is checked, in milliseconds. */
const WATCH_MS = 250;
/** Time limit for matching one piece of text (a megabyte or a line): it usually takes milliseconds, or forever. */
const STUCK_MS = 5_000;
/** Time limit for converting a document, in milliseconds. */
const DOCUMENT_MS = 20_000;
/**
 * How much the process may grow while it converts a document, in MiB. A thread's own limit does not include decoded
 * streams, which are outside its heap: 2 MB of a PDF can become gigabytes.
 */
const DOCUMENT_MB = 1_024;

const NEVER = new AbortController().signal;

interface Job {
  readonly request: ThreadRequest;
  readonly signal: AbortSignal;
  readonly nameOf: ((file: number) => string) | undefined;
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  /** See files.worker.ts. */
  readonly progress: Int32Array;
  idle: NodeJS.Timeout | undefined;
}

/** Threads for long operations. They start with the first request and end when they are idle. */
export class Threads {
  readonly width = MAX_THREADS;
  readonly #waiting: Job[] = [];
  readonly #idle: Thread[] = [];
  readonly #all = new Set<Thread>();
  readonly #documentMb: number;

  /** @param documentMb how much the process may grow while it converts a document */
  constructor(documentMb = DOCUMENT_MB) {
    this.#documentMb = documentMb;
  }

  /**
   * @param nameOf the path of the file with this number, for messages about work on many
   * @throws the signal's reason as soon as it aborts; a thread that is still working is terminated
   */
  async run<K extends Kind>(
    kind: K,
    work: Work<K>,
    signal: AbortSignal = NEVER,
    nameOf?: (file: number) => string,
  ): Promise<Answer<K>> {
    signal.throwIfAborted();
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      this.#waiting.push({ request: { kind, work }, signal, nameOf, resolve, reject });
      this.#next();
    });
    // The answer belongs to this request.
    if ("value" in answer) return answer.value as Answer<K>;
    throw new ToolError(answer.refusal.kind, answer.refusal.message, answer.refusal);
  }

  /** Ends all threads, even busy ones; their requests fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => this.#end(thread)));
  }

  #next(): void {
    for (const job of this.#waiting.filter(({ signal }) => signal.aborted)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.reject(job.signal.reason);
    }
    if (this.#idle.length === 0 && this.#all.size >= MAX_THREADS) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    const thread = this.#idle.pop() ?? this.#start();
    void this.#answer(thread, job)
      .then(job.resolve, job.reject)
      .finally(() => this.#next());
  }

  #start(): Thread {
    const progress = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(workerFile("files", import.meta.url), {
      name: "files",
      workerData: progress,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      // Its output must not reach the protocol's stdout.
      stdout: true,
      stderr: true,
    });
    const thread: Thread = { worker, progress, idle: undefined };
    // Errors are handled where the answer is awaited; without a listener they would end the process.
    worker.on("error", () => undefined).once("exit", () => this.#forget(thread));
    this.#all.add(thread);
    return thread;
  }

  #forget(thread: Thread): void {
    clearTimeout(thread.idle);
    this.#all.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  async #end(thread: Thread): Promise<void> {
    this.#forget(thread);
    await thread.worker.terminate();
  }

  async #answer(thread: Thread, job: Job): Promise<ThreadAnswer> {
    clearTimeout(thread.idle);
    try {
      // An idle thread does not keep the process running.
      thread.worker.ref();
      const answer = await this.#watched(thread, job);
      thread.worker.unref();
      thread.idle = setTimeout(() => void this.#end(thread), IDLE_MS).unref();
      this.#idle.push(thread);
      return answer;
    } catch (error) {
      await this.#end(thread);
      throw error;
    }
  }

  /** Rejects if the thread fails, is stuck or takes too much, or the caller gives up. */
  #watched({ worker, progress }: Thread, job: Job): Promise<ThreadAnswer> {
    const { request, signal } = job;
    return new Promise((resolve, reject) => {
      const excess =
        request.kind === "document"
          ? excessOf(request, this.#documentMb)
          : stuckness(progress, job);
      const watch = setInterval(() => {
        const error = excess();
        if (error !== undefined) settle(() => reject(error));
      }, WATCH_MS);
      const settle = (work: () => void) => {
        clearInterval(watch);
        worker.off("message", onMessage).off("error", onError).off("exit", onExit);
        signal.removeEventListener("abort", onAbort);
        work();
      };
      const onMessage = (answer: ThreadAnswer) => settle(() => resolve(answer));
      const onError = (error: unknown) => settle(() => reject(explained(error)));
      const onExit = (code: number) =>
        settle(() => reject(new Error(`The thread ended (${code}).`)));
      const onAbort = () => settle(() => reject(signal.reason));
      worker.on("message", onMessage).on("error", onError).on("exit", onExit);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else worker.postMessage(request);
    });
  }
}

/** Finds out whether the matching of one piece of text takes too long. Only work that has started can be stuck. */
function stuckness(progress: Int32Array, { request: { work }, nameOf }: Job) {
  let ticks = Atomics.load(progress, 0);
  let movedAt = Number.POSITIVE_INFINITY;
  return (): ToolError | undefined => {
    const current = Atomics.load(progress, 0);
    if (current !== ticks) movedAt = performance.now();
    ticks = current;
    if (!("pattern" in work) || performance.now() - movedAt < STUCK_MS) return undefined;
    const path = nameOf?.(Atomics.load(progress, 1)) ?? ("path" in work ? work.path : "");
    const what = `Matching ${JSON.stringify(work.pattern.text)} took more than ${STUCK_MS / 1000} s`;
    const where = `for one part of ${named(path)}, so the search was stopped`;
    return failure("matching_too_slow", `${what} ${where}.`);
  };
}

/** Finds out which limit the conversion of a document exceeds. */
function excessOf({ work }: ThreadRequest, documentMb: number) {
  const path = "path" in work ? named(work.path) : "the document";
  const begin = { time: performance.now(), bytes: process.memoryUsage.rss() };
  return (): ToolError | undefined => {
    if (performance.now() - begin.time >= DOCUMENT_MS) {
      const message = `Converting ${path} to text took more than ${DOCUMENT_MS / 1000} s.`;
      return failure("document_too_slow", message);
    }
    if (process.memoryUsage.rss() - begin.bytes < documentMb * 1_048_576) return undefined;
    const message = `${path} cannot be read: it needs more than ${documentMb} MiB of memory.`;
    return failure("bad_document", message);
  };
}

function explained(error: unknown): unknown {
  if (errorCode(error) !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return failure("out_of_memory", "The operation ran out of memory.", { cause: error });
}
