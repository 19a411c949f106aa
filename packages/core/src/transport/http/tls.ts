import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { dirname } from "node:path";
import type { Log } from "../../log.ts";
import type { HttpSettings } from "./settings.ts";

/**
 * An HTTPS server that reloads its certificate when the files change, so a renewal needs no restart. Open connections
 * keep theirs. A certificate and key that do not match are reported, and the last valid pair stays in use.
 *
 * @throws Error if the certificate or its key cannot be read, or they do not match.
 */
export async function secureServer(
  files: NonNullable<HttpSettings["tls"]>,
  options: ServerOptions,
  log: Log,
): Promise<{ readonly server: Server; close(): void }> {
  let current = await read(files);
  const server = createServer({ ...options, ...current });
  let reading = Promise.resolve();
  const renew = () => {
    reading = reading.then(async () => {
      try {
        const renewed = await read(files);
        if (renewed.cert.equals(current.cert) && renewed.key.equals(current.key)) return;
        server.setSecureContext(renewed);
        current = renewed;
        log.info("The TLS certificate was reloaded.");
      } catch (error) {
        log.warning(
          `The new TLS certificate was rejected: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    });
  };
  // Watches the folders, since renewals replace the files (or links to them) instead of writing to them.
  const folders = new Set([dirname(files.cert), dirname(files.key)]);
  const watchers: FSWatcher[] = [...folders].map((folder) =>
    watch(folder, { persistent: false }, renew).on("error", (error) => {
      log.warning(`Changes to the TLS certificate are no longer detected: ${error.message}`);
    }),
  );
  return {
    server,
    close() {
      for (const watcher of watchers) watcher.close();
    },
  };
}

async function read({ cert, key }: NonNullable<HttpSettings["tls"]>): Promise<{ cert: Buffer; key: Buffer }> {
  const [certificate, privateKey] = await Promise.all([readFile(cert), readFile(key)]);
  return { cert: certificate, key: privateKey };
}
