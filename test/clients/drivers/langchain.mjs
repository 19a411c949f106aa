import { MultiServerMCPClient } from "@langchain/mcp-adapters";

export async function connect({ url, command, args, env }) {
  const server = url ? { transport: "http", url } : { transport: "stdio", command, args, env };
  const client = new MultiServerMCPClient({ mcpServers: { server } });
  const tools = await client.getTools();
  return {
    list: async () => (await client.getTools()).map(({ name }) => name),
    call: (name, given, { signal }) =>
      tools.find((tool) => tool.name === name).invoke(given, { signal }),
    close: () => client.close(),
  };
}
