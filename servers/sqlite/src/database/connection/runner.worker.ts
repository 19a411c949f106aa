import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import { jobsOf } from "./execute.ts";
import type { Progress } from "./handle.ts";
import type { Message, Reply } from "./runners.ts";

/** What the watchdog's shared memory has: 1 while a job runs; a number that never changes. */
const RUNNING = 0;
const PAUSE = 1;

/**
 * Watches a job from a thread, since the main thread is blocked while SQLite runs. Ends the process if it exceeds its memory
 * limit, after a line on stderr for the server, and if the server has died. Between jobs the thread sleeps: the main thread
 * sees the end of the server itself.
 */
const WATCHDOG = `
const { writeSync } = require("node:fs");
const { max, server, state } = require("node:worker_threads").workerData;
const isAlone = () => {
  if (process.ppid !== server) return true;
  try {
    process.kill(server, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
while (true) {
  Atomics.wait(state, ${RUNNING}, 0);
  // Nothing wakes this one: it only takes the time.
  Atomics.wait(state, ${PAUSE}, 0, 20);
  if (Atomics.load(state, ${RUNNING}) === 0) continue;
  const isLarge = process.memoryUsage.rss() >= max;
  if (isLarge) writeSync(2, "refmcp: memory\\n");
  if (isLarge || isAlone()) process.kill(process.pid, "SIGKILL");
}`;

const state = new Int32Array(new SharedArrayBuffer(8));
const workerData = {
  max: Number(process.argv[2]) * 1_048_576,
  server: Number(process.argv[3]),
  state,
};
new Worker(WATCHDOG, { eval: true, workerData }).unref();

const send = (reply: Reply<unknown>) => process.send?.(reply);

// The server has ended.
process.on("disconnect", () => process.exit());
try {
  const jobs = jobsOf(await loadSqlite());
  process.on("message", ({ op, job }: Message) => {
    const progress: Progress = { at: 0, line: undefined };
    Atomics.store(state, RUNNING, 1);
    Atomics.notify(state, RUNNING);
    try {
      const run: (job: never, progress: Progress) => unknown = jobs[op];
      send({ answer: run(job, progress) });
    } catch (error) {
      const { message, code }: { message: string; code?: unknown } =
        error instanceof Error ? error : { message: String(error) };
      send({ failed: { message, code: typeof code === "string" ? code : undefined, ...progress } });
    } finally {
      Atomics.store(state, RUNNING, 0);
    }
  });
  send({ ready: true });
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  // The server reports this and ends this process.
  send({ unavailable: { message: error.message, hint: error.hint, cause: String(error.cause) } });
}
