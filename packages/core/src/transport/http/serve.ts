import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { internalError } from "../../protocol/errors.ts";
import type { Service } from "../../protocol/service.ts";
import { createAccess, PREFLIGHT_HEADERS } from "./access.ts";
import { createAuthenticator } from "./auth.ts";
import { Endpoint, type EndpointLimits } from "./endpoint.ts";
import { type Answer, jsonAnswer, refuse, rpcAnswer } from "./errors.ts";
import { Outbox, Reply, type SlowReaderLimits } from "./reply.ts";
import type { HttpSettings } from "./settings.ts";

/** A server that listens. */
export interface HttpServing {
  /** The endpoint: `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** What is under way: unanswered requests, open sessions, characters kept for resumption, bytes not read yet. */
  readonly load: HttpLoad;
  /** Takes no more connections, lets calls finish for the grace, and ends the rest. */
  close(): Promise<void>;
}

export interface HttpLoad {
  readonly inFlight: number;
  readonly sessions: number;
  readonly kept: number;
  readonly waiting: number;
}

/** How much one process takes on; see the parts. */
export interface HttpLimits extends EndpointLimits, SlowReaderLimits {
  /** How long calls in flight may go on after the end began, in milliseconds. */
  readonly graceMs: number;
  readonly connections: number;
}

const MIB = 1_048_576;

export const HTTP_LIMITS: HttpLimits = {
  inFlight: 2_048,
  connections: 8_192,
  sessions: 1_000,
  idleMs: 30 * 60_000,
  total: 64 * MIB,
  perSession: 4 * MIB,
  queued: 8 * MIB,
  queuedTotal: 256 * MIB,
  stalledMs: 30_000,
  graceMs: 1_200,
};

/** How long a client may take to send its headers, and its whole request, in milliseconds. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/**
 * How long a connection may rest between two requests, in milliseconds: longer than balancers keep theirs (60 s is
 * usual), since one that the server ends first loses the request that is just being sent.
 */
const KEEP_ALIVE_MS = 72_000;
/** When a silent connection is first asked whether its other side is still there, in milliseconds (TCP keep-alive). */
const PROBE_AFTER_MS = 30_000;

/**
 * Serves a running server over Streamable HTTP: `/mcp` in both eras, `/healthz`, and with OAuth the metadata that
 * tells clients where to get a token.
 *
 * @throws the error of `listen`, for example EADDRINUSE.
 */
export async function serveHttp(
  service: Service,
  settings: HttpSettings,
  options: { readonly maxMessageBytes: number; readonly limits?: HttpLimits },
): Promise<HttpServing> {
  const { limits = HTTP_LIMITS, maxMessageBytes } = options;
  const { log, identity } = service;
  const access = createAccess(settings);
  const authenticator = await createAuthenticator(settings.auth, identity.title ?? identity.name, log);
  const endpoint = new Endpoint(service, limits, maxMessageBytes);
  const outbox = new Outbox(limits);
  let isEnding = false;

  /** Serves a request by its reply, or says what to answer. */
  async function answer(node: IncomingMessage, reply: Reply): Promise<Answer | undefined> {
    const path = (node.url ?? "/").split("?", 1)[0] ?? "/";
    if (path === "/healthz") return jsonAnswer(isEnding ? 503 : 200, { status: isEnding ? "ending" : "ok" });
    const refusal = access.refusal(node);
    if (refusal !== undefined) return refuse(403, refusal);
    access.allowReading(node, reply.response);
    if (node.method === "OPTIONS") return { status: 204, headers: PREFLIGHT_HEADERS };
    const document = node.method === "GET" ? authenticator.metadata.get(path) : undefined;
    if (document !== undefined) return jsonAnswer(200, document, { "cache-control": "max-age=3600" });
    if (path !== "/mcp") return jsonAnswer(404, { error: "Not found. The endpoint is /mcp." });
    const principal = await authenticator.authenticate(node.headers.authorization);
    if ("status" in principal) return principal;
    if (isEnding) return refuse(503, "The server is ending.", { "retry-after": "1", connection: "close" });
    return endpoint.serve(node, reply, principal);
  }

  async function handle(node: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new Reply(response, outbox);
    let said: Answer | undefined;
    try {
      said = await answer(node, reply);
    } catch (error) {
      log.error(`${node.method} ${node.url}: ${error instanceof Error ? error.stack : String(error)}`);
      said = rpcAnswer(500, internalError("Internal error."));
    }
    if (said === undefined) return;
    // What is left of a refused body is not waited for.
    if (!node.complete && !response.headersSent) response.setHeader("connection", "close");
    reply.send(said);
  }

  const server = createServer(
    {
      requestTimeout: REQUEST_MS,
      headersTimeout: HEADERS_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
    },
    (node, response) => {
      handle(node, response).catch((error: unknown) => {
        log.error(`${node.method} ${node.url}: ${String(error)}`);
        response.destroy();
      });
    },
  );
  server.maxConnections = limits.connections;
  server.on("clientError", (_error, socket) => refuseGarbage(socket));
  server.listen(settings.port, settings.host);
  await once(server, "listening");
  server.on("error", (error) => log.error(`HTTP: ${error.message}`));

  return {
    url: urlOf(server, settings.host),
    load: {
      get inFlight() {
        return endpoint.inFlight;
      },
      get sessions() {
        return endpoint.sessions;
      },
      get kept() {
        return endpoint.kept;
      },
      get waiting() {
        return outbox.waiting;
      },
    },
    async close() {
      isEnding = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const until = performance.now() + limits.graceMs;
      while (!endpoint.isQuiet && performance.now() < until)
        await new Promise((next) => setTimeout(next, 20));
      await endpoint.close();
      outbox.close();
      // What has been written goes out before the connections are cut.
      await Promise.race([closed, new Promise((next) => setTimeout(next, 150))]);
      server.closeAllConnections();
      await closed;
    },
  };
}

function refuseGarbage(socket: Duplex): void {
  if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  else socket.destroy();
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/mcp`;
}
