import { once } from "node:events";
import { createServer } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import * as z from "zod";

const request = z.object({
  system: z.string(),
  tools: z.array(
    z.object({ name: z.string(), input_schema: z.object({ type: z.literal("object") }) }),
  ),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});
type Request = z.output<typeof request>;
/** One turn of a scripted model: a tool call or a text. */
export type Turn = { tool: string; input: object } | { say: string };

/** The Messages API on loopback with a scripted model, and the requests that it received. */
export async function scripted(turns: readonly Turn[]): Promise<{
  readonly api: Anthropic;
  readonly requests: readonly Request[];
  close(): Promise<void>;
}> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = request.parse(JSON.parse((await incoming.toArray()).join("")));
    const turn = turns[requests.length] ?? { say: "" };
    requests.push(body);
    const content =
      "say" in turn
        ? [{ type: "text", text: turn.say }]
        : [{ type: "tool_use", id: `call-${requests.length}`, name: turn.tool, input: turn.input }];
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(
      JSON.stringify({
        id: "message",
        type: "message",
        role: "assistant",
        model: "scripted",
        content,
        stop_reason: "say" in turn ? "end_turn" : "tool_use",
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  return {
    api: new Anthropic({
      apiKey: "none",
      baseURL: `http://127.0.0.1:${address.port}`,
      maxRetries: 0,
    }),
    requests,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
