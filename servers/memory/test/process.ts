import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/** A built server as a separate process, driven line by line. */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** What it has written to stderr. */
  stderr(): string;
  /** Resolves with the answer's text; rejects if the process exits first. */
  call(tool: string, args: unknown): Promise<{ text: string; isError: boolean }>;
  /** Sends any request; resolves with its answer. */
  request(method: string, params: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly bin?: string;
}

/** Starts the built server and opens a session. */
export async function startServer(
  args: readonly string[],
  { command = [process.execPath], env = {}, bin = BIN }: StartOptions = {},
): Promise<ServerProcess> {
  const [program = process.execPath, ...before] = command;
  const child = spawn(program, [...before, bin, "--toolsets", "all", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const waiting = new Map<
    number,
    { resolve(message: unknown): void; reject(error: Error): void }
  >();
  let next = 0;
  child.stdin?.on("error", () => undefined);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  if (child.stdout === null) throw new Error("no stdout");
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
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: next, method, params })}\n`);
    });
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  child.stdin?.write(
    `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`,
  );
  return {
    child,
    stderr: () => stderr,
    request,
    async call(name, given) {
      const answer = await request("tools/call", { name, arguments: given });
      const result: { content: { text: string }[]; isError?: boolean } = Object(
        Reflect.get(Object(answer), "result"),
      );
      return { text: result.content[0]?.text ?? "", isError: result.isError === true };
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "close");
      child.stdin?.end();
      await gone;
    },
  };
}
