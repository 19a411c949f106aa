import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Caller, type Principal, type Send } from "../engine/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { whenExpired } from "./http/auth.ts";
import { refuse, takeSlot } from "./http/reply.ts";
import type { HttpLimits } from "./http/settings.ts";

/** The subprotocol that clients request. */
const SUBPROTOCOL = "mcp";
/** Close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
/** How long a client may take to close its side, in milliseconds. */
const CLOSE_MS = 100;
/** Of the header of a control frame from a client: its type, its length and the mask (RFC 6455, section 5.2). */
const CONTROL_BYTES = 6;
/** How many unsent bytes may wait. */
const MAX_UNSENT = 16 * 1_048_576;

/**
 * MCP over WebSocket: one message per frame; the connection is the caller. A client that is gone without a word is
 * noticed by TCP.
 */
export function webSocketEndpoint(engine: Engine, limits: HttpLimits) {
  const { load } = engine;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.messageBytes,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const callers = new Map<WebSocket, Caller>();

  function serve(socket: WebSocket, connection: Duplex, principal: Principal): void {
    const { owner } = principal;
    /** The bytes of its unfinished message, which ws collects. */
    let unfinished = 0;
    const count = (change: number) => {
      const counted = Math.max(change, -unfinished);
      unfinished += counted;
      load.bytes.count(counted, owner);
    };
    // Before ws reads it.
    connection.prependListener("data", (chunk: Buffer) => {
      count(chunk.length);
      if (!load.hasRoomForBytes(unfinished, owner, 0)) connection.destroy();
    });
    for (const control of ["ping", "pong"] as const)
      socket.on(control, (data) => count(-CONTROL_BYTES - data.length));
    const send: Send = (json) => {
      // A client that does not read its answers is disconnected.
      if (socket.bufferedAmount > MAX_UNSENT) socket.terminate();
      else if (json !== undefined && socket.readyState === socket.OPEN) socket.send(json);
    };
    const caller = new Caller({ principal, send });
    callers.set(socket, caller);
    socket.on("message", (data, isBinary) => {
      count(-unfinished);
      // Only the text of a text frame is checked to be UTF-8.
      if (isBinary) return end(socket, UNSUPPORTED_DATA, "Send messages as text frames.");
      const text = String(data);
      engine.serve(text, caller, send, { bytes: Buffer.byteLength(text) });
    });
    socket.on("error", (error) => engine.service.log.debug(`WebSocket: ${error.message}`));
    whenExpired(caller, { whenClosed: (work) => socket.once("close", work) }, () => {
      void engine.close(caller);
      end(socket, POLICY_VIOLATION, "The token has expired.");
    });
    socket.on("close", () => {
      count(-unfinished);
      callers.delete(socket);
      void engine.close(caller, null);
    });
  }

  function end(socket: WebSocket, code: number, reason: string): void {
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }

  return {
    /** Takes over a connection whose host, origin and caller are checked, or returns an error response. */
    upgrade(node: IncomingMessage, socket: Duplex, head: Buffer, principal: Principal) {
      const protocolHeader = node.headers["sec-websocket-protocol"] ?? "";
      if (!protocolHeader.split(",").some((name) => name.trim() === SUBPROTOCOL))
        return refuse(400, `Request the subprotocol ${SUBPROTOCOL} (Sec-WebSocket-Protocol).`);
      if (socket.destroyed) return undefined;
      const refusal = takeSlot(load.channels, principal.owner);
      if (refusal !== undefined) return refusal;
      // Even if the handshake fails.
      socket.once("close", () => load.channels.count(-1, principal.owner));
      server.handleUpgrade(node, socket, head, (accepted) => serve(accepted, socket, principal));
      return undefined;
    },

    async close(): Promise<void> {
      await Promise.all([...callers.values()].map((caller) => engine.close(caller)));
      for (const socket of callers.keys()) end(socket, GOING_AWAY, "The server is shutting down.");
      server.close();
    },
  };
}
