import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startDeadline } from "@refmcp/boundary";
import { clip } from "@refmcp/boundary/answer";
import type { Principal } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { internalError } from "../../engine/errors.ts";
import { Load } from "../../engine/load.ts";
import { REVISIONS } from "../../engine/revision.ts";
import type { Service } from "../../engine/service.ts";
import { createAccess, createAuthenticator, PREFLIGHT_HEADERS } from "./auth.ts";
import { createEndpoint } from "./endpoint.ts";
import { answerRaw, createListener, listen } from "./listen.ts";
import { type Answer, errorAnswer, jsonAnswer, Reply, refuse } from "./reply.ts";
import { HTTP_LIMITS, type HttpSettings, urlText } from "./settings.ts";

/** The paths of the HTTP+SSE transport of 2024-11-05: its stream, and the one to post messages to. */
const SSE_PATH = "/sse";
const MESSAGES_PATH = "/messages";

/** All messages in progress together may be this many times the maximum size of one. */
const MESSAGES_AT_ONCE = 8;
/** How long running calls may continue if `close` is not given a time. */
const CLOSE_MS = 1_200;
/** How long an answer about readiness is kept, and how long the server may take for it, in milliseconds. */
const READY_MS = 1_000;
const READY_LIMIT_MS = 5_000;

/** See `../http.ts`. */
export async function serveHttp(service: Service, settings: HttpSettings, limits = HTTP_LIMITS) {
  const { auth } = settings;
  const { log } = service;
  const access = createAccess(settings);
  const authenticator = await createAuthenticator(auth, service);
  const load = new Load({
    requests: limits.inFlight,
    bytes: limits.messageBytes * MESSAGES_AT_ONCE,
    sessions: limits.sessions,
    // Without authentication, all callers are programs of one user on one machine.
    perMinute: auth.kind === "none" ? Number.POSITIVE_INFINITY : limits.perMinute,
    isShared: auth.kind === "oauth",
  });
  const engine = new Engine(service, load);
  const endpoint = createEndpoint(engine, limits, { ...settings, stepUp: authenticator.stepUp });
  const sse = settings.sse
    ? (await import("../sse.ts")).sseEndpoint(engine, MESSAGES_PATH, limits)
    : undefined;
  const webSocket = settings.websocket
    ? (await import("../websocket.ts")).webSocketEndpoint(engine, limits)
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
    const isGet = node.method === "GET";
    if (path === "/healthz") return jsonAnswer(200, { status: "ok" });
    if (path === "/readyz") {
      const status = isDraining ? "ending" : (await isReady()) ? "ready" : "unavailable";
      return jsonAnswer(status === "ready" ? 200 : 503, { status });
    }
    const wrongHost = access.hostRefusal(node);
    if (wrongHost !== undefined) return wrongHost;
    const scheme = settings.tls === undefined ? "http" : "https";
    if (path === "/mcp/server-card" && isGet)
      return serverCard(service, auth, `${scheme}://${node.headers.host}`);
    const wrongOrigin = access.originRefusal(node, reply.response);
    if (wrongOrigin !== undefined) return wrongOrigin;
    if (node.method === "OPTIONS") return { status: 204, headers: PREFLIGHT_HEADERS };
    const document = isGet ? authenticator.metadata.get(path) : undefined;
    if (document !== undefined)
      return jsonAnswer(200, document, { "cache-control": "max-age=3600" });
    const isSse = sse !== undefined && (path === SSE_PATH || path === MESSAGES_PATH);
    if (path !== "/mcp" && !isSse)
      return jsonAnswer(404, { error: "Not found. The endpoint is /mcp." });
    const principal = await admit(node);
    if ("status" in principal) return principal;
    if (!isSse) return endpoint.serve(node, reply, principal);
    if (path === SSE_PATH && isGet) return sse.open(reply, principal);
    if (path === MESSAGES_PATH && node.method === "POST") return sse.post(node, reply, principal);
    return refuse(405, `${node.method} is not allowed here.`);
  }

  async function handle(node: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new Reply(response, limits);
    const result = await answer(node, reply).catch((error: unknown) => {
      const why = error instanceof Error ? error.stack : String(error);
      log.error(`${node.method} ${node.url}: ${why}`);
      return errorAnswer(500, internalError("Internal error."));
    });
    if (result === undefined) return;
    // The rest of a refused body is not read.
    if (!node.complete && !response.headersSent) response.setHeader("connection", "close");
    reply.send(result);
  }

  const server = await createListener(settings, limits);
  /** The last response of each connection: pipelined requests are served one after the other (RFC 9112, section 9.3.2). */
  const lastResponse = new WeakMap<object, ServerResponse>();
  server.on("request", (node: IncomingMessage, response: ServerResponse) => {
    const previousResponse = lastResponse.get(node.socket);
    lastResponse.set(node.socket, response);
    // Without a socket, Node.js would never report the end of the response.
    if (response.socket !== null) void handle(node, response);
    else
      previousResponse?.once("close", () => {
        if (response.socket !== null) void handle(node, response);
      });
  });
  if (webSocket !== undefined)
    server.on("upgrade", async (node: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      const accessRefusal = access.hostRefusal(node) ?? access.originRefusal(node);
      const principal = accessRefusal ?? (await admit(node));
      const isHere = pathOf(node) === "/mcp" && /^websocket$/i.test(node.headers.upgrade ?? "");
      const refusal = !isHere
        ? refuse(404, "WebSocket connections are served at /mcp only.")
        : "status" in principal
          ? principal
          : webSocket.upgrade(node, socket, head, principal);
      if (refusal !== undefined) answerRaw(socket, refusal, node.headers);
    });
  await listen(server, settings.address);
  server.on("error", (error) => log.error(`HTTP: ${error.message}`));

  return {
    /** The endpoint: `http://127.0.0.1:8080/mcp`. */
    url: urlOf(server, settings),
    /** What is in use of its limits. */
    load,
    /**
     * Shuts down in the order that load balancers expect: first `/readyz` answers 503 while calls are still accepted
     * (`drainMs`); then new calls are refused, and running ones may end within the time limit of a call (`callMs`).
     */
    async close({ drainMs, callMs } = { drainMs: 0, callMs: CLOSE_MS }) {
      isDraining = true;
      await sleep(drainMs);
      isEnding = true;
      const whenClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const until = performance.now() + callMs;
      // A message counts from its first byte until its request is answered.
      while (load.requests.used + load.bytes.used > 0 && performance.now() < until) await sleep(20);
      await Promise.all([endpoint.close(), webSocket?.close()]);
      // Written data is sent before the connections are closed.
      await Promise.race([whenClosed, sleep(150)]);
      server.closeAllConnections();
      await whenClosed;
    },
  };
}

