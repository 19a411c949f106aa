import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/core/answer";
import { loadSqlite } from "@refmcp/sql/native";
import { Executor } from "./execute.ts";
import type { Job, Progress, Reply } from "./protocol.ts";

/**
 * Watches this process from a thread, since the main thread is blocked while SQLite runs. Ends the process if it exceeds its
 * memory limit, after a line on stderr for the server, and if the server has died, since nothing else would stop it then.
 */
const WATCHDOG = `
const { writeSync } = require("node:fs");
const { max, server } = require("node:worker_threads").workerData;
const isAlone = () => {
  if (process.ppid !== server) return true;
  try {
    process.kill(server, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
setInterval(() => {
  const isLarge = process.memoryUsage.rss() >= max;
  if (isLarge) writeSync(2, "refmcp: memory\\n");
  if (isLarge || isAlone()) process.kill(process.pid, "SIGKILL");
}, 20);`;

const workerData = { max: Number(process.argv[2]) * 1_048_576, server: Number(process.argv[3]) };
new Worker(WATCHDOG, { eval: true, workerData }).unref();

const send = (reply: Reply<unknown>) => process.send?.(reply);

function serve(executor: Executor): void {
  process.on("message", (job: Job) => {
    const progress: Progress = { at: 0, line: undefined };
    try {
      send({ answer: executor.execute(job, progress) });
    } catch (error) {
      const code =
        error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
      send({
        failed: { message: error instanceof Error ? error.message : String(error), code, ...progress },
      });
    }
  });
  send({ ready: true });
}

// The server has ended.
process.on("disconnect", () => process.exit());
try {
  serve(new Executor(await loadSqlite()));
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  // The server reports this and ends this process.
  send({ unavailable: { message: error.message, hint: error.hint, cause: String(error.cause) } });
}
