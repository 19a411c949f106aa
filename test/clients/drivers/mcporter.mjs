export async function connect({ url, command, args, env }, packageName) {
  const { createRuntime } = await import(packageName);
  const how = url
    ? { kind: "http", url: new URL(url) }
    : { kind: "stdio", command, args, cwd: process.cwd() };
  const runtime = await createRuntime({ servers: [{ name: "server", command: how, env }] });
  return {
    list: async () => (await runtime.listTools("server")).map(({ name }) => name),
    // There is no signal to cancel a call.
    call: (name, given, { timeoutMs }) =>
      runtime.callTool("server", name, { args: given, timeoutMs }),
    close: () => runtime.close(),
  };
}
