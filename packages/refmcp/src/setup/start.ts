import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorCode, startDeadline } from "@refmcp/boundary";
import { META } from "@refmcp/core/run";
import { causeOf } from "./config-file.ts";
import { type EntryStart, secretsIn } from "./entries.ts";
import { isRecord } from "./formats/text-format.ts";
import type { SetupIo } from "./io.ts";
import { mask } from "./show.ts";

/** The result of starting an entry's server as its host does. */
export type Started =
  | { readonly ok: true; readonly tools: number; readonly warning?: string }
  | { readonly ok: false; readonly cause: string };

/** The PATH of a program that was started from the desktop, which has no login shell's settings. */
const DESKTOP_PATH: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/usr/bin:/bin:/usr/sbin:/sbin",
  linux: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
};
/** The variables that hosts pass on to their servers, as the official SDKs do. */
const PASSED = ["HOME", "LOGNAME", "SHELL", "TERM", "USER", "LANG", "TMPDIR"];

/**
 * Starts an entry's server with its command, arguments, variables and directory, and a PATH as from the desktop, asks
 * it for its tools, and ends it.
 *
 * @param projectDirectory where a host starts the servers of a project; undefined for other servers
 */
export async function startAsHost(
  start: EntryStart,
  io: SetupIo,
  projectDirectory?: string,
): Promise<Started> {
  const { env, missing } = resolveVariables(start, io, projectDirectory);
  const cwd = start.cwd ?? projectDirectory ?? (io.platform === "win32" ? io.home : "/");
  if (!existsSync(cwd)) return { ok: false, cause: `its directory ${cwd} does not exist.` };
  const found = await attempt(start, { ...env, ...desktopPath(io) }, cwd, io);
  const warning =
    missing.length === 0
      ? undefined
      : `${missing.join(" and ")} must be set in the environment of the host.`;
  if (found.ok) return { ...found, ...(warning !== undefined && { warning }) };
  const isNotFound = found.isNotFound === true;
  if (isNotFound && io.env.PATH !== undefined) {
    const again = await attempt(start, { ...env, PATH: io.env.PATH }, cwd, io);
    if (again.ok)
      return {
        ...again,
        warning: `a program started from the desktop does not find ${start.command}; use its absolute path as the command.`,
      };
  }
  return {
    ok: false,
    cause: [found.cause, ...(warning === undefined ? [] : [`Note that ${warning}`])].join(" "),
  };
}

function desktopPath({ platform, env }: SetupIo): { PATH?: string } {
  // On Windows, PATH is a setting of the user, which all programs have.
  const fixed = DESKTOP_PATH[platform] ?? env.PATH;
  return fixed === undefined ? {} : { PATH: fixed };
}

/** The environment of the server, and the variables that its entry refers to but this environment does not have. */
function resolveVariables(
  { env, passed }: EntryStart,
  io: SetupIo,
  projectDirectory: string | undefined,
) {
  const missing: string[] = [];
  const variable = (name: string) => {
    if (io.env[name] === undefined) missing.push(name);
    return io.env[name] ?? "";
  };
  const resolved = Object.entries(env).flatMap(([name, text]): [string, string][] => {
    // The host asks the user for it, or the user has not pasted it yet.
    if (/\$\{input:/.test(text)) return [];
    if (/^<paste \w+ here>$/.test(text)) {
      missing.push(name);
      return [];
    }
    const value = text
      .replaceAll(/\$\{workspaceFolder\}/g, projectDirectory ?? io.home)
      .replaceAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}|\{env:([A-Za-z_]\w*)\}/g, (_, a = "", b = "") =>
        variable(a || b),
      );
    return [[name, value]];
  });
  const names = io.platform === "win32" ? Object.keys(io.env) : PASSED;
  const base = names.flatMap((name): [string, string][] => {
    const value = io.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const handed = passed
    .map((name): [string, string] => [name, variable(name)])
    .filter(([, value]) => value !== "");
  return {
    env: Object.fromEntries([...base, ...handed, ...resolved]),
    missing: [...new Set(missing)],
  };
}

type Attempt =
  | { readonly ok: true; readonly tools: number }
  | { readonly ok: false; readonly cause: string; readonly isNotFound?: boolean };

async function attempt(
  start: EntryStart,
  env: Record<string, string>,
  cwd: string,
  io: SetupIo,
): Promise<Attempt> {
  if (path.isAbsolute(start.command) && !existsSync(start.command))
    return { ok: false, cause: `${start.command} does not exist.` };
  const child = spawn(start.command, start.args, { cwd, env, windowsHide: true });
  const deadline = startDeadline(io.startMs);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-4_000);
  });
  // A server that has ended does not read.
  child.stdin.on("error", () => undefined);
  try {
    return { ok: true, tools: await countTools(child, deadline.signal) };
  } catch (error) {
    if (errorCode(error) === "ENOENT")
      return {
        ok: false,
        cause: `${start.command} was not found in PATH (${env.PATH ?? ""}).`,
        isNotFound: true,
      };
    if (deadline.signal.aborted)
      return { ok: false, cause: `it did not list its tools within ${io.startMs / 1000} s.` };
    const lines = mask(stderr, secretsIn({ env: { ...start.env } }))
      .trim()
      .split("\n")
      .slice(-3)
      .join(" ")
      .trim();
    return {
      ok: false,
      cause: [causeOf(error), ...(lines === "" ? [] : [`It wrote: ${lines}`])].join(" "),
    };
  } finally {
    deadline.end();
    await end(child);
  }
}

