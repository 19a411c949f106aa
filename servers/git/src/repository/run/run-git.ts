import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { ToolError } from "@refmcp/core/answer";

/** One run of the git program. */
export interface GitRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** What it reads from stdin; nothing by default. */
  readonly input?: Uint8Array | string;
  /** The output is cut here and git is stopped, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Sees stdout as it comes, instead of the result; returns false when it has seen enough. */
  onStdout?(chunk: Buffer): boolean;
  /** Sees stderr as it comes: progress. */
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
/** A tree of 10^10 files in a few objects makes git ask for memory without end; this is where it is stopped. */
const MAX_MEMORY_BYTES = 2 * 1024 ** 3;
const KILL_AFTER_MS = 1_000;
/** How long output may stay open after git itself ended (a hook's child that went to the background). */
const LINGER_MS = 300;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) signalGroup(child, "SIGKILL");
});

/**
 * Runs git with its own process group, so that stopping it stops whatever it started. Resolves with any exit code.
 *
 * @throws the signal's reason when it aborts; ToolError `unavailable` where git cannot be started, `too_large`
 * where it takes too much memory.
 */
export function runGit(run: GitRun): Promise<GitResult> {
  run.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = start(run);
    running.add(child);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let stderr = "";
    let cut = false;
    let moving = false;
    let failure: unknown;

    let killing: NodeJS.Timeout | undefined;

    const stop = (): void => {
      signalGroup(child, "SIGTERM");
      killing ??= setTimeout(() => signalGroup(child, "SIGKILL"), KILL_AFTER_MS).unref();
    };
    const onAbort = (): void => {
      failure ??= run.signal.reason;
      stop();
    };
    const enough = (): void => {
      cut = true;
      child.stdout?.destroy();
      stop();
    };
    run.signal.addEventListener("abort", onAbort, { once: true });
    const watch = watchMemory(child, () => {
      failure ??= new ToolError("too_large", "git was stopped: it took more than 2 GiB of memory.", {
        code: "too_large",
        hint: "Ask for less: a narrower path, a smaller range, or a revision that is not a tree of millions of files.",
      });
      stop();
    });

    child.stdout?.on("data", (chunk: Buffer) => {
      if (cut) return;
      moving = true;
      bytes += chunk.length;
      if (run.onStdout === undefined) chunks.push(chunk);
      else if (!run.onStdout(chunk)) return enough();
      if (bytes > (run.maxBytes ?? MAX_BYTES)) enough();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      if (stderr.length < MAX_STDERR) stderr += text.slice(0, MAX_STDERR - stderr.length);
      run.onStderr?.(text);
    });
    if (run.input !== undefined) {
      // git may end before it has read everything.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(run.input);
    }

    const settle = (code: number): void => {
      clearInterval(watch);
      if (killing !== undefined) {
        clearTimeout(killing);
        // git has ended; what it had started may not have.
        signalGroup(child, "SIGKILL");
      }
      running.delete(child);
      run.signal.removeEventListener("abort", onAbort);
      if (failure !== undefined) reject(failure);
      else resolve({ code, stdout: Buffer.concat(chunks), stderr, cut });
    };
    child.on("error", (error: NodeJS.ErrnoException) => {
      failure ??= startError(error);
      settle(-1);
    });
    child.on("exit", () => {
      moving = false;
      const lingering = setInterval(() => {
        // After the next look at the pipes: on a busy machine what git wrote may still be in them when the timer is due.
        setImmediate(() => {
          if (moving) moving = false;
          else {
            signalGroup(child, "SIGKILL");
            child.stdout?.destroy();
            child.stderr?.destroy();
          }
        });
      }, LINGER_MS);
      child.once("close", () => clearInterval(lingering));
    });
    child.on("close", (code) => settle(code ?? 128));
  });
}

/**
 * The values of work that goes on side by side, as `Promise.all` gives them; where one part fails, the others have ended
 * too before it is said, so that no process outlives its call.
 */
export async function together<const Work extends readonly unknown[]>(work: Work) {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Starts git; what the system refuses at once is thrown. */
function start(run: GitRun): ChildProcess {
  if (run.args.some((arg) => arg.includes("\0"))) {
    throw new ToolError("invalid", "An argument holds a NUL character.", {
      code: "bad_argument",
      hint: "No name, path, pattern or date of git's can hold one; leave it out.",
    });
  }
  try {
    return spawn(run.program, run.args, {
      cwd: run.cwd,
      env: run.env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [run.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    throw startError(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Signals the child's process group (Windows: the child and, through taskkill, its descendants). */
function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    if (child.exitCode === null)
      spawn("taskkill", ["/T", "/F", "/PID", String(pid)], { stdio: "ignore", windowsHide: true }).on(
        "error",
        () => child.kill(),
      );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** Looks at the process' own memory every quarter of a second, where the system tells it (Linux). */
function watchMemory(child: ChildProcess, exceeded: () => void): NodeJS.Timeout {
  return setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
      const kilobytes = Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      if (kilobytes * 1024 > MAX_MEMORY_BYTES) exceeded();
    } catch {
      // No such file system, or the process has just ended.
    }
  }, 250).unref();
}

function startError(error: NodeJS.ErrnoException): ToolError {
  if (error.code === "E2BIG")
    return new ToolError("too_large", "The arguments are too long for one git command.", {
      code: "too_large",
      hint: "Name fewer paths, or a directory that holds them.",
      cause: error,
    });
  return new ToolError("unavailable", `git could not be started (${error.code ?? "unknown reason"}).`, {
    code: "git_missing",
    hint: "Check that git still is installed and that the repository's directory still exists.",
    cause: error,
  });
}
