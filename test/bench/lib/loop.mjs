// A minimal stdio server as the floor: no dependencies, no checks, one method.
let buffer = "";
process.stdin.on("data", (chunk) => {
  buffer += chunk;
  for (let end = buffer.indexOf("\n"); end !== -1; end = buffer.indexOf("\n")) {
    const { id, method } = JSON.parse(buffer.slice(0, end));
    buffer = buffer.slice(end + 1);
    if (id === undefined) continue;
    const result =
      method === "initialize"
        ? {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "loop", version: "1" },
          }
        : { content: [{ type: "text", text: "ok" }] };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  }
});
process.stdin.on("end", () => process.exit(0));
