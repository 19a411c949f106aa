// Preloaded into a server: records its start, the signals it gets and its exit code, one line each. A process that is killed
// leaves no exit code.
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const log = new URL(import.meta.url).searchParams.get("log");
const note = (event) => appendFileSync(log, `${JSON.stringify({ pid: process.pid, event })}\n`);
// Workers preload this too.
if (isMainThread) {
  note("start");
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => note(signal));
  process.on("exit", (code) => note(code));
}
