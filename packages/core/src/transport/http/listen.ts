import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type BigIntStats, watch } from "node:fs";
import { link, lstat, readFile, rename, rm } from "node:fs/promises";
import type { ServerOptions } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { createConnection, type Server } from "node:net";
import { dirname } from "node:path";
import type { Log } from "../../log.ts";
import type { HttpSettings, ListenAddress } from "./settings.ts";

/**
 * Connections that may wait until the process accepts them, within the system's own limit (on Linux, `somaxconn`). With Node.js's 511,
 * a burst of one caller fills the queue of a busy process, and then everyone's attempts to connect are dropped and repeated
 * only after seconds.
 */
const BACKLOG = 4_096;

/**
 * Listens on a port, or on a Unix socket that only this user can connect to. Replaces a socket left behind by a killed
 * process.
 *
 * @throws the error of `listen`, for example EADDRINUSE.
 */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  if ("host" in address) {
    server.listen({ ...address, backlog: BACKLOG });
    await once(server, "listening");
    return;
  }
  const { path } = address;
  // A pipe of Windows disappears with its process.
  const isFile = process.platform !== "win32";
  const found = isFile ? await lstat(path, { bigint: true }).catch(() => undefined) : undefined;
  if (found?.isSocket() === true && (await isDeserted(path))) await removeSocket(path, found);
  // The socket is created within this call, so its mode is 0600 from the start.
  const mask = process.umask(0o177);
  server.listen({ path, backlog: BACKLOG });
  process.umask(mask);
  await once(server, "listening");
}

/** Whether no process listens on a Unix socket. */
function isDeserted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED"));
    socket.once("connect", () => {
      resolve(false);
      socket.destroy();
    });
  });
}

/**
 * Removes a Unix socket if it is still the one that was checked. Another process may have replaced it since, so it is
 * first moved aside, and moved back if it is a different one.
 */
export async function removeSocket(path: string, looked: BigIntStats): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  const isMoved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
  const moved = await lstat(aside, { bigint: true });
  // The inode alone proves nothing: file systems reuse it.
  if (moved.ino !== looked.ino || moved.mtimeNs !== looked.mtimeNs)
    await link(aside, path).catch(() => undefined);
  await rm(aside);
}

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
): Promise<{ readonly server: HttpsServer; close(): void }> {
  const { createServer } = await import("node:https");
  const read = async () => {
    const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
    return { cert, key };
  };
  let current = await read();
  const server = createServer({ ...options, ...current });
  let reading = Promise.resolve();
  const renew = () => {
    reading = reading.then(async () => {
      try {
        const renewed = await read();
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
  const watchers = [...folders].map((folder) =>
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
