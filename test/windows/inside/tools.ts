// Starts servers in Wine and calls their tools, each session with its own arguments.
import { connectStdio, type Era, REVISIONS, rawSession } from "@refmcp/testing/connect";
import { ENVIRONMENT, input, report } from "./lines.ts";

/** A server that is started once, and what is asked of it. */
export interface Session {
  readonly server: string;
  readonly bin: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly era: Era;
  readonly calls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

/** The id of the last change that an answer reported; "CHANGE" in later arguments. */
let change = "";

/** Answers to the calls of a session. */
async function hold({ server, bin, era, calls, ...start }: Session): Promise<void> {
  const connected = await connectStdio(bin, {
    era,
    args: start.args,
    env: { ...ENVIRONMENT, ...start.env },
  });
  try {
    const { tools } = await connected.client.listTools();
    report({ server, era, event: "tools", names: tools.map(({ name }) => name) });
    for (const { name, arguments: args } of calls) {
      const text = JSON.stringify(args).replaceAll("CHANGE", change);
      const answer = await connected.client.callTool({ name, arguments: JSON.parse(text) });
      change = String(Object(answer.structuredContent).change_id ?? change);
      report({
        server,
        era,
        event: "call",
        name,
        isError: answer.isError ?? false,
        content: answer.content,
      });
    }
  } catch (error) {
    report({ server, era, event: "failed", error: `${error}\n${connected.stderr()}` });
  } finally {
    await connected.close();
  }
}

/** Sends the first request, closes the input and waits for the end. */
async function end({ server, bin, era, args, env }: Session): Promise<void> {
  const client = { clientInfo: { name: "wine", version: "1" }, capabilities: {} };
  const first =
    era === "legacy"
      ? { method: "initialize", params: { protocolVersion: REVISIONS.legacy, ...client } }
      : {
          method: "tools/list",
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": REVISIONS.modern,
              "io.modelcontextprotocol/clientInfo": client.clientInfo,
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        };
  const { code, signal, lines } = await rawSession(
    bin,
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, ...first })}\n`,
    { args, env: { ...ENVIRONMENT, ...env } },
  );
  const [answer = ""] = lines;
  report({ server, era, event: "end", code, signal, isAnswered: "result" in JSON.parse(answer) });
}

const { sessions, ends } = input<{ sessions: readonly Session[]; ends: readonly Session[] }>();
for (const session of sessions) await hold(session);
for (const session of ends) await end(session);
