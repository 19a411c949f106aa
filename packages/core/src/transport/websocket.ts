import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Connection } from "../protocol/connection.ts";
import { parseError } from "../protocol/errors.ts";
import type { Load } from "../protocol/load.ts";
import { type Principal, type Service, sinkTo } from "../protocol/request.ts";
import { Arriving } from "./arriving.ts";
import { whenExpired } from "./http/auth.ts";
import { type Answer, refuse } from "./http/reply.ts";

/** The subprotocol that clients request. */
const SUBPROTOCOL = "mcp";
/** The close code for a caller whose access has expired (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008;
/** The close code for a client that may try again later (IANA's registry of RFC 6455). */
const TRY_AGAIN_LATER = 1013;
/** How often a connection is pinged, in milliseconds. */
const PING_MS = 30_000;
/** How long a client may take to close its side, in milliseconds. */
const CLOSE_MS = 100;
/** Reading from a client pauses with more unsent bytes than this. */
const MAX_UNSENT = 4 * 1_048_576;

/** Serves MCP over WebSocket: one message per frame, with the same connection class as stdio. */
export function webSocketEndpoint(
  service: Service,
  limits: {
    readonly load: Load;
    readonly connections: number;
    readonly maxMessageBytes: number;
    /** How long a message may take to arrive, in milliseconds. */
    readonly requestMs: number;
  },
) {
  const { load, requestMs } = limits;
  const slots = load.slots(limits.connections);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const open = new Map<WebSocket, Connection>();
  const heard = new WeakSet<WebSocket>();
  const pinging = setInterval(ping, PING_MS);
  pinging.unref();

  /** Ends a connection, even if the client does not close its side. */
  function end(socket: WebSocket, code: number, why: string): void {
    socket.close(code, why);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }

  function serve(socket: WebSocket, stream: Duplex, principal: Principal): void {
    const arriving = new Arriving(load, {
      limitMs: requestMs,
      isPaused: () => socket.isPaused,
      refuse(why) {
        end(socket, TRY_AGAIN_LATER, why);
        // Nothing more is read.
        stream.pause();
      },
    });
    // Bytes are counted before the library reads them, and checked once it has taken out complete messages.
    stream.prependListener("data", (chunk: Buffer) => arriving.add(chunk.length));
    stream.on("data", () => arriving.check());
    for (const kind of ["ping", "pong"] as const)
      socket.on(kind, (data) => arriving.control(data.length));
    /** Messages that were read but not yet taken, because the client does not read its answers. */
    const waiting: { readonly text: string | undefined; readonly bytes: number }[] = [];
    const work = () => {
      const isHeld = () => connection.isHeld || socket.bufferedAmount > MAX_UNSENT;
      while (!isHeld()) {
        if (connection.takeEntry()) continue;
        const next = waiting.shift();
        if (next === undefined) break;
        const { text, bytes } = next;
        arriving.taken(bytes);
        if (text === undefined)
          connection.refuse(
            undefined,
            parseError("A message must be a text frame, not a binary one."),
          );
        else connection.take(text);
      }
      if (isHeld()) socket.pause();
      else socket.resume();
    };
    const send = (json: string) => {
      if (socket.readyState !== socket.OPEN) return;
      // Answers wait for the client (see `isHeld`); notifications are kept only up to this limit.
      if (socket.bufferedAmount > 2 * MAX_UNSENT) socket.terminate();
      else socket.send(json, work);
    };
    const connection = new Connection({
      service,
      principal,
      load,
      sink: {
        ...sinkTo(send),
        answer: (json) => {
          if (json !== undefined) send(json);
          else if (waiting.length > 0) process.nextTick(work);
        },
      },
    });
    open.set(socket, connection);
    heard.add(socket);
    socket.on("pong", () => heard.add(socket));
    socket.on("message", (data, isBinary) => {
      waiting.push({ text: isBinary ? undefined : String(data), bytes: arriving.complete() });
      work();
    });
    socket.on("error", (error) => service.log.debug(`WebSocket: ${error.message}`));
    whenExpired(principal, { whenClosed: (work) => socket.once("close", work) }, () =>
      socket.close(POLICY_VIOLATION, "The token has expired."),
    );
    socket.on("close", () => {
      arriving.end();
      open.delete(socket);
      connection.clientLeft();
      void connection.close();
    });
  }

  /** Ends connections that have not answered the last ping. */
  function ping(): void {
    for (const socket of open.keys()) {
      // A paused socket does not receive the pong.
      if (socket.isPaused) continue;
      if (!heard.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }

  return {
    get count() {
      return open.size;
    },

    /** Takes over a connection whose host, origin and caller are checked, or returns an error response. */
    upgrade(
      node: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      principal: Principal,
    ): Answer | undefined {
      const { headers } = node;
      const offered = (headers["sec-websocket-protocol"] ?? "")
        .split(",")
        .map((name) => name.trim());
      if (!offered.includes(SUBPROTOCOL))
        return refuse(400, `Request the subprotocol ${SUBPROTOCOL} (Sec-WebSocket-Protocol).`);
      if (socket.destroyed) return undefined;
      if (!slots.take(principal.owner))
        return refuse(503, "Too many connections are open; try again later.");
      // Even if the handshake fails.
      socket.once("close", () => slots.count(principal.owner, -1));
      server.handleUpgrade(node, socket, head, (webSocket) => serve(webSocket, socket, principal));
      return undefined;
    },

    async close(): Promise<void> {
      clearInterval(pinging);
      await Promise.all([...open.values()].map((connection) => connection.close()));
      for (const socket of open.keys()) {
        end(socket, 1001, "The server is shutting down.");
      }
      server.close();
    },
  };
}
