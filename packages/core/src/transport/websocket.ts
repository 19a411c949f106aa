import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Caller, type Principal, type Send } from "../engine/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { errorText, parseError } from "../engine/errors.ts";
import { whenExpired } from "./http/auth.ts";
import { type Answer, refuse } from "./http/reply.ts";

/** The subprotocol that clients request. */
const SUBPROTOCOL = "mcp";
/** The close code for a caller whose access has expired (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008;
/** How often a connection is pinged, in milliseconds; one that has not answered the last ping is ended. */
const PING_MS = 30_000;
/** How long a client may take to close its side, in milliseconds. */
const CLOSE_MS = 100;
/** How many requests of a connection may be unanswered, and unsent bytes wait, before reading pauses. */
const MAX_UNANSWERED = 1_024;
const MAX_UNSENT = 4 * 1_048_576;

/** MCP over WebSocket: one message per text frame; the connection is the caller. */
export function webSocketEndpoint(
  engine: Engine,
  { connections, maxBytes }: { readonly connections: number; readonly maxBytes: number },
) {
  const slots = engine.load.limit(connections);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const open = new Map<WebSocket, Caller>();
  const answered = new WeakSet<WebSocket>();
  const pinging = setInterval(() => {
    for (const socket of open.keys()) {
      // A paused socket does not receive the pong.
      if (socket.isPaused) continue;
      if (answered.delete(socket)) socket.ping();
      else socket.terminate();
    }
  }, PING_MS).unref();

  function serve(socket: WebSocket, principal: Principal): void {
    /** Reads no more from a client that does not read its answers. */
    const pace = () => {
      if (caller.isHeld || socket.bufferedAmount > MAX_UNSENT) socket.pause();
      else socket.resume();
    };
    const send: Send = (json, kind) => {
      if (socket.readyState !== socket.OPEN) return;
      // Answers end when reading pauses; notifications do not.
      const isExcess = kind === "notification" && socket.bufferedAmount > 2 * MAX_UNSENT;
      if (isExcess) socket.terminate();
      else if (json === undefined) setImmediate(pace);
      else socket.send(json, pace);
    };
    const caller = new Caller({ principal, send, maxUnanswered: MAX_UNANSWERED });
    open.set(socket, caller);
    answered.add(socket);
    socket.on("pong", () => answered.add(socket));
    socket.on("message", (data, isBinary) => {
      const error = parseError("A message must be a text frame, not a binary one.");
      if (isBinary) send(errorText(undefined, error, caller.revision), "refusal", { error });
      else engine.serve(String(data), caller, send);
      pace();
    });
    socket.on("error", (error) => engine.service.log.debug(`WebSocket: ${error.message}`));
    whenExpired(principal, { whenClosed: (work) => socket.once("close", work) }, () =>
      socket.close(POLICY_VIOLATION, "The token has expired."),
    );
    socket.on("close", () => {
      open.delete(socket);
      void engine.close(caller, null);
    });
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
      const offered = node.headers["sec-websocket-protocol"] ?? "";
      if (!offered.split(",").some((name) => name.trim() === SUBPROTOCOL))
        return refuse(400, `Request the subprotocol ${SUBPROTOCOL} (Sec-WebSocket-Protocol).`);
      if (socket.destroyed) return undefined;
      if (!slots.take(principal.owner))
        return refuse(503, "Too many connections are open; try again later.");
      // Even if the handshake fails.
      socket.once("close", () => slots.count(-1, principal.owner));
      server.handleUpgrade(node, socket, head, (webSocket) => serve(webSocket, principal));
      return undefined;
    },

    async close(): Promise<void> {
      clearInterval(pinging);
      await Promise.all([...open.values()].map((caller) => engine.close(caller)));
      for (const socket of open.keys()) {
        socket.close(1001, "The server is shutting down.");
        setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      }
      server.close();
    },
  };
}
