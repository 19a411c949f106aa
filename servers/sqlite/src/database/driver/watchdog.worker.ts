import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";

// Watches the process from a thread, since its main thread is blocked while SQLite runs. Ends it if it exceeds its memory limit,
// after a line on stderr for the server, and if the server has died. Between jobs the thread sleeps.

const { state, max, server }: { state: Int32Array; max: number; server: number } = workerData;
/** Whether a job runs; and what nobody changes, to wait for some time. */
const [RUNNING, PAUSE] = [0, 1];

function isAlone(): boolean {
  if (process.ppid !== server) return true;
  try {
    process.kill(server, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

for (;;) {
  Atomics.wait(state, RUNNING, 0);
  Atomics.wait(state, PAUSE, 0, 20);
  const isLarge = process.memoryUsage.rss() >= max;
  if (!isLarge && !isAlone()) continue;
  try {
    if (isLarge) writeSync(2, "refmcp: memory\n");
  } catch {
    // The server has died.
  }
  process.kill(process.pid, "SIGKILL");
}
