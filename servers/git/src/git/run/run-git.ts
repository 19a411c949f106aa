import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { signalTree } from "@refmcp/boundary/process-tree";
import { failure } from "./errors.ts";
import { type Command, type Taker, throughSimpleGit } from "./simple-git.ts";

/** One run of the git program. */
export interface GitRun extends Command {
  /** Bytes of output after which git is stopped. Default: 64 MiB. */
  readonly maxBytes?: number;
  /**
   * Receives stdout as it arrives, which is then not in the result; returns false to stop git.
   */
  onStdout?(chunk: Buffer): boolean;
  onStderr?(text: string): void;
}

export interface GitResult {
  /** The exit code; 128 and above for a signal. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Whether the output was cut, by `maxBytes` or by `onStdout`. */
  readonly cut: boolean;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_STDERR = 64 * 1024;
/**
 * A tree of 10^10 files in a few objects makes git allocate memory without end; it is stopped here.
 */
const MAX_MEMORY_BYTES = 2 * 1024 ** 3;
const WATCH_MS = 250;
const KILL_AFTER_MS = 1_000;
/** How long output may stay open after git has exited (a background process of a hook). */
const LINGER_MS = 300;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) signalTree(child, "SIGKILL");
});

/**
 * Runs git in its own process group, so that stopping it stops what it started. Resolves with
 * any exit code.
 *
 * @throws the signal's reason when it aborts; ToolError `unavailable` if git cannot be started,
 * `too_large` if it uses too much memory
 */
export async function runGit(run: GitRun): Promise<GitResult> {
  if (run.args.some((arg) => arg.includes("\0")))
    throw failure("bad_argument", "An argument contains a NUL character.");
  const git = new RunningGit(run);
  await throughSimpleGit(run, git);
  return git.result();
}

/** One git process: collects its output, and stops it at its limits. */
class RunningGit implements Taker {
  readonly #run: GitRun;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #stderr = "";
  #code = 128;
  #cut = false;
  #error: unknown;
  /** Whether output has arrived since the last look. */
  #isActive = false;
  #killing: NodeJS.Timeout | undefined;

  constructor(run: GitRun) {
    this.#run = run;
  }

  /** @throws what stopped git, if something did */
  result(): GitResult {
    if (this.#error !== undefined) throw this.#error;
    const stdout = Buffer.concat(this.#chunks);
    return { code: this.#code, stdout, stderr: this.#stderr, cut: this.#cut };
  }

  fail(error: unknown): void {
    this.#error ??= error;
  }

  take(child: ChildProcess, stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream): void {
    running.add(child);
    const { signal } = this.#run;
    const onAbort = () => this.#stop(child, signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const watch = setInterval(() => this.#checkMemory(child), WATCH_MS).unref();
    stdout.on("data", (chunk: Buffer) => this.#receive(child, chunk));
    stderr.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      this.#stderr += text.slice(0, Math.max(0, MAX_STDERR - this.#stderr.length));
      this.#run.onStderr?.(text);
    });
    child.on("exit", () => this.#linger(child));
    child.on("close", (code) => {
      running.delete(child);
      clearInterval(watch);
      signal.removeEventListener("abort", onAbort);
      // git has exited; processes that it started may not have.
      if (this.#killing !== undefined) signalTree(child, "SIGKILL");
      clearTimeout(this.#killing);
      this.#code = code ?? 128;
    });
  }

  #receive(child: ChildProcess, chunk: Buffer): void {
    if (this.#cut || chunk.length === 0) return;
    const { onStdout, maxBytes = MAX_BYTES } = this.#run;
    this.#isActive = true;
    this.#bytes += chunk.length;
    if (onStdout === undefined) this.#chunks.push(chunk);
    else this.#cut = !onStdout(chunk);
    if (this.#bytes > maxBytes) this.#cut = true;
    if (!this.#cut) return;
    child.stdout?.destroy();
    this.#end(child);
  }

  #stop(child: ChildProcess, error: unknown): void {
    this.fail(error);
    this.#end(child);
  }

  #end(child: ChildProcess): void {
    signalTree(child, "SIGTERM");
    this.#killing ??= setTimeout(() => signalTree(child, "SIGKILL"), KILL_AFTER_MS).unref();
  }

  #checkMemory(child: ChildProcess): void {
    if (memoryOf(child) <= MAX_MEMORY_BYTES) return;
    const hint = "Request less: a narrower path, a smaller range, or a revision with fewer files.";
    const message = "git was stopped: it used more than 2 GiB of memory.";
    this.#stop(child, failure("too_large", message, { hint }));
  }

  /** After git has exited, kills its background processes once they are silent. */
  #linger(child: ChildProcess): void {
    this.#isActive = false;
    let isKilled = false;
    const lingering = setInterval(() => {
      if (this.#isActive) this.#isActive = false;
      else if (!isKilled) {
        // Their output is still in the pipes, which now end by themselves.
        isKilled = true;
        signalTree(child, "SIGKILL");
      } else {
        // A process outside the group keeps them open.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }
    }, LINGER_MS);
    child.once("close", () => clearInterval(lingering));
  }
}

/** The memory of a process in bytes; 0 on systems without /proc. */
function memoryOf({ pid }: ChildProcess): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
