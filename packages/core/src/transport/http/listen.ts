import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { BigIntStats } from "node:fs";
import { link, lstat, readFile, rename, rm } from "node:fs/promises";
import type { ServerOptions } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { createConnection, type Server } from "node:net";
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

/** @throws Error if the certificate or its key cannot be read, or they do not match. */
export async function secureServer(
  files: NonNullable<HttpSettings["tls"]>,
  options: ServerOptions,
): Promise<HttpsServer> {
  const { createServer } = await import("node:https");
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
  return createServer({ ...options, cert, key });
}
