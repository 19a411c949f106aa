import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { BigIntStats } from "node:fs";
import { link, lstat, rename, rm } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import type { ListenAddress } from "./settings.ts";

/**
 * Listens on a port, or on a Unix socket that only this user can connect to. A socket that a killed process left behind is
 * replaced.
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
  // Mode 0600 from the first moment: the socket is created within this call.
  const mask = process.umask(0o177);
  server.listen(path);
  process.umask(mask);
  await once(server, "listening");
}

/** Whether nobody listens on a Unix socket. */
function isDeserted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => resolve(false));
    socket.once("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED"));
    socket.once("connect", () => socket.destroy());
  });
}

/**
 * Removes a Unix socket, if it is still the one that was checked. Another process may have replaced it since and be
 * listening there, so it is moved aside first, and put back if it is a different one.
 */
export async function removeSocket(path: string, looked: BigIntStats): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const moved = await lstat(aside, { bigint: true });
  // The number alone proves nothing: file systems reuse it.
  if (moved.ino !== looked.ino || moved.mtimeNs !== looked.mtimeNs)
    await link(aside, path).catch(() => undefined);
  await rm(aside);
}
