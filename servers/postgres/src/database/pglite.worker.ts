// Runs PGlite beside the server's own thread. Takes and gives bytes of PostgreSQL's protocol; see embedded.ts.
import { parentPort, workerData } from "node:worker_threads";

const { directory, module }: { directory: string | undefined; module: string } = workerData;
if (parentPort === null) throw new Error("pglite.worker.ts runs as a worker only");
const port = parentPort;

try {
  const { PGlite }: typeof import("@electric-sql/pglite") = await import(module);
  const database = await PGlite.create(directory === undefined ? {} : { dataDir: directory });
  let queue: Promise<unknown> = Promise.resolve();
  port.on("message", (message: Uint8Array | "close") => {
    queue = queue.then(async () => {
      if (message === "close") {
        await database.close();
        process.exit(0);
      }
      const bytes = await database.execProtocolRaw(message);
      port.postMessage({ bytes });
    });
    queue.catch((error: unknown) => {
      throw error;
    });
  });
  port.postMessage({ ready: true });
} catch (error) {
  port.postMessage({ failed: error instanceof Error ? error.message : String(error) });
}
