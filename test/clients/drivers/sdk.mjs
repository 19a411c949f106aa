import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** A client of version 1 or 2 of the SDK, by the name of its package. */
export function connect(way, packageName) {
  if (packageName === "@modelcontextprotocol/client")
    return connectSecond(way.url ? new SecondHttp(new URL(way.url)) : new SecondStdio(way), "auto");
  return connectFirst(
    way.url ? new StreamableHTTPClientTransport(new URL(way.url)) : new StdioClientTransport(way),
  );
}

export async function connectFirst(transport) {
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

export async function connectSecond(transport, mode) {
  const info = { name: "refmcp-clients", version: "1.0.0" };
  const client = new SecondClient(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, { signal }) => client.callTool({ name, arguments: args }, { signal }),
    close: () => client.close(),
  };
}