/** The path of a request's target, which may be a whole URL of the host that the header names (RFC 9112, section 3.2). */
function pathOf({ url = "/", headers: { host } }: IncomingMessage): string {
  const target = url.replace(/^https?:\/\/([^/]*)/i, (all, name) => (name === host ? "" : all));
  return target.split("?", 1)[0] ?? "/";
}

/** Whether calls can be served now. Probes may come often and from anywhere, so they share an answer for a while. */
function readiness({ ready, log }: Service): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  const find = async () => {
    const timeout = sleep(READY_LIMIT_MS, "no answer in time", { ref: false });
    const outcome = Promise.race([ready(startDeadline(READY_LIMIT_MS).signal), timeout]);
    const why = await outcome.catch((error: unknown) => Object(error).message ?? String(error));
    if (why !== undefined) log.warning(`Calls cannot be served: ${why}`);
    setTimeout(() => (answer = undefined), READY_MS).unref();
    return why === undefined;
  };
  return () => {
    answer ??= find();
    return answer;
  };
}

/**
 * The Server Card (SEP-2127, `io.modelcontextprotocol/server-card`): what this server is and how to connect, for clients
 * that have not. It is public.
 *
 * @param origin the origin that the client asked.
 */
function serverCard(service: Service, auth: HttpSettings["auth"], origin: string): Answer {
  const { identity, icons, description } = service;
  const url = new URL(auth.kind === "oauth" ? auth.audience : `${origin}/mcp`);
  const { hostname } = url;
  // Its name is qualified by a reversed domain.
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
  const domain = isAddress ? "localhost" : hostname.split(".").reverse().join(".");
  const secret = { name: "Authorization", isRequired: true, isSecret: true };
  const remote = {
    type: "streamable-http",
    url: urlText(url),
    ...(auth.kind === "token" ? { headers: [secret] } : {}),
    supportedProtocolVersions: [...REVISIONS.keys()],
  };
  const card = {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    ...identity,
    name: `${domain}/${identity.name}`,
    description: clip(description, 100),
    icons,
    remotes: [remote],
  };
  return jsonAnswer(200, card, {
    "content-type": "application/mcp-server-card+json",
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=3600",
  });
}

function urlOf(server: Server, { address, tls }: HttpSettings): string {
  if ("path" in address) return `unix:${address.path}`;
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${tls === undefined ? "http" : "https"}://${host}:${port}/mcp`;
}
