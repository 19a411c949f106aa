import { join } from "node:path";
import { NetworkPolicy } from "../network/policy.ts";
import type { Upload } from "../run/acting.ts";
import { Secrets } from "../run/secrets.ts";
import { Tester } from "../run/tester.ts";
import { BaselineStore } from "../store/baselines.ts";
import { RETENTION, RunStore } from "../store/runs.ts";
import { StateStore } from "../store/states.ts";
import { methodsOf } from "./methods.ts";
import { type DriverOptions, type Order, packed, type Reply, unpacked } from "./protocol.ts";

// Playwright and what it keeps of pages is in this process, which the server ends where it takes too much memory or time.

const send = (reply: Reply<unknown>) => process.send?.(reply);
const calls = new Map<number, AbortController>();
const uploads = new Map<number, { resolve(upload: Upload): void; reject(error: Error): void }>();
let asked = 0;
let methods: ReturnType<typeof methodsOf> | undefined;

/** A file that only the server may open. */
const readUpload = (path: string) =>
  new Promise<Upload>((resolve, reject) => {
    asked += 1;
    uploads.set(asked, { resolve, reject });
    send({ ask: asked, path });
  });

function open({ launch, rules, runsFolder, baselinesFolder, links, ...rest }: DriverOptions): void {
  const tester = new Tester({
    ...rest,
    launch: { ...launch, env: process.env },
    policy: new NetworkPolicy(rules),
    runs: new RunStore(runsFolder, RETENTION, links),
    baselines: new BaselineStore(baselinesFolder),
    states: new StateStore(join(runsFolder, ".states")),
    secrets: Secrets.from(process.env),
    readUpload,
    log: (log) => send({ log }),
  });
  methods = methodsOf(tester);
  tester.prewarm();
}

async function answer({ id, method, given, timeoutMs }: Extract<Order, { method: string }>): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  const progress = (...all: [number, number?, string?]) => send({ id, progress: all });
  const run = Reflect.get(Object(methods), method);
  try {
    const value = await run(given, { signal: abort.signal, timeoutMs, progress });
    send({ id, value, rss: process.memoryUsage.rss() });
  } catch (error) {
    send({ id, failed: packed(error), rss: process.memoryUsage.rss() });
  } finally {
    calls.delete(id);
  }
}

process.on("message", (order: Order) => {
  if ("open" in order) open(order.open);
  else if ("method" in order) void answer(order);
  else if ("abort" in order) calls.get(order.id)?.abort(unpacked(order.abort));
  else {
    const waiting = uploads.get(order.asked);
    uploads.delete(order.asked);
    if ("failed" in order) waiting?.reject(unpacked(order.failed));
    else waiting?.resolve(order.upload);
  }
});
// Ends with the server, and not by a signal that is meant for it; Playwright ends the browser with this process.
process.on("disconnect", () => process.exit());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
