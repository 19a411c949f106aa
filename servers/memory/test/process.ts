import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { temporary } from "./temporary.ts";

export const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/** A built server as a separate process, driven line by line. */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** What it has written to stderr. */
  stderr(): string;
  /** Resolves with the answer's text; rejects if the process exits first. */
  call(tool: string, args: unknown): Promise<{ text: string; isError: boolean }>;
  /** Resolves with the data of an answer that is not an error. */
  data(tool: string, args: unknown): Promise<Record<string, unknown>>;
  /** Sends any request; resolves with its answer. */
  request(method: string, params: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts the built server, by default over an empty memory, and opens a session, until the test ends. */
export async function startServer(
  args?: readonly string[],
  command: readonly string[] = [process.execPath],
): Promise<ServerProcess> {
  const [program = process.execPath, ...before] = command;
  const location = args ?? ["--file", join(await temporary(), "memory.db")];
  const child = spawn(program, [...before, BIN, "--toolsets", "all", ...location]);
  type Waiting = { resolve(message: unknown): void; reject(error: Error): void };
  const waiting = new Map<number, Waiting>();
  let next = 0;
  child.stdin.on("error", () => undefined);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message: { id?: number } = JSON.parse(line);
    if (message.id !== undefined) waiting.get(message.id)?.resolve(message);
  });
  child.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("the process went away"));
    waiting.clear();
  });
  const request = (method: string, params: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      next += 1;
      waiting.set(next, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: next, method, params })}\n`);
    });
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call: ServerProcess["call"] = async (name, args) => {
    const answer = await request("tools/call", { name, arguments: args });
    const result: { content: { text: string }[]; isError?: boolean } = Object(
      Reflect.get(Object(answer), "result"),
    );
    return { text: result.content[0]?.text ?? "", isError: result.isError === true };
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "close");
    child.stdin.end();
    await gone;
  };
  onTestFinished(stop);
  return {
    child,
    stderr: () => stderr,
    request,
    call,
    async data(name, args) {
      const { text, isError } = await call(name, args);
      if (isError) throw new Error(text);
      return JSON.parse(text);
    },
    stop,
  };
}
