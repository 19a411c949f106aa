import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import type { Progress } from "./handle.ts";
import { jobsOf, type Op, type Reply } from "./jobs.ts";

// A process that runs jobs for the server, one after the other.

const [watchdog = "", memory, server] = process.argv.slice(2);
const state = new Int32Array(new SharedArrayBuffer(8));
const max = Number(memory) * 1_048_576;
const send = (reply: Reply) => process.send?.(reply);
process.on("disconnect", () => process.exit());

try {
  new Worker(watchdog, { workerData: { state, max, server: Number(server) } });
  const jobs = jobsOf(await loadSqlite());
  const replyTo = ({ op, job }: { op: Op; job: never }): Reply => {
    const progress: Progress = { at: 0, line: undefined };
    try {
      const run: (job: never, progress: Progress) => unknown = jobs[op];
      return { answer: run(job, progress) };
    } catch (error) {
      const { message, code }: { message: string; code?: unknown } =
        error instanceof Error ? error : { message: String(error) };
      return {
        failed: { message, code: typeof code === "string" ? code : undefined, ...progress },
      };
    }
  };
  process.on("message", (message: { op: Op; job: never }) => {
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    const reply = replyTo(message);
    Atomics.store(state, 0, 0);
    if (message.op !== "rest") send(reply);
  });
  send({ answer: undefined });
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  // The server reports this and ends this process.
  const { message, hint, cause } = error;
  send({ unavailable: { message, hint, cause: String(cause) } });
}
