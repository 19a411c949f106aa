import { playwright } from "../library.ts";
import type { Calling } from "../session/deadline.ts";
import type { Upload } from "../session/downloads.ts";
import { launch, spawned } from "./launch.ts";
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

/** Starts the browser first, and loads the rest of the code while it starts. */
async function open(options: DriverOptions): Promise<object> {
  const launching = launch({ ...options.launch, env: process.env });
  await spawned(launching);
  const { methodsFor } = await import("./methods.ts");
  const { launch: _, ...rest } = options;
  const unfit = () => send({ unfit: true });
  return methodsFor(rest, {
    launch: () => launching,
    unfit,
    readUpload,
    log: (log) => send({ log }),
  });
}

async function answer({
  id,
  method,
  given,
  endsAt,
}: Extract<Order, { method: string }>): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  const state = () => ({ rss: process.memoryUsage.rss() });
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
    const value = await run(given, call);
    send({ id, value, ...state() });
  } catch (error) {
    send({ id, failed: packed(error), ...state() });
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
// Before the first request arrives.
playwright();
