import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { signalTree } from "@refmcp/boundary/process-tree";

export interface GroupOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Receives the lines that the program writes to file descriptor 3. */
  readonly onLine: (line: string) => void;
}

const MAX_OUTPUT = 8_000;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/**
 * Runs a Node.js program in a separate process group. When the signal aborts, the whole group ends, including workers
 * and browsers; so does what the program leaves running, except on Windows, where it cannot be found.
 *
 * @returns its exit code, and the end of its output.
 * @throws the signal's reason.
 */
export async function runInGroup(
  args: readonly string[],
  { cwd, env, signal, onLine }: GroupOptions,
): Promise<{ code: number | null; output: string }> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const end = (signalName: "SIGTERM" | "SIGKILL") => signalTree(child, signalName);
  const atExit = () => end("SIGKILL");
  process.once("exit", atExit);
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    end("SIGTERM");
    timer = setTimeout(() => end("SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", abort, { once: true });
  let output = "";
  const receive = (chunk: string) => {
    output = (output + chunk).slice(-MAX_OUTPUT);
  };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", receive);
  const pipe = child.stdio[3];
  if (pipe !== null && pipe !== undefined && "read" in pipe)
    createInterface({ input: pipe }).on("line", onLine);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    return { code, output };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    process.off("exit", atExit);
    // Kills what the program started and left running.
    end("SIGKILL");
  }
}

/** The environment of a program of the user's project: the server's, without the server's own variables. */
export const projectEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:REFMCP_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
    ),
  );
