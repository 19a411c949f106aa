import { getAllMcpTools, MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents";

export async function connect(way) {
  const server = way.url ? new MCPServerStreamableHttp({ url: way.url }) : new MCPServerStdio(way);
  await server.connect();
  return {
    // What an agent gets, with the schemas converted to OpenAI's strict form.
    list: async () =>
      (await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true })).map(
        ({ name }) => name,
      ),
    call: (name, args, { signal }) => server.callToolResult(name, args, null, { signal }),
    close: () => server.close(),
  };
}
