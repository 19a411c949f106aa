/** Clients of agent libraries, by the names of their packages; only the wanted one is loaded. */
const CLIENTS = {
  "@ai-sdk/mcp": aiSdk,
  "@langchain/mcp-adapters": langChain,
  "@mastra/mcp": mastra,
  "@openai/agents": openAiAgents,
};

export const connect = (way, packageName) => CLIENTS[packageName](way);

async function aiSdk(way) {
  const { createMCPClient } = await import("@ai-sdk/mcp");
  const { Experimental_StdioMCPTransport: Stdio } = await import("@ai-sdk/mcp/mcp-stdio");
  const transport = way.url ? { type: "http", url: way.url } : new Stdio(way);
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  return {
    list: async () => Object.keys(await client.tools()),
    call: (name, args, { signal }) =>
      tools[name].execute(args, { toolCallId: "1", messages: [], abortSignal: signal }),
    close: () => client.close(),
  };
}

async function langChain({ url, command, args, env }) {
  const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
  const server = url ? { transport: "http", url } : { transport: "stdio", command, args, env };
  const client = new MultiServerMCPClient({ mcpServers: { server } });
  const tools = await client.getTools();
  return {
    list: async () => (await client.getTools()).map(({ name }) => name),
    call: (name, args, { signal }) =>
      tools.find((tool) => tool.name === name).invoke(args, { signal }),
    close: () => client.close(),
  };
}

async function mastra({ url, command, args, env }) {
  const { MCPClient } = await import("@mastra/mcp");
  const server = url ? { url: new URL(url) } : { command, args, env };
  const client = new MCPClient({ servers: { server } });
  const tools = await client.listTools();
  return {
    // It prefixes tool names with the server's name.
    list: async () =>
      Object.keys(await client.listTools()).map((name) => name.replace(/^server_/, "")),
    call: (name, args, { signal }) =>
      tools[`server_${name}`].execute(args, { abortSignal: signal }),
    close: () => client.disconnect(),
  };
}

async function openAiAgents(way) {
  const { getAllMcpTools, MCPServerStdio, MCPServerStreamableHttp } = await import(
    "@openai/agents"
  );
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
