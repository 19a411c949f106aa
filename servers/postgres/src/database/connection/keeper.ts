import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { isWindows, type User } from "./data-directory.ts";

/**
 * Outlives this process for a moment: reads process ids from stdin, and when stdin ends (this process closed it, or died)
 * stops the last one and removes the directories that it was given. A second SIGINT does no harm to a PostgreSQL that is
 * shutting down. Windows needs no such helper: libuv ends the children of a process that dies.
 */
const KEEPER = `
trap '' INT TERM HUP
while read -r line; do pid=$line; done
signal=INT n=0
while [ "$n" -lt 600 ] && [ -n "$pid" ] && kill -s "$signal" "$pid" 2>/dev/null; do
  n=$((n + 1))
  [ "$n" -lt 300 ] || signal=QUIT
  sleep 0.1
done
rm -rf -- "$@"
`;

/** Stops PostgreSQL and removes its temporary directories, also where this process dies without a chance to. */
export class Keeper {
  readonly #process: ChildProcess | undefined;
  /** Fails where the helper does not start. */
  readonly started: Promise<unknown> = Promise.resolve();

  constructor(directories: readonly string[], user: User | undefined) {
    if (isWindows) return;
    this.#process = spawn("/bin/sh", ["-c", KEEPER, "keeper", ...directories], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      ...user,
    });
    this.started = once(this.#process, "spawn");
    this.started.catch(() => undefined);
    this.#process.stdin?.on("error", () => undefined);
    this.#process.unref();
  }

  /** Names the process to be stopped should this one die; until the next one, or until it ends. */
  keep(child: ChildProcess): void {
    this.#process?.stdin?.write(`${child.pid ?? ""}\n`);
    child.once("exit", () => this.#process?.stdin?.write("\n"));
  }

  end(): void {
    this.#process?.stdin?.end();
  }
}
