import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nodeProgram } from "../../scripts/lib/npm-programs.mjs";
import type { ForeignClient } from "./clients.ts";

/** The result of an order to a client: a value, or what the client threw. */
export interface Outcome {
  readonly value?: unknown;
  readonly thrown?: string;
}

/** Where clients run. */
export interface Place {
  /** The folder that they are installed in. */
  readonly folder: string;
  /** Their home and working directory. */
  readonly home: string;
}

/** Starts a client in its own process. */
export async function drive({ driver, argument, node }: ForeignClient, place: Place) {
  const child = fork(join(place.folder, "drivers", "main.mjs"), [driver, argument], {
    cwd: place.home,
    env: quietEnvironment(place),
    execPath: node === undefined ? process.execPath : (await nodeProgram(node)).program,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  const waiting: ((outcome: Outcome) => void)[] = [];
  child.on("message", (message: Outcome & { id: number }) => waiting[message.id]?.(message));
  const ended = once(child, "exit").then(() => {
    for (const settle of waiting) settle({ thrown: `The client's process ended:\n${stderr}` });
  });
  await Promise.race([once(child, "message"), ended]);

  function order(name: string, rest: object): { id: number; outcome: Promise<Outcome> } {
    const id = waiting.length;
    const outcome = new Promise<Outcome>((resolve) => waiting.push(resolve));
    child.send({ id, order: name, ...rest }, (error) => {
      if (error !== null) waiting[id]?.({ thrown: `${error.message}\n${stderr}` });
    });
    return { id, outcome };
  }
  async function value(name: string, rest: object = {}): Promise<unknown> {
    const { value: result, thrown } = await order(name, rest).outcome;
    if (thrown !== undefined) throw new Error(thrown);
    return result;
  }
  return {
    /** @param way what to start, or where to connect to; a bridge to a URL preloads `recorder` into its own process. */
    connect: (
      way: { command: string; args: string[]; env: object } | { url: string; recorder: string },
    ) => value("connect", { way }),
    list: () => value("list"),
    call: (tool: string, args: object) => order("call", { tool, args }).outcome,
    begin(tool: string, args: object) {
      const { id, outcome } = order("call", { tool, args });
      return { outcome, cancel: () => value("cancel", { call: id }) };
    },
    close: () => value("close"),
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** An environment in which a client writes to its home only, sends no telemetry and reaches this machine only. */
export function quietEnvironment({ folder, home }: Place): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    USERPROFILE: home,
    DO_NOT_TRACK: "1",
    LANGSMITH_TRACING: "false",
    MASTRA_TELEMETRY_DISABLED: "1",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    NODE_OPTIONS: `--import=${preload(folder, "loopback.mjs", foreignLog(home))}`,
  };
}

/** The file that records attempts to reach other machines. */
export const foreignLog = (home: string) => join(home, "foreign.txt");

/** The URL for `--import` of a driver file that writes to a log file. */
export function preload(folder: string, file: "loopback.mjs" | "record.mjs", log: string): string {
  const url = pathToFileURL(join(folder, "drivers", file));
  url.searchParams.set("log", log);
  return url.href;
}

/** The processes that record.mjs saw, in the order in which they started, with the code of those that have exited. */
export async function recorded(log: string): Promise<{ signals: string[]; code?: number }[]> {
  const processes = new Map<number, { signals: string[]; code?: number }>();
  const text = await readFile(log, "utf8").catch(() => "");
  for (const line of text.split("\n").filter((row) => row !== "")) {
    const { pid, event }: { pid: number; event: string | number } = JSON.parse(line);
    const earlier = processes.get(pid) ?? { signals: [] };
    if (typeof event === "number") earlier.code = event;
    else if (event !== "start") earlier.signals.push(event);
    processes.set(pid, earlier);
  }
  return [...processes.values()];
}
