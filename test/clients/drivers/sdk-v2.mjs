import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export function connect(way) {
  const transport = way.url
    ? new StreamableHTTPClientTransport(new URL(way.url))
    : new StdioClientTransport(way);
  return connectOver(transport, "auto");
}

export async function connectOver(transport, mode) {
  const info = { name: "refmcp-clients", version: "1.0.0" };
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, { signal }) => client.callTool({ name, arguments: args }, { signal }),
    close: () => client.close(),
  };
}
