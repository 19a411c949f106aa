import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { startDeadline } from "@refmcp/boundary";
import type { Principal } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { internalError } from "../../engine/errors.ts";
import { Load } from "../../engine/load.ts";
import type { Service } from "../../engine/service.ts";
import { createAccess, createAuthenticator, PREFLIGHT_HEADERS } from "./auth.ts";
import { Endpoint } from "./endpoint.ts";
import { listen, secureServer } from "./listen.ts";
import { type Answer, errorAnswer, jsonAnswer, Outbox, Reply, refuse } from "./reply.ts";
import { HTTP_LIMITS, type HttpLimits, type HttpSettings } from "./settings.ts";

/** The paths of the HTTP+SSE transport of 2024-11-05: its stream, and the one to post messages to. */
const SSE_PATH = "/sse";
const MESSAGES_PATH = "/messages";

export interface HttpServing {
  /** The endpoint: `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /**
   * Current counts: pending requests, bytes of their messages, open sessions, characters kept for resumption, unread bytes.
   */
  readonly load: Readonly<Record<"inFlight" | "bytes" | "sessions" | "kept" | "waiting", number>>;
  /**
   * Shuts down in the order that load balancers expect: first `/readyz` answers 503 while calls are still accepted
   * (`drainMs`); then new calls are refused, and running ones may end within the time limit of a call (`callMs`).
   */
  close(within?: { readonly drainMs: number; readonly callMs: number }): Promise<void>;
}

/** All messages in progress together may be this many times the maximum size of one. */
const MESSAGES_AT_ONCE = 8;
/** How long a client may take to send its headers, and how often this is checked, in milliseconds. */
const HEADERS_MS = 10_000;
const CHECK_MS = 2_000;
/**
 * How long a connection may be idle between two requests, in milliseconds. Longer than with load balancers (usually 60
 * s), since a request that is being sent is lost if the server closes the connection first.
 */
const KEEP_ALIVE_MS = 72_000;
/** How long running calls may continue if `close` is not told. */
const CLOSE_MS = 1_200;
/** How long an answer about readiness is kept, and how long the server may take for it, in milliseconds. */
const READY_MS = 1_000;
const READY_LIMIT_MS = 5_000;
/** How long a connection is idle before the first TCP keep-alive probe, in milliseconds. */
const PROBE_AFTER_MS = 30_000;

