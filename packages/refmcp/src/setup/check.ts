import { execFile } from "node:child_process";
import type { HostEntry } from "../hosts/host.ts";
import { SetupProblem } from "./file.ts";
import type { Machine } from "./machine.ts";

/** What an entry starts, in the form of any host. */
export function startOf(entry: HostEntry) {
  const words = [entry.command ?? entry.cmd ?? [], entry.args ?? []].flat().map(String);
  const env = entry.env ?? entry.envs ?? entry.environment;
  return { words, env: Object(env) as Readonly<Record<string, string>> };
}

/** The PATH of a program that was started from the desktop, which has no login shell's settings. */
const DESKTOP_PATH: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/usr/bin:/bin:/usr/sbin:/sbin",
  linux: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
};
const MAX_START_MS = 60_000;

const clientInfo = { name: "refmcp-setup", version: "1.0.0" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const MESSAGES = [
  { id: 1, method: "initialize", params },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/**
 * Starts an entry's server as a host does, asks it for its tools, and ends it.
 *
 * @returns the number of tools
 * @throws {SetupProblem}
 */
export function countTools({ words, env }: ReturnType<typeof startOf>, machine: Machine) {
  const [command = "", ...args] = words;
  const reference = /^(?:\$\{(?:env:)?(\w+)\}|\{env:(\w+)\})$/;
  const resolved = Object.entries(env).map(([name, text]) => {
    return [name, text.replace(reference, (_, a, b) => machine.env[a ?? b] ?? "")];
  });
  const PATH = DESKTOP_PATH[machine.platform] ?? machine.env.PATH;
  const options = {
    cwd: machine.home,
    env: { ...machine.env, PATH, ...Object.fromEntries(resolved) },
    timeout: MAX_START_MS,
    maxBuffer: 2 ** 26,
    windowsHide: true,
  };
  return new Promise<number>((resolve, reject) => {
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const answer = stdout.split("\n").find((line) => /"id":2\b.*"tools":/.test(line));
      if (answer !== undefined) return resolve(JSON.parse(answer).result.tools.length);
      const why = stderr.trim().slice(-500) || error?.message;
      reject(new SetupProblem(`has an entry that does not start: ${why}`));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(MESSAGES.join(""));
  });
}
