import { errorCode } from "@refmcp/boundary/answer";
import type { Log } from "../log.ts";

/** The minimum time for closing, even if the grace period has used it up. */
const MIN_CLOSE_MS = 250;
/** From the beginning of the shutdown to the exit. */
const CLOSE_MS = 2_000;
/** Until a process that no longer responds is killed. */
const KILL_AFTER_MS = 5_000;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** Errors of a connection that the other side has closed. No work is left half done. */
const PEER_GONE: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ECONNABORTED",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/**
 * Shuts the process down: `close` runs once, then the process exits with 0. It exits after 2 seconds at the latest,
 * even if a timer, pool or socket keeps the event loop running, and is killed after 5 if the event loop is
 * blocked. `SIGTERM`, `SIGINT` and `SIGHUP` start the shutdown; a second signal exits at once.
 *
 * An uncaught exception also starts it, with exit code 1: it may have left something half done, and hosts start a new
 * process; unless `recover` can limit the damage to a part of it. Errors of a lost connection are only logged, and so
 * are unhandled rejections, since nothing waited for the work that failed.
 *
 * Install it once per process. Anything that must not outlive a forced exit can be ended synchronously in a listener of
 * the process's `exit` event.
 */
export function installShutdown({
  close,
  log,
  recover,
  transportMs = 0,
}: {
  /** Ends the connection, then releases the server's resources (pool, browser, watcher, database, child processes). */
  readonly close: (why: string) => Promise<void>;
  readonly log: Pick<Log, "debug" | "error">;
  /** Called with an uncaught exception. @returns whether the process can go on; otherwise it shuts down. */
  readonly recover?: ((error: unknown) => boolean) | undefined;
  /** Milliseconds by which both limits are longer, for calls that may finish. */
  readonly transportMs?: number;
}) {
  const withinMs = CLOSE_MS + transportMs;
  let isEnding = false;

  /** Starts the shutdown, unless it has begun. `since`: when it began, in milliseconds of `performance.now()`. */
  function begin(why: string, since = performance.now(), code = 0): void {
    if (isEnding) return;
    isEnding = true;
    process.exitCode = code;
    log.debug(`ending: ${why}`);
    killAfter(KILL_AFTER_MS + transportMs);
    const onTimeout = () => {
      log.error(`closing takes longer than ${withinMs} ms; exiting now`);
      process.exit();
    };
    setTimeout(onTimeout, Math.max(MIN_CLOSE_MS, withinMs - (performance.now() - since)));
    close(why)
      .catch((error: unknown) => log.error(`closing failed: ${inOneLine(error)}`))
      .finally(() => process.exit());
  }

  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (isEnding) process.exit();
      begin(signal);
    });
  process.on("unhandledRejection", (reason) =>
    log.error(`unhandled rejection: ${inOneLine(reason)}`),
  );
  // Anything can be thrown, not only an Error.
  process.on("uncaughtException", (error: unknown) => {
    log.error(`uncaught exception: ${inOneLine(error)}`);
    if (!PEER_GONE.has(errorCode(error)) && recover?.(error) !== true)
      begin("uncaught exception", undefined, 1);
  });
  return { begin: (why: string, since?: number) => begin(why, since) };
}

/** Kills this process from another thread, since timers do not fire in a blocked event loop. */
function killAfter(ms: number): void {
  try {
    // Loaded only now, since it would be one of the most expensive parts of startup.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    const code = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${Math.ceil(ms)})`;
    const worker = new Worker(code, { eval: true, stdin: false, stdout: false, stderr: false });
    worker.on("error", () => undefined);
    worker.unref();
  } catch {
    // Worker threads can be forbidden (node --permission); then only the timer in this thread remains.
  }
}

/** An error with the first lines of its stack on one line, for the log. */
function inOneLine(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return text
    .split(/\s*\n\s*/, 4)
    .join(" | ")
    .slice(0, 1000);
}
