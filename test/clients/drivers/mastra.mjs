import { MCPClient } from "@mastra/mcp";

export async function connect({ url, command, args, env }) {
  const server = url ? { url: new URL(url) } : { command, args, env };
  const client = new MCPClient({ servers: { server } });
  const tools = await client.listTools();
  return {
    // It prefixes tool names with the server's name.
    list: async () =>
      Object.keys(await client.listTools()).map((name) => name.replace(/^server_/, "")),
    call: (name, given, { signal }) =>
      tools[`server_${name}`].execute(given, { abortSignal: signal }),
    close: () => client.disconnect(),
  };
}
