export async function connect(way, packageName) {
  const { createMCPClient } = await import(packageName);
  const { Experimental_StdioMCPTransport: Stdio } = await import(`${packageName}/mcp-stdio`);
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
