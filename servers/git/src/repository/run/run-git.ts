import { AsyncLocalStorage } from "node:async_hooks";
import { type ChildProcess, spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

/** One run of the git program. */
export interface GitRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Its stdin; nothing by default. */
  readonly input?: Uint8Array | string;
  /** Bytes of output after which git is stopped. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Receives stdout as it arrives, which is then not in the result; returns false to stop git. */
  onStdout?(chunk: Buffer): boolean;
  /** Receives stderr as it arrives: progress. */
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
/** A tree of 10^10 files in a few objects makes git allocate memory without end; it is stopped at this limit. */
const MAX_MEMORY_BYTES = 2 * 1024 ** 3;
const KILL_AFTER_MS = 1_000;
/** How long output may stay open after git has exited (a background process of a hook). */
const LINGER_MS = 300;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) signalGroup(child, "SIGKILL");
});

/**
 * Runs git through simple-git, in its own process group, so that stopping it stops whatever it started.
 * Resolves with any exit code.
 *
 * @throws the signal's reason when it aborts; ToolError `unavailable` if git cannot be started, `too_large` if it uses too much
 * memory.
 */
export async function runGit(run: GitRun): Promise<GitResult> {
  if (run.args.some((arg) => arg.includes("\0"))) {
    throw new ToolError("invalid", "An argument contains a NUL character.", {
      code: "bad_argument",
      hint: "Names, paths, patterns and dates in git cannot contain NUL; remove it.",
    });
  }
  const { simpleGit } = await import("simple-git");
  run.signal.throwIfAborted();
  const started = new Run(run);
  try {
    const git = simpleGit({
      baseDir: run.cwd,
      binary: run.program,
      abort: started.giveUp.signal,
      // The process may exit before all of its output has arrived.
      completion: { onClose: true, onExit: false },
      // Callers interpret the exit code.
      errors: () => undefined,
      allowEnvironment: Object.keys(run.env),
      unsafe: UNSAFE,
      ...(run.input === undefined ? {} : { input: () => Buffer.from(run.input ?? "") }),
    });
    git.env({ ...run.env }).outputHandler((_, stdout, stderr) => started.take(stdout, stderr));
    await starting.run(started, () => git.raw([...run.args]));
  } catch (error) {
    started.fail(startError(error));
  }
  return started.result();
}

/**
 * Everything that simple-git would refuse. Its guard searches arguments and environment for settings that could run a program;
 * ours contain exactly these, with harmless values (safe-config.ts, environment.ts). Text from users and repositories never
 * becomes an option (decisions/0008).
 */
const UNSAFE = Object.fromEntries(
  `
    Alias AskPass CommandBinaries ConfigEnvCount ConfigPaths CredentialHelper CustomBinary DiffExternal
    DiffTextConv Editor Exec Filter FsMonitor GitProxy GpgProgram HooksPath Include MergeDriver Pack
    Pager ProtocolOverride SshCommand Submodule TemplateDir UrlRewrite
  `
    .trim()
    .split(/\s+/)
    .map((name) => [`allowUnsafe${name}`, true]),
);

/** The run whose process is being started: simple-git provides its streams, and Node.js its process. */
const starting = new AsyncLocalStorage<Run>();
subscribe("child_process", (message) => {
  const started = starting.getStore();
  if (started !== undefined) started.prepare((message as { process: Spawning }).process);
});

/** A process before it is spawned: Node.js publishes it from its constructor. */
type Spawning = ChildProcess & { spawn(options: object): unknown };

/** A run in progress. */
class Run {
  /** For a process without its own group, which only simple-git can end. */
  readonly giveUp = new AbortController();
  readonly #run: GitRun;
  readonly #chunks: Buffer[] = [];
  #child: ChildProcess | undefined;
  #failure: unknown;
  #bytes = 0;
  #stderr = "";
  #code = 128;
  #cut = false;
  #moving = false;
  #killing: NodeJS.Timeout | undefined;

  constructor(run: GitRun) {
    this.#run = run;
  }

