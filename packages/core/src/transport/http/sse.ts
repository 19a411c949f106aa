import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Connection } from "../../protocol/connection.ts";
import type { Load } from "../../protocol/load.ts";
import { parseMessage } from "../../protocol/messages.ts";
import { type Principal, type Service, type Sink, sinkTo } from "../../protocol/request.ts";
import { CODES } from "../../protocol/wire.ts";
import { whenExpired } from "./auth.ts";
import { type Answer, type Reply, readBody, refuse, rpcAnswer } from "./reply.ts";

/**
 * The HTTP+SSE transport of 2024-11-05: a GET opens a stream whose first event, `endpoint`, names the URL that the
 * client posts its messages to; all answers arrive on the stream, which is the connection.
 *
 * @param messages the path to post messages to.
 */
export function sseEndpoint(
  service: Service,
  messages: string,
  limits: { readonly load: Load; readonly connections: number; readonly maxMessageBytes: number },
) {
  const { load, maxMessageBytes: maxBytes } = limits;
  const slots = load.slots(limits.connections);
  const streams = new Map<string, { connection: Connection; sink: Sink; principal: Principal }>();
  return {
    get count() {
      return streams.size;
    },

    /** Answers a GET with a stream. */
    open(reply: Reply, principal: Principal): Answer | undefined {
      if (!slots.take(principal.owner))
        return refuse(503, "Too many streams are open; try again later.", { "retry-after": "5" });
      const id = randomUUID();
      const sink = sinkTo((json) => reply.event(json));
      const connection = new Connection({ service, principal, load, sink });
      streams.set(id, { connection, sink, principal });
      reply.openStream();
      reply.write(`event: endpoint\ndata: ${messages}?sessionId=${id}\n\n`);
      whenExpired(principal, reply, () => reply.end());
      reply.whenClosed(() => {
        slots.count(principal.owner, -1);
        streams.delete(id);
        connection.clientLeft();
        void connection.close();
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
      if (stream === undefined || stream.principal.key !== principal.key) {
        const message = "Session not found. Open a new stream.";
        return rpcAnswer(404, { code: CODES.sessionNotFound, message });
      }
      if (stream.connection.isHeld)
        return refuse(503, "Too many requests are pending; retry later.", { "retry-after": "1" });
      const body = await readBody(node, reply, { maxBytes, load });
      if (body.kind === "gone") return undefined;
      if (body.kind !== "text")
        return refuse(body.kind === "too-large" ? 413 : 400, `The body is ${body.kind}.`);
      if (streams.get(id) !== stream) return refuse(404, "The stream has ended. Open a new one.");
      const parsed = parseMessage(body.text);
      if ("error" in parsed) return rpcAnswer(400, parsed.error, { id: parsed.id });
      reply.send({ status: 202, headers: { "content-type": "text/plain" }, body: "Accepted" });
      stream.connection.receive(parsed.value, { sink: stream.sink, bytes: body.bytes });
      return undefined;
    },

    async close(): Promise<void> {
      await Promise.all([...streams.values()].map(({ connection }) => connection.close()));
    },
  };
}
