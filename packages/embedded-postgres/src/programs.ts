import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { isWindows, type User } from "./data-directory.ts";
import type { Supervisor } from "./supervisor.ts";

/** PostgreSQL's programs, which run as `user` in a private folder and end with this process. */
export function programsOf(
  bin: string,
  folder: string,
  user: User | undefined,
  supervisor: Supervisor,
) {
  const options = {
    cwd: folder,
    // Not our own environment: PGDATA, PGPORT and others would change what is started.
    env: {
      PATH: process.env.PATH,
      SystemRoot: process.env.SystemRoot,
      TMPDIR: folder,
      TZ: "UTC",
      LC_ALL: "C",
    },
    // Signals to the host's process group are for this process, which then stops PostgreSQL.
    detached: !isWindows,
    windowsHide: true,
    ...user,
  };
  return {
    /** Runs a program to completion. */
    async step(program: string, args: readonly string[], input = ""): Promise<void> {
      const child = spawn(join(bin, program), args, { ...options, stdio: "pipe" });
      supervisor.keep(child);
      const said = collect(child);
      child.stdin.on("error", () => undefined).end(input);
      const [code, signal] = await once(child, "close");
      if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}: ${said()}`);
    },
    /** Starts the server, and waits until it accepts connections or ends. */
    async serve(data: string, settings: Readonly<Record<string, string | number>>) {
      const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      const stdio = ["ignore", "ignore", "pipe"] as const;
      const child = spawn(join(bin, "postgres"), ["-D", data, ...args], {
        ...options,
        stdio: [...stdio],
      });
      supervisor.keep(child);
      const said = collect(child);
      const isReady = await new Promise<boolean>((resolve, reject) => {
        child.stderr?.on("data", () => {
          if (said().includes("ready to accept connections")) resolve(true);
        });
        child.once("close", () => resolve(false)).once("error", reject);
      });
      return { child, said, isReady };
    },
  };
}

export type Programs = ReturnType<typeof programsOf>;
export type Served = Awaited<ReturnType<Programs["serve"]>>;

/** Collects the end of a process's output. */
function collect(child: ChildProcess): () => string {
  let text = "";
  const take = (chunk: Buffer) => {
    text = (text + chunk.toString("utf8")).slice(-4_000);
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  return () => text;
}
