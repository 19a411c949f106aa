import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PathGuard } from "@refmcp/boundary";
import { JsonText, oneLine, ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { failure } from "../errors.ts";
import type {
  Failure,
  Job,
  JobArguments,
  JobName,
  JobResult,
  Opened,
  Reply,
  Request,
} from "./jobs.ts";
import type { MemoryLocation } from "./location.ts";
import type { NearReader } from "./near.ts";
import { GraphWatch } from "./watch.ts";

/** Options of a job's caller. */
export interface Caller {
  /** Stops the work, even during a statement; its writes are rolled back. */
  readonly signal?: AbortSignal;
  progress?(done: number): void;
}

type Waiting = {
  readonly caller: Caller;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * A memory in its own thread, which owns the database: no search or import blocks this thread. A
 * thread that dies fails its jobs, and the next job starts another one.
 */
export class Memory {
  readonly space: string;
  /** The files that may be imported and exported. */
  readonly paths: PathGuard;
  /** A file that may be imported without being in an allowed directory. */
  official: string | undefined;
  /** What its user should know about damage. */
  warning: string | undefined;
  readonly watch = new GraphWatch((seen) => this.run("changesAfter", [seen]));
  readonly #location: MemoryLocation;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #opened: Promise<Opened> | undefined;
  /** Reads a small memory in this thread. */
  #near: Promise<NearReader | undefined> | undefined;
  #last = 0;
  #isClosed = false;
  #notice = "";

  constructor(location: MemoryLocation, paths: PathGuard) {
    this.space = location.space;
    this.paths = paths;
    this.#location = location;
  }

  /** @throws ToolError if the location cannot be opened; see `openStore`. */
  static async at(location: MemoryLocation, paths: PathGuard): Promise<Memory> {
    const memory = new Memory(location, paths);
    const { notice, warning, official } = await memory.#open();
    memory.warning = warning;
    memory.official = official;
    memory.#notice = [warning, notice].filter(Boolean).join(" ");
    return memory;
  }

  /** If it fails, the next call tries again. */
  #open(): Promise<Opened> {
    this.#opened ??= this.#start();
    return this.#opened;
  }

  /** A notice about the location or its files, to show the user once. */
  takeNotice(): { notice?: string } {
    const notice = this.#notice;
    this.#notice = "";
    return notice === "" ? {} : { notice };
  }

  /** @throws what the job throws; ToolError `cancelled` if its signal aborted. */
  async run<Name extends JobName>(
    name: Name,
    args: JobArguments<Name>,
    caller: Caller = {},
  ): Promise<JobResult<Name>> {
    // The thread answers with what the job of this name returns.
    return (await this.#send({ name, args }, caller)) as JobResult<Name>;
  }

  async #send(job: Pick<Job, "name" | "args" | "asText">, caller: Caller): Promise<unknown> {
    await this.#open();
    const flag = new Int32Array(new SharedArrayBuffer(4));
    this.#last += 1;
    const id = this.#last;
    const stop = () => {
      Atomics.store(flag, 0, 1);
      this.#worker?.postMessage({ id, stopped: true } satisfies Request);
    };
    caller.signal?.throwIfAborted();
    caller.signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#answer(id, caller, { id, ...job, flag });
    } finally {
      caller.signal?.removeEventListener("abort", stop);
    }
  }

  /**
   * The result of a reading job as JSON text, which is passed on without being parsed.
   *
   * @throws as `run`.
   */
  async text<Name extends JobName>(
    name: Name,
    args: JobArguments<Name>,
    caller: Caller = {},
  ): Promise<JsonText> {
    await this.#open();
    caller.signal?.throwIfAborted();
    const near = await this.#near?.then((one) => one?.run(name, args));
    return new JsonText(near ?? String(await this.#send({ name, args, asText: true }, caller)));
  }

  /** Closes the database after the current work. */
  async close(): Promise<void> {
    this.watch.close();
    this.#isClosed = true;
    (await this.#near)?.close();
    const worker = this.#worker;
    if (worker === undefined) return;
    const exit = once(worker, "exit");
    worker.postMessage("close");
    await exit;
  }

  /** Sends a request and waits for the answer with its id; until then the thread keeps the process running. */
  #answer(id: number, caller: Caller, request?: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#worker === undefined) return reject(stopped());
      this.#waiting.set(id, { caller, resolve, reject });
      this.#worker.ref();
      if (request !== undefined) this.#worker.postMessage(request);
    });
  }

  async #start(): Promise<Opened> {
    if (this.#isClosed) throw stopped();
    const worker = new Worker(workerFile("graph", import.meta.url), {
      name: "memory",
      workerData: this.#location,
      // Its output must not reach the protocol's stdout.
      stdout: true,
      stderr: true,
    });
    this.#worker = worker;
    let fault: unknown;
    let isOpen = false;
    worker.on("error", (error) => (fault = error));
    worker.on("message", (reply: Reply) => this.#take(reply));
    worker.once("exit", () => {
      this.#worker = undefined;
      this.#opened = undefined;
      // The next thread may open another file in the same place.
      void this.#near?.then((near) => near?.close());
      this.#near = undefined;
      const notStarted = `The memory thread could not start${because(fault)}.`;
      const error = isOpen ? stopped(fault) : failure("not_started", notStarted, { cause: fault });
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    // The first message is sent without a request.
    const opened = (await this.#answer(0, {})) as Opened;
    isOpen = true;
    const location = this.#location;
    // A damaged file needs the thread.
    if (location.kind === "sqlite" && opened.warning === undefined)
      this.#near ??= import("./near.ts").then(({ NearReader }) => NearReader.open(location.file));
    return opened;
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if ("progress" in reply) {
      waiting?.caller.progress?.(reply.progress);
      return;
    }
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ("failed" in reply) waiting?.reject(errorOf(reply.failed));
    else waiting?.resolve(reply.value);
  }
}

function stopped(cause?: unknown): ToolError {
  const message = `The memory thread stopped${because(cause)}. Calls without a response were not saved.`;
  return new ToolError("unavailable", message, { hint: "Repeat the call.", cause });
}

function because(cause: unknown): string {
  const [line = ""] = (cause instanceof Error ? cause.message : "").split("\n");
  return line === "" ? "" : ` (${oneLine(line)})`;
}

function errorOf({ kind, message, detail, ...options }: Failure): Error {
  if (kind !== undefined) return new ToolError(kind, message, { ...options, cause: detail });
  const error = new Error(message);
  if (detail !== undefined) error.stack = detail;
  return error;
}
