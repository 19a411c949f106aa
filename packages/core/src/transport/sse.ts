import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Caller, type Principal, type Send } from "../engine/caller.ts";
import type { Engine } from "../engine/engine.ts";
import { parseMessage } from "../engine/message.ts";
import { CODES } from "../engine/wire.ts";
import { whenExpired } from "./http/auth.ts";
import { type Answer, errorAnswer, type Reply, readBody, refuse } from "./http/reply.ts";

/** How many requests of a stream may be unanswered. */
const MAX_UNANSWERED = 1_024;

/**
 * The HTTP+SSE transport of 2024-11-05: a GET opens a stream whose first event, `endpoint`, names the URL that the
 * client posts its messages to; all answers arrive on the stream, which is the connection.
 *
 * @param path the path to post messages to.
 */
export function sseEndpoint(
  engine: Engine,
  path: string,
  { connections, maxBytes }: { readonly connections: number; readonly maxBytes: number },
) {
  const { load } = engine;
  const slots = load.limit(connections);
  const streams = new Map<string, { readonly caller: Caller; readonly send: Send }>();
  return {
    get count() {
      return streams.size;
    },

    /** Answers a GET with a stream. */
    open(reply: Reply, principal: Principal): Answer | undefined {
      if (!slots.take(principal.owner))
        return refuse(503, "Too many streams are open; try again later.", { "retry-after": "5" });
      const id = randomUUID();
      const send: Send = (json) => {
        if (json !== undefined) reply.event(json);
      };
      const caller = new Caller({ principal, send, maxUnanswered: MAX_UNANSWERED });
      streams.set(id, { caller, send });
      reply.openStream();
      reply.write(`event: endpoint\ndata: ${path}?sessionId=${id}\n\n`);
      whenExpired(principal, reply, () => reply.end());
      reply.whenClosed(() => {
        slots.count(-1, principal.owner);
        streams.delete(id);
        void engine.close(caller, null);
      });
      return undefined;
    },

    /** Takes a posted message; its answer is sent on the stream. */
    async post(
      node: IncomingMessage,
      reply: Reply,
      principal: Principal,
    ): Promise<Answer | undefined> {
      const id = new URLSearchParams(node.url?.split("?", 2)[1]).get("sessionId") ?? "";
      const stream = streams.get(id);
      if (stream === undefined || stream.caller.principal?.key !== principal.key)
        return errorAnswer(404, {
          code: CODES.sessionNotFound,
          message: "Session not found. Open a new stream.",
        });
      const body = await readBody(node, reply, { maxBytes, load });
      if (body.kind === "gone") return undefined;
      if (body.kind !== "text")
        return refuse(body.kind === "too-large" ? 413 : 400, `The body is ${body.kind}.`);
      const parsed = parseMessage(body.text);
      if ("error" in parsed) return errorAnswer(400, parsed.error);
      reply.send({ status: 202, headers: { "content-type": "text/plain" }, body: "Accepted" });
      engine.serve(parsed.value, stream.caller, stream.send, { bytes: body.bytes });
      return undefined;
    },

    async close(): Promise<void> {
      await Promise.all([...streams.values()].map(({ caller }) => engine.close(caller)));
    },
  };
}
