import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { sized, ToolError } from "@refmcp/boundary/answer";
import { signalTree } from "@refmcp/boundary/process-tree";
import { failure } from "../errors.ts";
import type { Calling } from "../session/deadline.ts";
import type { Upload } from "../session/downloads.ts";
import type { Method, Methods } from "./methods.ts";
import { driverProcess, HEAP_MB } from "./process.ts";
import { type DriverOptions, type Order, packed, type Reply, unpacked } from "./protocol.ts";

export interface DriverHost {
  /** The environment of the processes, with the secrets. */
  readonly env: NodeJS.ProcessEnv;
  readonly readUpload: (path: string) => Promise<Upload>;
  readonly log: (sentence: string) => void;
}

const MAX_BYTES = 1e9;
/** A driver that uses this much memory serves no further runs. */
const REPLACE_BYTES = 5e8;
/** Memory limits of one browser process, and of all of them. */
const MAX_PAGE_BYTES = 1.5e9;
const MAX_BROWSER_BYTES = 4e9;
const WATCH_MS = 500;
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
 * A process with Playwright and a browser. Whatever a page does to them, the server's own process stays small and
 * responsive: a driver that uses too much memory or time is ended, with its runs.
 */
export class Driver {
  readonly #child: ChildProcess;
  readonly #host: DriverHost;
  readonly #calls = new Map<number, Pending>();
  #last = 0;
  #said = "";
  #why: ToolError | undefined;
  #needsReplacement = false;
  #isRetired = false;
  #watch: NodeJS.Timeout | undefined;
  #keepsWatch = false;
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

  get callCount(): number {
    return this.#last;
  }

  /** Whether it answers questions; those about devices and sentences need no browser. */
  get isOpen(): boolean {
    return this.#child.connected && this.#why === undefined && !this.#isRetired;
  }

  /** Whether it can take a run. */
  get isFit(): boolean {
    return this.isOpen && !this.#needsReplacement;
  }

