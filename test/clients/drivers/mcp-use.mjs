import { MCPClient } from "mcp-use/client";

export async function connect({ url, command, args, env }) {
  const client = new MCPClient({ mcpServers: { server: url ? { url } : { command, args, env } } });
  const session = await client.createSession("server");
  return {
    list: async () => (await session.listTools()).map(({ name }) => name),
    call: (name, given, { signal }) => session.callTool(name, given, { signal }),
    close: () => client.closeAllSessions(),
  };
}
