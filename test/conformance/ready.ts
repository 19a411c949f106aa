import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { SERVERS, serverBin, serverFolder } from "../servers.ts";

/** The built servers that have the manifest of a published one, sorted. */
export const READY: readonly string[] = SERVERS.filter(
  (name) => existsSync(serverBin(name)) && existsSync(join(serverFolder(name), "server.json")),
);

/** How a server process is started. */
export interface ServerProcess {
  /** The file that Node.js runs. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a built server is started in a world of its fixture. */
export function inWorld(name: string, { args, env = {} }: Pick<World, "args" | "env">): ServerProcess {
  return { file: serverBin(name), args, env };
}

/** A server process that listens on a free port of this machine. */
export interface Listening {
  /** Its MCP endpoint. */
  readonly url: URL;
  /** Its stderr so far. */
  stderr(): string;
  /** Asks it to exit, waits, and returns its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts a server with `--http 0` and waits until it reports where it listens.
 *
 * @throws Error with its output if it exits first.
 */
export async function listen({ file, args, env }: ServerProcess): Promise<Listening> {
  const child = spawn(process.execPath, [file, ...args, "--http", "0"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  let stderr = "";
  child.stderr.setEncoding("utf8");
  const url = await new Promise<URL>((resolve, reject) => {
    child.stderr.on("data", (text: string) => {
      stderr += text;
      const said = / listens on (\S+)\n/.exec(stderr)?.[1];
      if (said !== undefined) resolve(new URL(said));
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`The server exited before it listened: ${stderr}`)));
  });
  return { url, stderr: () => stderr, stop: () => stop(child, closed) };
}

async function stop(child: ChildProcess, closed: Promise<unknown>): Promise<number | null> {
  child.kill("SIGTERM");
  // Only if it hangs; the exit code is then null.
  const killer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await closed;
  clearTimeout(killer);
  return child.exitCode;
}
