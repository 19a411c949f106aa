import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Git } from "../src/git/open/git.ts";
import { callTool, gitOver } from "./fixture.ts";
import { executable } from "./traps.ts";
import { place } from "./upstream.ts";

export const REAL = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();

/** Only what has been unchanged for a moment is kept. */
export const settle = () => new Promise((wake) => setTimeout(wake, 120));

/** A `Git` whose processes are logged: process id and arguments. Those that the pattern matches run the script instead. */
export function logged(directory: string, script = "", pattern = "nothing") {
  const folder = place.path("bin");
  const log = place.path("processes.log");
  mkdirSync(folder, { recursive: true });
  const logging = `echo "$$ $*" >> "${log}"`;
  executable(
    join(folder, "git"),
    `${logging}\ncase "$*" in ${pattern}) ${script} ;; esac\nexec "${REAL}" "$@"`,
  );
  const over = gitOver([directory], {
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
  const processes = () =>
    existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
  const kept = () =>
    processes()
      .filter((line) => line.includes("--batch-command"))
      .map((line) => Number.parseInt(line, 10));
  return { over, processes, kept };
}

/** Messages of `git_log`. */
export async function messages(over: Git, args: object = {}): Promise<string[]> {
  const { data } = await callTool(over, "git_log", { ...args });
  return (data.commits as { message: string }[]).map(({ message }) => message);
}
