import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { isWindows, type User } from "./data-directory.ts";

/**
 * A helper that briefly outlives this process. It reads process ids from stdin; when stdin closes (or this process dies),
 * it stops the last one and removes the given directories. A second SIGINT is harmless to a PostgreSQL that is already
 * shutting down. Windows needs no helper: libuv kills the children of a process that dies.
 */
const SUPERVISOR = `
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

/** Stops a process and removes its temporary directories even if this process is killed. */
export class Supervisor {
  readonly #process: ChildProcess | undefined;
  /** Rejects if the helper does not start. */
  readonly started: Promise<unknown> = Promise.resolve();

  constructor(directories: readonly string[], user: User | undefined) {
    if (isWindows) return;
    this.#process = spawn("/bin/sh", ["-c", SUPERVISOR, "supervisor", ...directories], {
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

  /** Sets the process to stop if this one dies; the next call replaces it. */
  keep(child: ChildProcess): void {
    this.#process?.stdin?.write(`${child.pid ?? ""}\n`);
    child.once("exit", () => this.#process?.stdin?.write("\n"));
  }

  end(): void {
    this.#process?.stdin?.end();
  }
}
