import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { failure, named } from "../messages.ts";
import type { Answer, Kind, ThreadAnswer, ThreadRequest, Work } from "./files.worker.ts";
import { PROGRESS } from "./progress.ts";

/** Maximum threads; more do not make reading files faster. */
const MAX_WORKERS = Math.min(4, availableParallelism());
/** How long an idle thread is kept for the next search, in milliseconds. */
const IDLE_MS = 10_000;

/** How often a busy thread is checked, in milliseconds. */
const WATCH_MS = 250;
/** After this time, in milliseconds, a thread returns its results so far if other calls are waiting. */
const TURN_MS = 500;
/**
 * Time limit for matching one piece of text (a megabyte or a line), in milliseconds; less if other calls wait. It
 * usually takes milliseconds, or forever if a pattern backtracks.
 */
const STUCK_MS = 5_000;
const STUCK_CROWDED_MS = 2_000;

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

/** Threads for long operations. They start with the first request and end when they are idle. */
export class ThreadPool {
  readonly #waiting: Job[] = [];
  readonly #running: Job[] = [];
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  readonly width = MAX_WORKERS;
  readonly #heapMb: number;
  readonly #documentMb: number;

  /**
   * @param heapMb memory limit of a request, which fails without affecting the server; buffers are not counted.
   * @param documentMb how much the process may grow while it converts a document.
   */
  constructor(heapMb = 256, documentMb = DOCUMENT_MB) {
    this.#heapMb = heapMb;
    this.#documentMb = documentMb;
  }

  /**
   * @param nameOf the path of the file with this number, for messages about work on many.
   * @throws the signal's reason as soon as it aborts; a thread that is still working is terminated.
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
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #next(): void {
    for (const job of this.#waiting.filter(({ signal }) => signal.aborted)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.reject(job.signal.reason);
    }
    if (this.#waiting.length === 0) return;
    const thread = this.#idle.pop() ?? this.#start();
    if (thread === undefined) return;
    // Calls take turns, however many requests each has.
    const runningOf = ({ signal }: Job) =>
      this.#running.filter((one) => one.signal === signal).length;
    const job = this.#waiting.reduce((best, one) =>
      runningOf(one) < runningOf(best) ? one : best,
    );
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#running.push(job);
    void thread
      .run(job, () => this.#waiting.some(({ signal }) => signal !== job.signal && !signal.aborted))
      .then(job.resolve, job.reject)
      .finally(() => {
        this.#running.splice(this.#running.indexOf(job), 1);
        if (thread.alive) this.#idle.push(thread);
        this.#next();
      });
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= MAX_WORKERS) return undefined;
    const thread: Thread = startThread(this.#heapMb, this.#documentMb, () => {
      this.#threads.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
      this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }
}

type Thread = ReturnType<typeof startThread>;

/** @param ended called once, when the thread takes no more work. */
function startThread(heapMb: number, documentMb: number, ended: () => void) {
  const progress = new Int32Array(new SharedArrayBuffer(12));
  let timer: NodeJS.Timeout | undefined;
  const thread = { alive: true, run, end };
  const starting = (async () => {
    const worker = new Worker(workerFile("files", import.meta.url), {
      name: "files",
      workerData: progress,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // Its output must not reach the protocol's stdout.
      stdout: true,
      stderr: true,
    });
    // Errors are handled where the answer is awaited; without a listener they would end the process.
    return worker.on("error", () => undefined).once("exit", gone);
  })();
  return thread;

  /** @param isCrowded whether other calls are waiting for a thread. */
  async function run(job: Job, isCrowded: () => boolean): Promise<ThreadAnswer> {
    clearTimeout(timer);
    Atomics.store(progress, PROGRESS.hurry, 0);
    try {
      const worker = await starting;
      // An idle thread does not keep the process running.
      worker.ref();
      const answer = await answerTo(worker, job, progress, isCrowded, documentMb);
      worker.unref();
      timer = setTimeout(() => void end(), IDLE_MS).unref();
      return answer;
    } catch (error) {
      await end();
      throw error;
    }
  }

  async function end(): Promise<void> {
    gone();
    await (await starting.catch(() => undefined))?.terminate();
  }

  function gone(): void {
    if (!thread.alive) return;
    thread.alive = false;
    clearTimeout(timer);
    ended();
  }
}

function answerTo(
  worker: Worker,
  { request, signal, nameOf }: Job,
  progress: Int32Array,
  isCrowded: () => boolean,
  documentMb: number,
): Promise<ThreadAnswer> {
  return new Promise((resolve, reject) => {
    let ticks = Atomics.load(progress, PROGRESS.ticks);
    // Only work that has started can be stuck.
    let [began, moved] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const begin = { time: performance.now(), bytes: process.memoryUsage.rss() };
    const watch = setInterval(() => {
      const now = performance.now();
      const excess = request.kind === "document" ? excessOf(request, begin, documentMb) : undefined;
      if (excess !== undefined) return settle(() => reject(excess));
      const current = Atomics.load(progress, PROGRESS.ticks);
      if (current !== ticks) {
        ticks = current;
        moved = now;
        began = Math.min(began, now);
      }
      const crowded = isCrowded();
      if (crowded && now - began >= TURN_MS) Atomics.store(progress, PROGRESS.hurry, 1);
      const stuck = crowded ? STUCK_CROWDED_MS : STUCK_MS;
      if ("pattern" in request.work && now - moved >= stuck) {
        const file = Atomics.load(progress, PROGRESS.file);
        settle(() => reject(tooSlow(request, nameOf?.(file), stuck)));
      }
    }, WATCH_MS);
    const settle = (work: () => void) => {
      clearInterval(watch);
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

function tooSlow({ work }: ThreadRequest, file: string | undefined, ms: number): ToolError {
  const path = file ?? ("path" in work ? work.path : "");
  const pattern = JSON.stringify("pattern" in work ? work.pattern.text : "");
  const where = `for one part of ${named(path)}, so the search was stopped`;
  return failure(
    "matching_too_slow",
    `Matching ${pattern} took more than ${ms / 1000} s ${where}.`,
  );
}

/** Which limit the conversion of a document exceeds; undefined if none. */
function excessOf(
  { work }: ThreadRequest,
  begin: { time: number; bytes: number },
  documentMb: number,
): ToolError | undefined {
  const path = "path" in work ? named(work.path) : "the document";
  if (performance.now() - begin.time >= DOCUMENT_MS) {
    const message = `Converting ${path} to text took more than ${DOCUMENT_MS / 1000} s.`;
    return failure("document_too_slow", message);
  }
  if (process.memoryUsage.rss() - begin.bytes < documentMb * 1_048_576) return undefined;
  return failure(
    "bad_document",
    `${path} cannot be read: it needs more than ${documentMb} MiB of memory.`,
  );
}

function explained(error: unknown): unknown {
  if (errorCode(error) !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return failure("out_of_memory", "The operation ran out of memory.", { cause: error });
}