/** Asks for the tools after a handshake, or without one if the server knows only the newest revision. */
async function countTools(
  child: ChildProcessWithoutNullStreams,
  signal: AbortSignal,
): Promise<number> {
  const client = new LineClient(child, signal);
  const clientInfo = { name: "refmcp-setup", version: "1.0.0" };
  const first = await client.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo,
  });
  const isHandshake = first.error === undefined;
  if (isHandshake) client.send({ method: "notifications/initialized" });
  const _meta = {
    [META.version]: "2026-07-28",
    [META.capabilities]: {},
    [META.clientInfo]: clientInfo,
  };
  let count = 0;
  let cursor: unknown;
  do {
    const page = {
      ...(isHandshake ? {} : { _meta }),
      ...(typeof cursor === "string" && { cursor }),
    };
    const { result, error } = await client.request("tools/list", page);
    if (error !== undefined)
      throw new Error(`it answered tools/list with an error: ${String(Object(error).message)}`);
    const { tools, nextCursor } = isRecord(result) ? result : {};
    if (!Array.isArray(tools)) throw new Error("its answer to tools/list has no tools");
    count += tools.length;
    cursor = nextCursor;
  } while (typeof cursor === "string");
  return count;
}

/** Sends one request at a time, and ignores what the server sends in between. */
class LineClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #messages: AsyncIterator<string>;
  /** Rejects when the time is over or the program cannot be started. */
  readonly #failed: Promise<never>;
  #lastId = 0;

  constructor(child: ChildProcessWithoutNullStreams, signal: AbortSignal) {
    this.#child = child;
    this.#messages = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#failed = new Promise((_, reject) => {
      child.once("error", reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    this.#failed.catch(() => undefined);
  }

  send(message: { readonly [key: string]: unknown }): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async request(method: string, params: object): Promise<{ readonly [key: string]: unknown }> {
    this.#lastId += 1;
    this.send({ id: this.#lastId, method, params });
    for (;;) {
      const line = await this.#nextLine();
      const message = parsed(line);
      if (message === undefined)
        throw new Error(`it wrote a line to stdout that is not a message: ${line.slice(0, 200)}`);
      if (message.id === this.#lastId && message.method === undefined) return message;
    }
  }

  async #nextLine(): Promise<string> {
    const { done, value } = await Promise.race([this.#messages.next(), this.#failed]);
    if (done !== true) return value;
    const isRunning = this.#child.exitCode === null && this.#child.signalCode === null;
    if (isRunning) await Promise.race([once(this.#child, "exit"), this.#failed]);
    throw new Error(
      `it ended with ${this.#child.signalCode ?? `exit code ${this.#child.exitCode}`}`,
    );
  }
}

function parsed(line: string): { readonly [key: string]: unknown } | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isRecord(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Closes the server's input, after which it ends by itself; if it does not, it is stopped. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  if (!isRunning()) return;
  const exited = once(child, "exit");
  child.stdin.end();
  for (const [signal, ms] of [
    ["SIGTERM", 5_000],
    ["SIGKILL", 2_000],
  ] as const) {
    const late = startDeadline(ms);
    await Promise.race([exited, once(late.signal, "abort")]);
    late.end();
    if (!isRunning()) return;
    child.kill(signal);
  }
}
