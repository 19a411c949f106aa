import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Caller, type Principal, type Send } from "../engine/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { CODES } from "../engine/wire.ts";
import { whenExpired } from "./http/auth.ts";
import { readBody } from "./http/body.ts";
import { type Answer, errorAnswer, type Reply, takeSlot } from "./http/reply.ts";
import type { HttpLimits } from "./http/settings.ts";

/**
 * The HTTP+SSE transport of 2024-11-05: a GET opens a stream whose first event, `endpoint`, names the URL that the
 * client posts its messages to; all answers arrive on the stream, which is the connection.
 *
 * @param path the path to post messages to.
 */
export function sseEndpoint(engine: Engine, path: string, limits: HttpLimits) {
  const { load } = engine;
  const streams = new Map<string, Caller>();
  return {
    /** Answers a GET with a stream. */
    open(reply: Reply, principal: Principal): Answer | undefined {
      const refusal = takeSlot(load.channels, principal.owner);
      if (refusal !== undefined) return refusal;
      const id = randomUUID();
      const send: Send = (json) => {
        if (json !== undefined) reply.event(json);
      };
      const caller = new Caller({ principal, send });
      streams.set(id, caller);
      reply.openStream();
      reply.write(`event: endpoint\ndata: ${path}?sessionId=${id}\n\n`);
      whenExpired(caller, reply, () => reply.end());
      reply.whenClosed(() => {
        load.channels.count(-1, principal.owner);
        streams.delete(id);
        void engine.close(caller, null);
      });
      return undefined;
    },

    /** Takes a posted message; its answer is sent on the stream. */
    async post(node: IncomingMessage, reply: Reply, principal: Principal) {
      const id = new URLSearchParams(node.url?.split("?", 2)[1]).get("sessionId") ?? "";
      const caller = streams.get(id);
      const message = "Session not found. Open a new stream.";
      if (caller?.send === undefined || caller.principal?.key !== principal.key)
        return errorAnswer(404, { code: CODES.sessionNotFound, message });
      caller.principal = principal;
      const body = await readBody(node, reply, load, limits.messageBytes, principal);
      if (body === undefined || "status" in body) return body;
      reply.send({ status: 202, headers: { "content-type": "text/plain" }, body: "Accepted" });
      engine.serve(body.value, caller, caller.send, { bytes: body.bytes });
      return undefined;
    },
  };
}
