import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport as SecondHttp } from "@modelcontextprotocol/client";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { connectFirst, connectSecond } from "./sdk.mjs";

const inPackage = (path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
const MCP_REMOTE = inPackage("mcp-remote/dist/proxy.js");
const SUPERGATEWAY = inPackage("supergateway/dist/index.js");
const MCP_PROXY = inPackage("mcp-proxy/dist/bin/mcp-proxy.mjs");

const toHttp = (origin) => connectFirst(new StreamableHTTPClientTransport(new URL("/mcp", origin)));
const toSse = (origin) => connectFirst(new SSEClientTransport(new URL("/sse", origin)));
const toModernHttp = (origin) =>
  connectSecond(new SecondHttp(new URL("/mcp", origin)), { pin: "2026-07-28" });

/** How each bridge is started and, if it listens, how the SDK's client connects to it. */
const BRIDGES = {
  "mcp-remote": { args: ({ url }) => [MCP_REMOTE, url, "--transport", "http-only"] },
  "supergateway from HTTP": { args: ({ url }) => [SUPERGATEWAY, "--streamableHttp", url] },
  "supergateway to SSE": { args: supergateway(), client: toSse },
  "supergateway to HTTP": {
    args: supergateway("--outputTransport", "streamableHttp", "--stateful"),
    client: toHttp,
  },
  "supergateway to HTTP, 2026-07-28": {
    args: supergateway("--outputTransport", "streamableHttp"),
    client: toModernHttp,
  },
  "mcp-proxy to SSE": { args: mcpProxy(), client: toSse },
  "mcp-proxy to HTTP": { args: mcpProxy(), client: toHttp },
  "mcp-proxy to HTTP, 2026-07-28": {
    args: mcpProxy("--upstreamProtocol", "modern"),
    client: toModernHttp,
  },
};

/** Supergateway takes the server as a command line for a shell. */
function supergateway(...options) {
  return ({ command, args }, port) => {
    const line = [command, ...args].map((part) => `"${part}"`).join(" ");
    return [SUPERGATEWAY, "--stdio", line, "--port", port, "--logLevel", "none", ...options];
  };
}

function mcpProxy(...options) {
  return ({ command, args }, port) => [
    MCP_PROXY,
    "--host",
    "127.0.0.1",
    "--port",
    port,
    ...options,
    "--",
    command,
    ...args,
  ];
}

/** The ends of the bridges that were stopped. Supergateway takes seconds, long after the server has exited. */
const ends = [];
export const finish = () => Promise.all(ends);

export async function connect(way, name) {
  const { args, client: connectTo } = BRIDGES[name];
  const env = { ...process.env, ...way.env };
  if (connectTo === undefined) {
    const recorded = ["--import", way.recorder, ...args(way)];
    return connectFirst(
      new StdioClientTransport({
        command: process.execPath,
        args: recorded,
        env,
        stderr: "ignore",
      }),
    );
  }
  const port = await freePort();
  const bridge = spawn(process.execPath, args(way, port), {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(bridge, "exit");
  const failed = ended.then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`)));
  await Promise.race([listens(port), failed]);
  const client = await connectTo(`http://127.0.0.1:${port}`);
  return {
    ...client,
    async close() {
      failed.catch(() => {});
      await client.close();
      bridge.kill("SIGINT");
      ends.push(ended);
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return String(port);
}

async function listens(port) {
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
