import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { signalTree } from "@refmcp/boundary/process-tree";
import type { ConfigPair, FilterPolicy } from "./config.ts";
import { failure } from "./errors.ts";
import { type Command, throughSimpleGit } from "./simple-git.ts";

/** Variables that are passed to git: those that it needs to find its files, the user's identity, and none that control it. */
const LOCAL = `
  PATH HOME USERPROFILE HOMEDRIVE HOMEPATH XDG_CONFIG_HOME TMPDIR TEMP TMP SystemRoot ProgramData ProgramFiles
  APPDATA LOCALAPPDATA TZ GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL
`;
/** Additional variables for remotes: the user's SSH agent and proxies. */
const REMOTE = `
  SSH_AUTH_SOCK USER LOGNAME http_proxy https_proxy HTTPS_PROXY ALL_PROXY all_proxy no_proxy NO_PROXY
  SSL_CERT_FILE SSL_CERT_DIR
`;

/**
 * The environment of a git process: an allow-list of the server's variables (so no GIT_DIR, GIT_EXTERNAL_DIFF, GIT_SSH_COMMAND
 * or LD_PRELOAD is passed on), and git's switches against prompts, lazy fetches (which run promisor remotes), replaced objects
 * and pathspec magic.
 *
 * @param protocols what a remote may be contacted with, for example `https`; omitted for local work, which may use none, so that
 * nothing in a repository can start a transport.
 * @param filters the user's filters (git-lfs) get the variables for remotes too
 */
export function gitEnvironment(
  from: NodeJS.ProcessEnv,
  protocols?: readonly string[],
  filters: FilterPolicy = "off",
): Record<string, string> {
  return {
    ...variables(from, protocols !== undefined || filters === "own" ? LOCAL + REMOTE : LOCAL),
    LC_ALL: "C",
    GIT_ALLOW_PROTOCOL: protocols?.join(":") ?? "",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_TERMINAL_PROMPT: "0",
    GCM_INTERACTIVE: "never",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_PAGER: "cat",
    GIT_MERGE_AUTOEDIT: "no",
    GIT_ADVICE: "0",
    // Not the user's ssh command: BatchMode never asks and never accepts an unknown host's key.
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes",
    GIT_SSH_VARIANT: "ssh",
  };
}

/** The variables of an environment with these names, separated by spaces. */
export function variables(from: NodeJS.ProcessEnv, names: string): Record<string, string> {
  const found = names.trim().split(/\s+/);
  return Object.fromEntries(
    found.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])),
  );
}

/**
 * Adds configuration to an environment. `git -c` splits at the first `=`, so it could not override a filter named `a=b`.
 */
export function withConfig(
  env: Readonly<Record<string, string>>,
  pairs: readonly ConfigPair[],
): Record<string, string> {
  const result: Record<string, string> = { ...env, GIT_CONFIG_COUNT: String(pairs.length) };
  for (const [index, [key, value]] of pairs.entries()) {
    result[`GIT_CONFIG_KEY_${index}`] = key;
    result[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return result;
}

/**
 * The absolute path of `git` on the PATH. Relative entries are skipped: they, and on Windows the working directory, could
 * contain a program that came with a repository.
 *
 * @throws ToolError `unavailable`, code `git_missing`
 */
export async function findGit(
  env: NodeJS.ProcessEnv,
  platform: string = process.platform,
): Promise<string> {
  const windows = platform === "win32";
  const path = env.PATH ?? env.Path ?? "";
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const file = join(directory, windows ? "git.exe" : "git");
    try {
      if (!(await stat(file)).isFile()) continue;
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here, or not executable.
    }
  }
  throw failure("git_missing", "git was not found on the PATH.", {
    hint: "Install git 2.37 or newer, or add its directory to the PATH of the server's entry in the host.",
  });
}

/** One run of the git program. */
export interface GitRun extends Command {
  /** Bytes of output after which git is stopped. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Receives stdout as it arrives, which is then not in the result; returns false to stop git. */
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
/** A tree of 10^10 files in a few objects makes git allocate memory without end; it is stopped at this limit. */
const MAX_MEMORY_BYTES = 2 * 1024 ** 3;
const KILL_AFTER_MS = 1_000;
/** How long output may stay open after git has exited (a background process of a hook). */
const LINGER_MS = 300;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) signalTree(child, "SIGKILL");
});