  /**
   * Calls one of its methods.
   *
   * @param maxMs after this time and a grace period without a reply it is ended; a run's time begins when its page is open.
   * @throws what the method throws; ToolError `too_large`, `timeout` or `unavailable` if the driver was ended.
   */
  async call<Name extends Method>(
    method: Name,
    given: Parameters<Methods[Name]>[0],
    call: Calling,
    maxMs: number,
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    const { signal } = call;
    signal.throwIfAborted();
    this.#last += 1;
    const id = this.#last;
    const late = new ToolError("timeout", `The run did not end within ${Math.round(maxMs)} ms.`, {
      hint: "The page keeps the browser's driver busy. Check less in one run, or fix the page.",
    });
    let timer: NodeJS.Timeout | undefined;
    const started = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.kill(late), maxMs + GRACE_MS);
    };
    if (method !== "run") started();
    const cancel = () => {
      this.#send({ id, abort: packed(signal.reason) });
      clearTimeout(timer);
      timer = setTimeout(() => this.kill(late), GRACE_MS);
    };
    signal.addEventListener("abort", cancel, { once: true });
    this.#watchMemory();
    try {
      return await new Promise<Awaited<ReturnType<Methods[Name]>>>((resolve, reject) => {
        this.#calls.set(id, { resolve, reject, call, started });
        if (this.#child.connected)
          this.#send({ id, method, given, endsAt: Date.now() + call.leftMs });
        else this.#fail();
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      if (this.#calls.size === 0 && !this.#keepsWatch) this.#unwatch();
      if (this.#calls.size === 0 && this.#isRetired) void this.close();
    }
  }

  /** Also watches its memory between calls, for a page that stays open. */
  watchMemoryBetweenCalls(): void {
    this.#keepsWatch = true;
    this.#watchMemory();
  }

  #watchMemory(): void {
    this.#watch ??= setInterval(() => void this.#look(), WATCH_MS).unref();
  }

  #unwatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** Kills it immediately, with its browser. */
  async kill(why: ToolError): Promise<void> {
    this.#why ??= why;
    const { pid } = this.#child;
    // The browser ends by itself when its driver has ended, unless it hangs.
    const family = pid === undefined ? [] : await familyOf(pid);
    if (process.platform === "win32") signalTree(this.#child, "SIGKILL");
    else this.#child.kill("SIGKILL");
    for (const one of family) killed(one.pid);
  }

  /** Shuts it down cleanly after the calls that it still has; it gets no others. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls.size === 0) void this.close();
  }

  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(
      () => void this.kill(new ToolError("unavailable", "The server is closing.")),
      GRACE_MS,
    );
    await this.ended;
    clearTimeout(timer);
  }

  #send(order: Order): void {
    // If sending fails, the process's exit event reports it.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  #receive(reply: Reply): void {
    if ("log" in reply) this.#host.log(reply.log);
    else if ("unfit" in reply) this.#needsReplacement = true;
    else if ("ask" in reply) void this.#upload(reply.ask, reply.path);
    else if ("progress" in reply) {
      const pending = this.#calls.get(reply.id);
      if (reply.progress[2] !== undefined && pending?.call.signal.aborted === false)
        pending.started();
      pending?.call.progress(...reply.progress);
    } else {
      const pending = this.#calls.get(reply.id);
      this.#calls.delete(reply.id);
      this.#needsReplacement ||= reply.rss > REPLACE_BYTES;
      if ("failed" in reply) pending?.reject(unpacked(reply.failed));
      else pending?.resolve(reply.value);
    }
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
        ? tooLarge(HEAP_MB * 1_048_576)
        : new ToolError(
            "unavailable",
            "The process that drives the browser ended during the run.",
            {
              hint: "Run it again.",
              cause: this.#said,
            },
          ));
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
    this.#unwatch();
    return error;
  }

  /** Kills what uses too much memory: a page, whose run then reports a crash, or the driver. */
  async #look(): Promise<void> {
    const [driver, ...browser] = await familyOf(this.#child.pid ?? 0);
    if (driver !== undefined && driver.bytes > MAX_BYTES) return this.kill(tooLarge(MAX_BYTES));
    const bySize = browser.sort((a, b) => b.bytes - a.bytes);
    const all = bySize.reduce((sum, { bytes }) => sum + bytes, 0);
    const [largest] = bySize;
    if (largest !== undefined && (largest.bytes > MAX_PAGE_BYTES || all > MAX_BROWSER_BYTES))
      killed(largest.pid);
  }
}

const tooLarge = (max: number) =>
  failure(
    "memory",
    `The page made the browser's driver use more than ${sized(max)}, so the run was stopped.`,
  );

export interface Used {
  readonly pid: number;
  readonly parent: number;
  readonly bytes: number;
}

/** A process and its descendants; empty on Windows, which has no cheap way to list them. */
export async function familyOf(pid: number): Promise<Used[]> {
  if (process.platform === "linux") return fromProc(pid);
  const all = process.platform === "win32" ? [] : await fromPs();
  const family = all.filter((one) => one.pid === pid);
  for (const { pid: parent } of family) family.push(...all.filter((one) => one.parent === parent));
  return family;
}

/** Asks only these processes: proc_pid_status(5) has their memory in kB, and each thread its children. */
function fromProc(pid: number, parent = 0): Used[] {
  const home = `/proc/${pid}`;
  const [, kilobytes] = /^VmRSS:\s*(\d+)/m.exec(textOf(`${home}/status`)) ?? [];
  if (kilobytes === undefined) return [];
  const children = threadsOf(home).flatMap(
    (thread) => textOf(`${home}/task/${thread}/children`).match(/\d+/g) ?? [],
  );
  return [
    { pid, parent, bytes: Number(kilobytes) * 1_024 },
    ...children.flatMap((child) => fromProc(Number(child), pid)),
  ];
}

// A process or thread that has ended has nothing there.
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function threadsOf(home: string): string[] {
  try {
    return readdirSync(`${home}/task`);
  } catch {
    return [];
  }
}

/** Ends a process at once; a negative id means its group. */
export function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

async function fromPs(): Promise<Used[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,rss="]).catch(() => ({
    stdout: "",
  }));
  return stdout.split("\n").map((line) => {
    const [pid = 0, parent = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, bytes: kilobytes * 1_024 };
  });
}
