import { once } from "node:events";
import { lstat, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import { createConnection, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { errorCode } from "@refmcp/boundary/answer";
import { type Answer, bodyOf } from "./reply.ts";
import type { HttpLimits, HttpSettings, ListenAddress } from "./settings.ts";

/**
 * Connections that may wait until the process accepts them, within the system's own limit (on Linux, `somaxconn`). With Node.js's 511,
 * a burst of one caller fills the queue of a busy process, and then everyone's attempts to connect are dropped and repeated
 * only after seconds.
 */
const BACKLOG = 4_096;
/** How long a client may take to send its headers, and how often this is checked, in milliseconds. */
const HEADERS_MS = 10_000;
const CHECK_MS = 2_000;
/**
 * How long a connection may be idle between two requests, in milliseconds. Longer than with load balancers (usually 60
 * s), since a request that is being sent is lost if the server closes the connection first.
 */
const KEEP_ALIVE_MS = 72_000;
/** How long a connection is idle before the first TCP keep-alive probe, in milliseconds. */
const PROBE_AFTER_MS = 30_000;

/**
 * A server that accepts connections within the limits.
 *
 * @throws Error if the certificate or its key cannot be read, or they do not match.
 */
export async function createListener({ tls }: HttpSettings, limits: HttpLimits) {
  const { requestMs, connections } = limits;
  const options = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, requestMs),
  };
  const server =
    tls === undefined
      ? createServer(options)
      : (await import("node:https")).createServer({
          ...options,
          cert: await readFile(tls.cert),
          key: await readFile(tls.key),
        });
  server.maxConnections = connections;
  return server;
}

/** Answers a connection for which Node.js makes no response, and closes it. */
export function answerRaw(socket: Duplex, answer: Answer, request: IncomingHttpHeaders = {}): void {
  const { status, headers = {} } = answer;
  const body = bodyOf(answer, request);
  const length = Buffer.byteLength(body);
  const allHeaders = { ...headers, "content-length": length, connection: "close" };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
  if (socket.writable) socket.end(text, () => socket.destroy());
  else socket.destroy();
}

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
  const stat = isFile ? await lstat(path).catch(() => undefined) : undefined;
  if (stat?.isSocket() === true && (await isDeserted(path))) await rm(path, { force: true });
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
    socket.once("error", (error) => resolve(errorCode(error) === "ECONNREFUSED"));
    socket.once("connect", () => {
      resolve(false);
      socket.destroy();
    });
  });
}
