import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import module from "node:module";
import { ToolError } from "@refmcp/boundary/answer";
import { signalTree } from "@refmcp/boundary/process-tree";
import { workerFile } from "@refmcp/core/worker-file";
import type { Calling } from "../deadline.ts";
import { failure } from "../errors.ts";
import type { Upload } from "../page/downloads.ts";
import type { Method, Methods } from "./methods.ts";
import { type DriverOptions, type Order, packed, type Reply, unpacked } from "./protocol.ts";

export interface DriverHost {
  /** The environment of the processes, with the secrets. */
  readonly env: NodeJS.ProcessEnv;
  readonly readUpload: (path: string) => Promise<Upload>;
  readonly log: (sentence: string) => void;
}

const HEAP_MB = 512;
/** A driver that uses this much memory, or had this many calls, serves no further ones: pages leave data in it. */
const REPLACE_BYTES = 5e8;
const MAX_CALLS = 200;
/** How long after its time limit a driver may take to reply. */
const GRACE_MS = 5_000;
const SAID_CHARS = 2_000;

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly call: Calling;
  /** Called when the work on the page begins or goes on. */
  readonly started: () => void;
}

/**
 * A process with Playwright and a browser. No page can make the server's own process grow or stop responding: a driver
 * that takes too long is killed, and one whose heap is full ends by itself.
 */
export class Driver {
  readonly #child: ChildProcess;
  readonly #host: DriverHost;
  readonly #calls = new Map<number, Pending>();
  #last = 0;
  #said = "";
  #why: ToolError | undefined;
  #isRetired = false;
  #isUnfit = false;
  /** Resolves when the process has ended, with the reason. */
  readonly ended: Promise<ToolError>;

  constructor(options: DriverOptions, host: DriverHost) {
    this.#host = host;
    this.#child = driverProcess(host.env);
    this.#child.stderr?.on("data", (chunk) => {
      this.#said = (this.#said + String(chunk)).slice(-SAID_CHARS);
    });
    this.#child.on("error", () => undefined);
    this.#child.on("message", (reply: Reply) => this.#receive(reply));
    // Not "close", which is not emitted after a disconnect.
    this.ended = once(this.#child, "exit").then(([code, signal]) => this.#fail(code, signal));
    this.#send({ open: options });
  }

  /** Whether it answers questions; those about devices and sentences need no browser. */
  get isOpen(): boolean {
    return this.#child.connected && this.#why === undefined && !this.#isRetired;
  }

  /** Whether it can take a run. */
  get isFit(): boolean {
    return this.isOpen && !this.#isUnfit && this.#last < MAX_CALLS;
  }

  /**
   * Calls one of its methods.
   *
   * @param maxMs after this time and a grace period without a reply it is ended; a run's time begins when its page is open.
   * @throws what the method throws; ToolError `timeout` if this call ended the driver, or with code `restarted` if another did.
   */
  async call<Name extends Method>(
    method: Name,
    params: Parameters<Methods[Name]>[0],
    call: Calling,
    maxMs: number,
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    const { signal } = call;
    signal.throwIfAborted();
    this.#last += 1;
    const id = this.#last;
    const late = () => {
      const message = `The run did not end within ${Math.round(maxMs)} ms.`;
      const hint =
        "The page keeps the browser's driver busy. Check less in one run, or fix the page.";
      this.#calls.get(id)?.reject(new ToolError("timeout", message, { hint }));
      this.#calls.delete(id);
      this.kill(failure("restarted", "A page of another run made the browser's driver restart."));
    };
    let timer: NodeJS.Timeout | undefined;
    const started = (ms = maxMs + GRACE_MS) => {
      clearTimeout(timer);
      timer = setTimeout(late, ms);
    };
    if (method !== "run") started();
    const cancel = () => {
      this.#send({ id, abort: packed(signal.reason) });
      started(GRACE_MS);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await new Promise<Awaited<ReturnType<Methods[Name]>>>((resolve, reject) => {
        this.#calls.set(id, { resolve, reject, call, started: () => started() });
        if (this.#child.connected)
          this.#send({ id, method, params, endsAt: Date.now() + call.leftMs });
        else this.#fail();
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      if (this.#calls.size === 0 && this.#isRetired) void this.close();
    }
  }

  /** Kills it immediately; its browser ends when the connection does. */
  kill(why: ToolError): void {
    this.#why ??= why;
    if (process.platform === "win32") signalTree(this.#child, "SIGKILL");
    else this.#child.kill("SIGKILL");
  }

  /** Shuts it down cleanly after the calls that it still has; it gets no others. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls.size === 0) void this.close();
  }

  async close(): Promise<void> {
    this.#isRetired = true;
    if (this.#child.connected) this.#child.disconnect();
    const closing = new ToolError("unavailable", "The server is closing.");
    const timer = setTimeout(() => this.kill(closing), GRACE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #send(order: Order): void {
    // If sending fails, the process's exit event reports it.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  #receive(reply: Reply): void {
    if ("log" in reply) this.#host.log(reply.log);
    else if ("unfit" in reply) this.#isUnfit = true;
    else if ("ask" in reply) void this.#upload(reply.ask, reply.path);
    else this.#answer(reply, this.#calls.get(reply.id));
  }

  #answer(reply: Extract<Reply, { id: number }>, pending: Pending | undefined): void {
    if ("progress" in reply) {
      const isNote = reply.progress[2] !== undefined && pending?.call.signal.aborted === false;
      if (isNote) pending.started();
      pending?.call.progress(...reply.progress);
      return;
    }
    this.#calls.delete(reply.id);
    this.#isUnfit ||= reply.rss > REPLACE_BYTES;
    if ("failed" in reply) pending?.reject(unpacked(reply.failed));
    else pending?.resolve(reply.value);
  }

  async #upload(asked: number, path: string): Promise<void> {
    try {
      this.#send({ asked, upload: await this.#host.readUpload(path) });
    } catch (error) {
      this.#send({ asked, failed: packed(error) });
    }
  }

  #fail(code?: number | null, signal?: NodeJS.Signals | null): ToolError {
    // V8 aborts when its heap is full.
    const isFull = signal === "SIGABRT" || code === 134 || /heap out of memory/i.test(this.#said);
    const error =
      this.#why ??
      (isFull
        ? failure("memory", `The page made the browser's driver use more than ${HEAP_MB} MB.`)
        : failure("restarted", "The process that drives the browser ended during the run.", {
            cause: this.#said,
          }));
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
    return error;
  }
}

/** A process that waits for its first request. */
function driverProcess(env: NodeJS.ProcessEnv): ChildProcess {
  // Node.js 22 and newer keep compiled code between starts: Playwright then loads in half the time.
  const cache: unknown = Reflect.get(module, "getCompileCacheDir")?.();
  return fork(workerFile("driver", import.meta.url), [], {
    serialization: "advanced",
    env: { ...env, ...(typeof cache === "string" ? { NODE_COMPILE_CACHE: cache } : {}) },
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
