import type { Calling } from "../deadline.ts";
import { playwright } from "../library.ts";
import type { Upload } from "../page/downloads.ts";
import { launch } from "./launch.ts";
import { type DriverOptions, type Order, packed, type Reply, unpacked } from "./protocol.ts";

// Playwright and its data about pages live in this process, which the server ends if it uses too much memory or time.

const send = (reply: Reply<unknown>) => process.send?.(reply);
const calls = new Map<number, AbortController>();
const uploads = new Map<number, { resolve(upload: Upload): void; reject(error: Error): void }>();
let asked = 0;
let methods: Promise<object> | undefined;

const readUpload = (path: string) =>
  new Promise<Upload>((resolve, reject) => {
    asked += 1;
    uploads.set(asked, { resolve, reject });
    send({ ask: asked, path });
  });

/** Starts the browser, and loads the rest of the code while it starts. */
async function open({ launch: options, ...rest }: DriverOptions): Promise<object> {
  const launching = launch({ ...options, env: process.env });
  launching.catch(() => undefined);
  const { methodsFor } = await import("./methods.ts");
  return methodsFor(rest, {
    launch: () => launching,
    unfit: () => send({ unfit: true }),
    readUpload,
    log: (log) => send({ log }),
  });
}

type Call = Extract<Order, { method: string }>;

async function answer({ id, method, params, endsAt }: Call): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  const progress = (...all: [number, number?, string?]) => send({ id, progress: all });
  try {
    const run = Reflect.get(Object(await methods), method);
    const call: Calling = {
      signal: abort.signal,
      progress,
      get leftMs() {
        return endsAt - Date.now();
      },
    };
    const value = await run(params, call);
    send({ id, value, rss: process.memoryUsage.rss() });
  } catch (error) {
    send({ id, failed: packed(error), rss: process.memoryUsage.rss() });
  } finally {
    calls.delete(id);
  }
}

process.on("message", (order: Order) => {
  if ("open" in order) methods = open(order.open);
  else if ("method" in order) void answer(order);
  else if ("abort" in order) calls.get(order.id)?.abort(unpacked(order.abort));
  else {
    const waiting = uploads.get(order.asked);
    uploads.delete(order.asked);
    if ("failed" in order) waiting?.reject(unpacked(order.failed));
    else waiting?.resolve(order.upload);
  }
});
// Ends with the server, and ignores signals that are meant for it; Playwright ends the browser with this process.
process.on("disconnect", () => process.exit());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
// If the answer to a navigation arrives while its context is being closed, as when a run reaches its deadline, Playwright
// refers to an object that it has just disposed of, and throws in its own message loop. Nobody waits for that answer.
process.on("uncaughtException", (error) => {
  if (!/was not bound in the connection|^Cannot find (?:parent )?object/.test(error.message))
    throw error;
});
// Before the first request arrives.
playwright();