/** See `../http.ts`. */
export async function serveHttp(
  service: Service,
  settings: HttpSettings,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<HttpServing> {
  const { messageBytes: maxBytes, perMinute } = limits;
  const { log } = service;
  const access = createAccess(settings);
  const authenticator = await createAuthenticator(settings.auth, service);
  const load = new Load({
    requests: limits.inFlight,
    bytes: maxBytes * MESSAGES_AT_ONCE,
    // Without authentication, all callers are programs of one user on one machine.
    perMinute: settings.auth.kind === "none" ? Number.POSITIVE_INFINITY : perMinute,
    isShared: settings.auth.kind === "oauth",
  });
  const engine = new Engine(service, load);
  const { isStateless } = settings;
  const { stepUp } = authenticator;
  const endpoint = new Endpoint(engine, { limits, maxBytes, isStateless, stepUp });
  const outbox = new Outbox(limits);
  const bounds = { connections: limits.sessions, maxBytes };
  const sse = settings.sse
    ? (await import("../sse.ts")).sseEndpoint(engine, MESSAGES_PATH, bounds)
    : undefined;
  const webSocket = settings.websocket
    ? (await import("../websocket.ts")).webSocketEndpoint(engine, bounds)
    : undefined;
  const isReady = readiness(service);
  let isDraining = false;
  let isEnding = false;

  /** The caller of a request, or a response: it needs a token, or the server is shutting down. */
  async function admit(node: IncomingMessage): Promise<Principal | Answer> {
    const principal = await authenticator.authenticate(node.headers.authorization);
    if ("status" in principal || !isEnding) return principal;
    const headers = { "retry-after": "1", connection: "close" };
    return refuse(503, "The server is shutting down.", headers);
  }

  /** Serves a request through its reply, or returns the response. */
  async function answer(node: IncomingMessage, reply: Reply): Promise<Answer | undefined> {
    const path = pathOf(node);
    if (path === "/healthz") return jsonAnswer(200, { status: "ok" });
    if (path === "/readyz") {
      const status = isDraining ? "ending" : (await isReady()) ? "ready" : "unavailable";
      return jsonAnswer(status === "ready" ? 200 : 503, { status });
    }
    const refusal = access.refusal(node);
    if (refusal !== undefined) return refusal;
    access.allowReading(node, reply.response);
    if (node.method === "OPTIONS") return { status: 204, headers: PREFLIGHT_HEADERS };
    const document = node.method === "GET" ? authenticator.metadata.get(path) : undefined;
    if (document !== undefined)
      return jsonAnswer(200, document, { "cache-control": "max-age=3600" });
    const isSse = sse !== undefined && (path === SSE_PATH || path === MESSAGES_PATH);
    if (path !== "/mcp" && !isSse)
      return jsonAnswer(404, { error: "Not found. The endpoint is /mcp." });
    const principal = await admit(node);
    if ("status" in principal) return principal;
    if (!isSse) return endpoint.serve(node, reply, principal);
    if (path === SSE_PATH && node.method === "GET") return sse.open(reply, principal);
    if (path === MESSAGES_PATH && node.method === "POST") return sse.post(node, reply, principal);
    return refuse(405, `${node.method} is not allowed here.`);
  }

  async function handle(node: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new Reply(response, outbox);
    let said: Answer | undefined;
    try {
      said = await answer(node, reply);
    } catch (error) {
      log.error(
        `${node.method} ${node.url}: ${error instanceof Error ? error.stack : String(error)}`,
      );
      said = errorAnswer(500, internalError("Internal error."));
    }
    if (said === undefined) return;
    // The rest of a refused body is not read.
    if (!node.complete && !response.headersSent) response.setHeader("connection", "close");
    reply.send(said);
  }

  const server = await createListener(settings, limits);
  /** The last response of each connection: pipelined requests are served one after the other (RFC 9112, section 9.3.2). */
  const last = new WeakMap<object, ServerResponse>();
  server.on("request", (node: IncomingMessage, response: ServerResponse) => {
    const before = last.get(node.socket);
    last.set(node.socket, response);
    // Without a socket, Node.js would never report the end of the response.
    if (response.socket !== null) void handle(node, response);
    else
      before?.once("close", () => {
        if (response.socket !== null) void handle(node, response);
      });
  });
  if (webSocket !== undefined)
    // With this listener, Node.js diverts every request with an Upgrade header, not only those for WebSocket.
    server.on("upgrade", (node: IncomingMessage, socket: Socket, head: Buffer) => {
      if (!/^websocket$/i.test(node.headers.upgrade ?? ""))
        return serveAnyway(server, node, socket, head);
      socket.on("error", () => socket.destroy());
      const upgrade = async () => {
        if (pathOf(node) !== "/mcp")
          return refuse(404, "WebSocket connections are served at /mcp only.");
        const principal = access.refusal(node) ?? (await admit(node));
        return "status" in principal ? principal : webSocket.upgrade(node, socket, head, principal);
      };
      upgrade().then(
        (said) => {
          if (said !== undefined) refuseUpgrade(node, socket, said, outbox);
        },
        () => socket.destroy(),
      );
    });
  await listen(server, settings.address);
  server.on("error", (error) => log.error(`HTTP: ${error.message}`));

  return {
    url: urlOf(server, settings),
    get load() {
      const { count, stored } = endpoint.sessions;
      return {
        inFlight: load.requests.used,
        bytes: load.bytes.used,
        sessions: count + (sse?.count ?? 0) + (webSocket?.count ?? 0),
        kept: stored,
        waiting: outbox.waiting,
      };
    },
    async close({ drainMs, callMs } = { drainMs: 0, callMs: CLOSE_MS }) {
      isDraining = true;
      await new Promise((next) => setTimeout(next, drainMs));
      isEnding = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const until = performance.now() + callMs;
      while ((endpoint.isReading || load.requests.used > 0) && performance.now() < until)
        await new Promise((next) => setTimeout(next, 20));
      await Promise.all([endpoint.close(), sse?.close(), webSocket?.close()]);
      outbox.close();
      // Written data is sent before the connections are closed.
      await Promise.race([closed, new Promise((next) => setTimeout(next, 150))]);
      server.closeAllConnections();
      await closed;
    },
  };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

/** A server that accepts connections within the limits, and answers what Node.js cannot read as a request. */
async function createListener(
  { tls }: HttpSettings,
  { requestMs, connections }: HttpLimits,
): Promise<HttpServer | HttpsServer> {
  const options = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, requestMs),
  };
  const server = tls === undefined ? createServer(options) : await secureServer(tls, options);
  server.maxConnections = connections;
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    refuseGarbage(socket, error.code),
  );
  return server;
}

