import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export function connect(way) {
  return connectOver(
    way.url ? new StreamableHTTPClientTransport(new URL(way.url)) : new StdioClientTransport(way),
  );
}

export async function connectOver(transport) {
  const client = new Client({ name: "refmcp-clients", version: "1.0.0" });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, { signal }) =>
      client.callTool({ name, arguments: args }, undefined, { signal }),
    async close() {
      await transport.terminateSession?.();
      await client.close();
    },
  };
}