  /** Before the process is spawned: gives it its own group, and no stdin if there is nothing to read. */
  prepare(child: Spawning): void {
    this.#child = child;
    const spawn = child.spawn.bind(child);
    child.spawn = (options) => {
      try {
        return spawn({
          ...options,
          detached: process.platform !== "win32",
          stdio: [this.#run.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        });
      } catch (error) {
        this.fail(startError(error));
        throw error;
      }
    };
    child.once("error", (error) => this.fail(startError(error)));
  }

  /** Takes over the output from simple-git, which would keep all of it. */
  take(stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream): void {
    stdout.removeAllListeners("data");
    stderr.removeAllListeners("data");
    const child = this.#child;
    if (child === undefined || !ownsGroup(child)) {
      if (child !== undefined) {
        child.kill("SIGKILL");
        signalGroup(child, "SIGKILL");
        // Processes that it started may keep the pipes open; don't wait for them.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }
      queueMicrotask(() => this.giveUp.abort());
      this.fail(
        new ToolError("unavailable", "git was stopped: its own process group could not be created.", {
          code: "git_failed",
          hint: "Without one, processes that git starts could outlive the call. Another version of Node.js may help.",
        }),
      );
      return;
    }
    running.add(child);
    const stop = () => this.#stop(child);
    const onAbort = (): void => {
      this.fail(this.#run.signal.reason);
      stop();
    };
    this.#run.signal.addEventListener("abort", onAbort, { once: true });
    if (this.#run.signal.aborted) onAbort();
    const watch = watchMemory(child, () => {
      this.fail(
        new ToolError("too_large", "git was stopped: it used more than 2 GiB of memory.", {
          code: "too_large",
          hint: "Request less: a narrower path, a smaller range, or a revision with fewer files.",
        }),
      );
      stop();
    });
    stdout.on("data", (chunk: Buffer) => this.#onStdout(child, chunk));
    stderr.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      if (this.#stderr.length < MAX_STDERR) this.#stderr += text.slice(0, MAX_STDERR - this.#stderr.length);
      if (text !== "") this.#run.onStderr?.(text);
    });
    child.on("exit", () => this.#linger(child));
    child.on("close", (code) => {
      clearInterval(watch);
      running.delete(child);
      this.#run.signal.removeEventListener("abort", onAbort);
      if (this.#killing !== undefined) {
        clearTimeout(this.#killing);
        // git has exited; processes that it started may not have.
        signalGroup(child, "SIGKILL");
      }
      this.#code = code ?? 128;
      // simple-git waits another 50 ms if it has seen no output at all.
      stdout.emit("data", Buffer.alloc(0));
    });
  }

  /** The first failure counts. */
  fail(reason: unknown): void {
    this.#failure ??= reason;
  }

  result(): GitResult {
    if (this.#failure !== undefined) throw this.#failure;
    return { code: this.#code, stdout: Buffer.concat(this.#chunks), stderr: this.#stderr, cut: this.#cut };
  }

  #onStdout(child: ChildProcess, chunk: Buffer): void {
    if (this.#cut || chunk.length === 0) return;
    this.#moving = true;
    this.#bytes += chunk.length;
    let isEnough = false;
    if (this.#run.onStdout === undefined) this.#chunks.push(chunk);
    else isEnough = !this.#run.onStdout(chunk);
    if (!isEnough && this.#bytes <= (this.#run.maxBytes ?? MAX_BYTES)) return;
    this.#cut = true;
    child.stdout?.destroy();
    this.#stop(child);
  }

  #stop(child: ChildProcess): void {
    signalGroup(child, "SIGTERM");
    this.#killing ??= setTimeout(() => signalGroup(child, "SIGKILL"), KILL_AFTER_MS).unref();
  }

  /** After git has exited, kills its background processes once they are silent. */
  #linger(child: ChildProcess): void {
    this.#moving = false;
    let killed = false;
    const lingering = setInterval(() => {
      if (this.#moving) this.#moving = false;
      else if (!killed) {
        // Their output is still in the pipes, which now end by themselves.
        killed = true;
        signalGroup(child, "SIGKILL");
      } else {
        // A process outside the group keeps them open. Pipes were read since the last tick, however busy the machine is.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }
    }, LINGER_MS);
    child.once("close", () => clearInterval(lingering));
  }
}

/** Whether the process leads a group, so that a signal reaches all that it starts. Windows has no groups. */
function ownsGroup({ pid }: ChildProcess): boolean {
  // A process that could not be started has no pid; its error follows.
  if (pid === undefined || process.platform === "win32") return true;
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

/**
 * Like `Promise.all`, but if one promise fails, the error is thrown only after the others have settled, so that no process
 * outlives its call.
 */
export async function together<const Work extends readonly unknown[]>(work: Work) {
  await Promise.allSettled(work);
  return Promise.all(work);
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
    // The group has already ended.
  }
}

/** Checks the process's memory every quarter of a second, on systems with /proc (Linux). */
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

function startError(cause: unknown): ToolError {
  const code = errorCode(cause);
  if (code === "E2BIG")
    return new ToolError("too_large", "The arguments are too long for one git command.", {
      code: "too_large",
      hint: "Pass fewer paths, or a directory that contains them.",
      cause,
    });
  return new ToolError("unavailable", `git could not be started (${code ?? "unknown reason"}).`, {
    code: "git_missing",
    hint: "Check that git is still installed and that the repository's directory still exists.",
    cause,
  });
}
