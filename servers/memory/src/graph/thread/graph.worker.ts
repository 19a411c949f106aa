import { parentPort, workerData } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import type { Stop } from "../store/connection.ts";
import { type Store, storeOfCall } from "../store/store.ts";
import { type Failure, jobs, type Opened, type Reply, type Request } from "./jobs.ts";
import { openStore } from "./open.ts";

const send = (reply: Reply) => parentPort?.postMessage(reply);
const running = new Map<number, AbortController>();

async function work(store: Store, request: Request): Promise<void> {
  const { id } = request;
  if ("stopped" in request) return running.get(id)?.abort();
  const controller = new AbortController();
  running.set(id, controller);
  const stop: Stop = {
    signal: controller.signal,
    // The main thread sets the flag in shared memory, so that work that never yields sees it too.
    throwIfAborted() {
      if (Atomics.load(request.flag, 0) !== 0)
        throw new ToolError("cancelled", "The call ended before it was complete.");
    },
  };
  const own = storeOfCall(store, stop, (progress) => send({ id, progress }));
  try {
    const value: unknown = await Reflect.apply(jobs[request.name], undefined, [
      own,
      ...request.args,
    ]);
    send({ id, value: request.asText === true ? JSON.stringify(value) : value });
  } catch (error) {
    send({ id, failed: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof ToolError))
    return { message: String(error), detail: error instanceof Error ? error.stack : undefined };
  const { kind, message, hint, code, data, cause } = error;
  return {
    kind,
    message,
    hint,
    code,
    data,
    detail: cause === undefined ? undefined : String(cause),
  };
}

try {
  const { store, ...opened } = await openStore(workerData);
  send({ id: 0, value: opened satisfies Opened });
  parentPort?.on("message", (request: Request | "close") => {
    if (request === "close") void store.close().then(() => parentPort?.close());
    else void work(store, request);
  });
} catch (error) {
  send({ id: 0, failed: failureOf(error) });
}
