import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { errorCode } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "./errors.ts";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Its stdin; nothing by default. */
  readonly input?: Uint8Array | string | undefined;
  /**
   * Throws its stdout away. Where git prints between writing files and the index ("Auto-merging x"),
   * a pipe to a server that was killed would end it there, with neither the old state nor the new one.
   */
  readonly silent?: boolean | undefined;
}

/** What takes the process over from simple-git, which would keep all of its output. */
export interface Taker {
  take(child: ChildProcess, stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream): void;
  fail(error: unknown): void;
}

/**
 * Everything that simple-git would refuse. Its guard searches arguments for settings that could run
 * a program; ours contain exactly these, with harmless values. Text from users and repositories never becomes an option (docs/decisions.md).
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

type Spawn = (options: { envPairs?: string[]; [name: string]: unknown }) => unknown;
/** A process before it is spawned: Node.js publishes it from its constructor. */
type Spawning = ChildProcess & { spawn: Spawn };

/**
 * What spawns the processes that simple-git is about to start, by the only variable that it gives to
 * each: simple-git provides a process' streams, and Node.js the process. (An AsyncLocalStorage would
 * make every promise of the server slower.)
 */
const starting = new Map<string, (child: Spawning, spawn: Spawn) => unknown>();
let count = 0;
subscribe("child_process", (message) => {
  const child = (message as { process: Spawning }).process;
  const spawn = child.spawn.bind(child);
  child.spawn = (options) => {
    const start = starting.get(options.envPairs?.[0] ?? "");
    return start ? start(child, (own) => spawn({ ...options, ...own })) : spawn(options);
  };
});

/**
 * Starts a process through simple-git, in its own group, and waits until it has ended. simple-git
 * starts git and knows when it has ended. It does not queue, parse, time out or stop anything: the
 * process and its streams go to `taker`, whose limits count.
 *
 * @throws the signal's reason if it has aborted already
 */
export async function throughSimpleGit(command: Command, taker: Taker): Promise<void> {
  const { simpleGit } = await import("simple-git");
  const { program, args, cwd, env, signal, input, silent } = command;
  signal.throwIfAborted();
  let started: ChildProcess | undefined;
  const start = (child: Spawning, spawn: Spawn): unknown => {
    started = child;
    child.once("error", (error) => taker.fail(startError(error)));
    const stdio = [input === undefined ? "ignore" : "pipe", silent ? "ignore" : "pipe", "pipe"];
    const envPairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    try {
      const result = spawn({ envPairs, detached: process.platform !== "win32", stdio });
      // simple-git listens to it.
      child.stdout ??= Readable.from([]);
      return result;
    } catch (error) {
      taker.fail(startError(error));
      throw error;
    }
  };
  // With this directory git does nothing at all.
  const nowhere = `/dev/null/${count++}`;
  starting.set(`GIT_DIR=${nowhere}`, start);
  try {
    const git = simpleGit({
      baseDir: cwd,
      binary: program,
      // The process may exit before all of its output has arrived.
      completion: { onClose: true, onExit: false },
      // Callers interpret the exit code.
      errors: () => undefined,
      allowEnvironment: ["GIT_DIR"],
      unsafe: UNSAFE,
      ...(input === undefined ? {} : { input: () => Buffer.from(input) }),
    });
    // simple-git searches each variable, so it gets only one.
    git.env("GIT_DIR", nowhere).outputHandler((_, stdout, stderr) => {
      stdout.removeAllListeners("data");
      stderr.removeAllListeners("data");
      if (started === undefined) throw new Error("Node.js has not published git's process.");
      taker.take(started, stdout, stderr);
      // simple-git waits another 50 ms if it has seen no output at all.
      started.on("close", () => stdout.emit("data", Buffer.alloc(0)));
    });
    await git.raw([...args]);
  } catch (error) {
    taker.fail(startError(error));
  } finally {
    starting.delete(`GIT_DIR=${nowhere}`);
  }
}

function startError(cause: unknown): ToolError {
  const code = errorCode(cause);
  if (code === "E2BIG") {
    const hint = "Pass fewer paths, or a directory that contains them.";
    return failure("too_large", "The arguments are too long for one git command.", { hint, cause });
  }
  return failure("git_missing", `git could not be started (${code ?? "unknown reason"}).`, {
    hint: "Check that git is still installed and that the repository's directory still exists.",
    cause,
  });
}
