import type { Log } from "../log.ts";

export interface ShutdownOptions {
  /** Ends the connection, then what the server holds (pool, browser, watcher, database, child processes). */
  readonly close: () => Promise<void>;
  readonly log: Pick<Log, "debug" | "error">;
  /** From the first sign of the end to the exit, in milliseconds. Default: 2,000. */
  readonly withinMs?: number;
  /** When a process that no longer reacts is killed, in milliseconds. Default: 5,000. */
  readonly killAfterMs?: number;
}

export interface Shutdown {
  /**
   * Starts the end of the process; a second call does nothing.
   *
   * @param why for the log.
   * @param since when it began, in milliseconds of `performance.now()`, if that was earlier.
   */
  begin(why: string, since?: number): void;
}

/** The minimum left for closing if the grace has used up the time. */
const MIN_CLOSE_MS = 250;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** Errors of a connection whose other side went away. No work is left half done. */
const PEER_GONE: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ECONNABORTED",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/**
 * Ends the process in order: `close` runs once, then the process exits with 0; it exits at the latest after `withinMs`,
 * whatever timer, pool or socket holds the event loop, and it is killed after `killAfterMs` if the loop itself is
 * blocked. `SIGTERM`, `SIGINT` and `SIGHUP` start it; a second signal exits at once.
 *
 * An exception that nobody caught also starts it, with exit code 1: it may have left something half done, and a
 * host starts a fresh process. Only the error of a lost connection is logged and passed over. A rejection that
 * nobody awaited is logged and passed over, since the work that failed had no one waiting for it.
 *
 * Install it once per process. What must not outlive a forced exit can be ended synchronously in a listener of
 * the process's `exit` event.
 */
export function installShutdown(options: ShutdownOptions): Shutdown {
  const { close, log, withinMs = 2000, killAfterMs = 5000 } = options;
  let ending = false;

  function begin(why: string, since = performance.now(), code = 0): void {
    if (ending) return;
    ending = true;
    log.debug(`ending: ${why}`);
    killAfter(killAfterMs);
    setTimeout(
      () => {
        log.error(`closing takes longer than ${withinMs} ms; exiting now`);
        process.exit(code);
      },
      Math.max(MIN_CLOSE_MS, withinMs - (performance.now() - since)),
    );
    void closeAndExit(code);
  }

  async function closeAndExit(code: number): Promise<void> {
    try {
      await close();
    } catch (error) {
      log.error(`closing failed: ${inOneLine(error)}`);
    }
    process.exit(code);
  }

  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (ending) process.exit(0);
      begin(signal);
    });
  }
  process.on("unhandledRejection", (reason) => log.error(`unhandled rejection: ${inOneLine(reason)}`));
  // Whatever was thrown, not always an Error.
  process.on("uncaughtException", (error: unknown) => {
    log.error(`uncaught exception: ${inOneLine(error)}`);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (!PEER_GONE.has(code)) begin("uncaught exception", undefined, 1);
  });
  return { begin: (why, since) => begin(why, since) };
}

/** Kills this process from another thread, since a blocked event loop runs no timer. */
function killAfter(ms: number): void {
  try {
    // Loaded only now: it would be one of the most expensive parts of starting.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    const code = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${Math.ceil(ms)})`;
    const worker = new Worker(code, { eval: true, stdin: false, stdout: false, stderr: false });
    worker.on("error", () => undefined);
    worker.unref();
  } catch {
    // Worker threads can be forbidden (node --permission); the timer in this thread has to do.
  }
}

/** An error with the first lines of its stack, for a log of lines. */
function inOneLine(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return text
    .split(/\s*\n\s*/, 4)
    .join(" | ")
    .slice(0, 1000);
}
