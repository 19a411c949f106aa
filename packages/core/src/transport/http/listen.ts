import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { BigIntStats } from "node:fs";
import { link, lstat, rename, rm } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import type { ListenAddress } from "./settings.ts";

/**
 * Listens on a port, or on a Unix socket that only this user can connect to. Replaces a socket left behind by a killed
 * process.
 *
 * @throws the error of `listen`, for example EADDRINUSE.
 */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  if ("host" in address) {
    server.listen(address.port, address.host);
    await once(server, "listening");
    return;
  }
  const { path } = address;
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  if (found?.isSocket() === true && (await isDeserted(path))) await removeSocket(path, found);
  // The socket is created within this call, so its mode is 0600 from the start.
  const mask = process.umask(0o177);
  server.listen(path);
  process.umask(mask);
  await once(server, "listening");
}

/** Whether no process listens on a Unix socket. */
function isDeserted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => resolve(false));
    socket.once("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED"));
    socket.once("connect", () => socket.destroy());
  });
}

/**
 * Removes a Unix socket if it is still the one that was checked. Another process may have replaced it since, so it is
 * first moved aside, and moved back if it is a different one.
 */
export async function removeSocket(path: string, looked: BigIntStats): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const moved = await lstat(aside, { bigint: true });
  // The inode alone proves nothing: file systems reuse it.
  if (moved.ino !== looked.ino || moved.mtimeNs !== looked.mtimeNs)
    await link(aside, path).catch(() => undefined);
  await rm(aside);
}