/**
 * Runs git in its own process group, so that stopping it stops whatever it started. Resolves with any exit code.
 *
 * @throws the signal's reason when it aborts; ToolError `unavailable` if git cannot be started, `too_large` if it uses too much
 * memory.
 */
export async function runGit(run: GitRun): Promise<GitResult> {
  if (run.args.some((arg) => arg.includes("\0")))
    throw failure("bad_argument", "An argument contains a NUL character.");
  const { signal, maxBytes = MAX_BYTES, onStderr } = run;
  const chunks: Buffer[] = [];
  let failed: unknown;
  let [bytes, stderr, code] = [0, "", 128];
  let [cut, isMoving] = [false, false];
  let killing: NodeJS.Timeout | undefined;
  await throughSimpleGit(run, { take, fail });
  if (failed !== undefined) throw failed;
  return { code, stdout: Buffer.concat(chunks), stderr, cut };

  function fail(reason: unknown): void {
    failed ??= reason;
  }

  /** Takes over a process and its output; false without its own group, through which it could be stopped. */
  function take(
    child: ChildProcess | undefined,
    out: NodeJS.ReadableStream,
    err: NodeJS.ReadableStream,
  ): boolean {
    if (child === undefined || !ownsGroup(child)) {
      child?.kill("SIGKILL");
      if (child !== undefined) signalTree(child, "SIGKILL");
      // Processes that it started may keep the pipes open; don't wait for them.
      child?.stdout?.destroy();
      child?.stderr?.destroy();
      fail(
        failure("git_failed", "git was stopped: its own process group could not be created.", {
          hint: "Without one, processes that git starts could outlive the call. Another version of Node.js may help.",
        }),
      );
      return false;
    }
    const stop = (reason: unknown): void => {
      fail(reason);
      end(child);
    };
    const onAbort = () => stop(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const release = hold(child, () => {
      const hint =
        "Request less: a narrower path, a smaller range, or a revision with fewer files.";
      stop(failure("too_large", "git was stopped: it used more than 2 GiB of memory.", { hint }));
    });
    out.on("data", (chunk: Buffer) => receive(child, chunk));
    err.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      if (stderr.length < MAX_STDERR) stderr += text.slice(0, MAX_STDERR - stderr.length);
      if (text !== "") onStderr?.(text);
    });
    child.on("exit", () => linger(child));
    child.on("close", (status) => {
      release();
      signal.removeEventListener("abort", onAbort);
      if (killing !== undefined) {
        clearTimeout(killing);
        // git has exited; processes that it started may not have.
        signalTree(child, "SIGKILL");
      }
      code = status ?? 128;
    });
    return true;
  }

  function receive(child: ChildProcess, chunk: Buffer): void {
    if (cut || chunk.length === 0) return;
    isMoving = true;
    bytes += chunk.length;
    if (run.onStdout === undefined) chunks.push(chunk);
    const isEnough = run.onStdout?.(chunk) === false;
    if (!isEnough && bytes <= maxBytes) return;
    cut = true;
    child.stdout?.destroy();
    end(child);
  }

  function end(child: ChildProcess): void {
    signalTree(child, "SIGTERM");
    killing ??= setTimeout(() => signalTree(child, "SIGKILL"), KILL_AFTER_MS).unref();
  }

  /** After git has exited, kills its background processes once they are silent. */
  function linger(child: ChildProcess): void {
    isMoving = false;
    let killed = false;
    const lingering = setInterval(() => {
      if (isMoving) isMoving = false;
      else if (!killed) {
        // Their output is still in the pipes, which now end by themselves.
        killed = true;
        signalTree(child, "SIGKILL");
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
export function ownsGroup({ pid }: ChildProcess): boolean {
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

/**
 * Ends a process with this one, and checks its memory every quarter of a second, on systems with /proc (Linux).
 *
 * @returns call it when the process has ended
 */
export function hold(child: ChildProcess, exceeded: () => void): () => void {
  running.add(child);
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
      const kilobytes = Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      if (kilobytes * 1024 > MAX_MEMORY_BYTES) exceeded();
    } catch {
      // No such file system, or the process has just ended.
    }
  }, 250).unref();
  return () => {
    clearInterval(watch);
    running.delete(child);
  };
}