/** Whether calls can be served now. Probes may come often and from anywhere, so they share an answer for a while. */
function readiness({ ready, log }: Service): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let was = true;
  return () => {
    answer ??= find().finally(() => setTimeout(() => (answer = undefined), READY_MS).unref());
    return answer;
  };

  async function find(): Promise<boolean> {
    const limit = startDeadline(READY_LIMIT_MS);
    const late = new Promise<never>((_, reject) => limit.signal.addEventListener("abort", reject));
    const why = await Promise.race([ready(limit.signal), late]).then(
      () => undefined,
      (error: unknown) =>
        error instanceof Error ? error.message : `no answer within ${READY_LIMIT_MS} ms`,
    );
    limit.end();
    const is = why === undefined;
    if (is !== was)
      log.warning(is ? "Calls can be served again." : `Calls cannot be served: ${why}`);
    was = is;
    return is;
  }
}

/** Answers what Node.js could not read as a request. */
function refuseGarbage(socket: Duplex, code: string | undefined): void {
  const statuses: Record<string, number> = {
    HPE_HEADER_OVERFLOW: 431,
    ERR_HTTP_REQUEST_TIMEOUT: 408,
  };
  const status = statuses[code ?? ""] ?? 400;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
  if (socket.writable) socket.end(line, () => socket.destroy());
  else socket.destroy();
}

/**
 * Serves a request that offers a protocol which this server does not speak, such as HTTP/2 (Java's HttpClient does).
 * Such an offer is ignored (RFC 9110, section 7.8): the request is read again without it.
 */
function serveAnyway(server: Server, node: IncomingMessage, socket: Duplex, head: Buffer): void {
  const ignored = new Set(["upgrade", "connection", "http2-settings"]);
  const lines = [`${node.method} ${node.url} HTTP/${node.httpVersion}`];
  for (let index = 0; index + 1 < node.rawHeaders.length; index += 2)
    if (!ignored.has(node.rawHeaders[index]?.toLowerCase() ?? ""))
      lines.push(`${node.rawHeaders[index]}: ${node.rawHeaders[index + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

/** Answers a refused upgrade, for which Node.js makes no response. */
function refuseUpgrade(node: IncomingMessage, socket: Socket, said: Answer, outbox: Outbox): void {
  const response = new ServerResponse(node);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once("finish", () => socket.end(() => socket.destroy()));
  new Reply(response, outbox).send(said);
}

function urlOf(server: Server, { address, tls }: HttpSettings): string {
  if ("path" in address) return `unix:${address.path}`;
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${tls === undefined ? "http" : "https"}://${host}:${port}/mcp`;
}
