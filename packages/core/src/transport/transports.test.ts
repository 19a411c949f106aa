import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  Client,
  type JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  type HttpProbe,
  modernCall,
  openSession,
  post,
  talk,
  useProbes,
} from "../../test/fixtures/http.ts";
import { claim } from "../../test/fixtures/messages.ts";

const { start, closeLater } = useProbes();
let folder = "";
let cert = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "refmcp-transports-"));
  cert = await writeCertificate();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function writeCertificate(): Promise<string> {
  const pair = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  writeFileSync(join(folder, "key.pem"), pair.private);
  writeFileSync(join(folder, "cert.pem"), pair.cert);
  return pair.cert;
}

/** `fetch` with Node.js' own client, which supports sockets and certificates. */
function fetchBy(options: RequestOptions): typeof fetch {
  // A separate agent: connections to the server of an earlier test at the same path must not be reused.
  const agents = {
    "http:": new Agent({ keepAlive: true }),
    "https:": new HttpsAgent({ keepAlive: true }),
  };
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const asked = send(url, {
      ...options,
      agent: agents[url.protocol === "https:" ? "https:" : "http:"],
      method: init?.method ?? "GET",
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(init?.signal == null ? {} : { signal: init.signal }),
    });
    asked.end(init?.body === undefined ? undefined : String(init.body));
    const [answer] = await once(asked, "response");
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
    const status = Number(answer.statusCode);
    return new Response(status === 202 || status === 204 ? null : Readable.toWeb(answer), {
      status,
      headers,
    });
  };
}

/** A minimal client for MCP over WebSocket. */
function webSocketTransport(url: URL, protocols = ["mcp"]): Transport {
  const socket = new WebSocket(url.href.replace(/^http/, "ws"), protocols);
  const transport: Transport = {
    start: () => once(socket, "open").then(() => undefined),
    send: async (message) => socket.send(JSON.stringify(message)),
    close: async () => socket.close(),
  };
  socket.on("message", (data) => transport.onmessage?.(JSON.parse(String(data))));
  socket.on("close", () => transport.onclose?.());
  socket.on("error", (error) => transport.onerror?.(error));
  return transport;
}

interface Way {
  readonly args: () => string[];
  readonly transport: (probe: HttpProbe) => Transport;
}

const socketPath = () => join(folder, "mcp.sock");
const streamable = (url: string, options: RequestOptions) =>
  new StreamableHTTPClientTransport(new URL(url), { fetch: fetchBy(options) });
const WAYS: Record<string, Way> = {
  "Streamable HTTP": {
    args: () => ["--http", "0"],
    transport: ({ url }) => new StreamableHTTPClientTransport(url),
  },
  "HTTP+SSE of 2024-11-05": {
    args: () => ["--http", "0", "--sse"],
    transport: ({ url }) => new SSEClientTransport(new URL("/sse", url)),
  },
  WebSocket: {
    args: () => ["--http", "0", "--websocket"],
    transport: ({ url }) => webSocketTransport(url),
  },
  "a Unix socket": {
    args: () => ["--http", `unix:${socketPath()}`],
    transport: () => streamable("http://localhost/mcp", { socketPath: socketPath() }),
  },
  HTTPS: {
    args: () => [
      "--http",
      "0",
      "--tls-cert",
      join(folder, "cert.pem"),
      "--tls-key",
      join(folder, "key.pem"),
    ],
    transport: ({ url }) => streamable(`https://localhost:${url.port}/mcp`, { ca: cert }),
  },
};
const eras = ["legacy", "modern"] as const;
const cases = Object.keys(WAYS).flatMap((name) => eras.map((era) => [name, era] as const));

async function connect(name: string, era: (typeof eras)[number]) {
  const way = WAYS[name];
  if (way === undefined) throw new Error(name);
  const probe = await start(way.args());
  const client = new Client(
    { name: "transports", version: "1" },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => ({
    action: "accept",
    content: params.message === "Why?" ? { reason: "tidy" } : { confirm: true },
  }));
  await client.connect(way.transport(probe));
  closeLater(client);
  return { probe, client };
}

describe.each(cases)("over %s, a %s client", (name, era) => {
  it("lists, calls, reads, receives errors, and is asked", async () => {
    const { client } = await connect(name, era);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("probe_echo");
    const said = await client.callTool({ name: "probe_echo", arguments: { text: "häß\u2028\n" } });
    expect(said.content).toEqual([{ type: "text", text: "häß\u2028\n" }]);
    expect((await client.readResource({ uri: "probe://count" })).contents).toHaveLength(1);
    expect(
      await client.callTool({ name: "probe_fail", arguments: { how: "error" } }),
    ).toMatchObject({
      isError: true,
    });
    await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
    const wiped = await client.callTool({ name: "probe_wipe", arguments: {} });
    expect(wiped.structuredContent).toEqual({ lost: 0, reason: "tidy" });
  });

  it("receives progress and stops a call", async () => {
    const { client, probe } = await connect(name, era);
    const controller = new AbortController();
    const call = client.callTool(
      { name: "probe_slow", arguments: { ms: 60_000 } },
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await expect(call).rejects.toThrow();
    await expect.poll(() => probe.probes[0]?.events).toContain("aborted");
  });

  it("stops its pending work when it disconnects, and is notified of the server's shutdown", async () => {
    const { client, probe } = await connect(name, era);
    if (era === "modern") await client.listen({ resourceSubscriptions: ["probe://count"] });
    else await client.subscribeResource({ uri: "probe://count" });
    expect(probe.probes[0]?.watchers.size).toBe(1);
    await probe.close();
    expect(probe.probes[0]?.watchers.size).toBe(0);
    expect(probe.serving.load.requests.used).toBe(0);
  });
});

/** Sessions leave room for connections of another transport, and those for sessions. */
async function expectSeparateRoom(flag: string, open: (url: URL) => Promise<number>) {
  const { url, serving } = await start([flag], { limits: { sessions: 3 } });
  const sessions = [await openSession(url), await openSession(url), await openSession(url)];
  const statuses = [await open(url), await open(url), await open(url), await open(url)];
  expect(statuses.map((status) => status < 300)).toEqual([true, true, true, false]);
  expect(statuses[3]).toBe(503);
  // In place of one that its client ended, so that none is ended for it.
  await fetch(url, { method: "DELETE", headers: sessions.pop() ?? {} });
  sessions.push(await openSession(url));
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
  for (const session of sessions) expect((await post(url, list, session)).status).toBe(200);
  expect(serving.load).toMatchObject({ sessions: { used: 3 }, channels: { used: 3 } });
}

describe("a stream of 2024-11-05", () => {
  it("has room even if all sessions are in use, and ends none", async () => {
    const leaving = new AbortController();
    closeLater({ close: async () => leaving.abort() });
    await expectSeparateRoom("--sse", async (url) => {
      const { status } = await fetch(new URL("/sse", url), { signal: leaving.signal });
      return status;
    });
  });

  it("does not exist unless enabled", async () => {
    const { url } = await start();
    expect((await fetch(new URL("/sse", url))).status).toBe(404);
  });

  it("accepts messages only from its owner, and ends its calls with it", async () => {
    const env = { T: "t".repeat(32) };
    const { url, probes, serving } = await start(["--sse", "--auth-token-env", "T"], { env });
    const headers = { authorization: `Bearer ${env.T}`, "content-type": "application/json" };
    expect((await fetch(new URL("/sse", url))).status).toBe(401);
    const vanish = new AbortController();
    const stream = await fetch(new URL("/sse", url), { headers, signal: vanish.signal });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await reader?.read())?.value ?? "";
    const [, path = ""] = /^event: endpoint\ndata: (\S+)\n\n$/.exec(first) ?? [];
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "probe_slow", arguments: { ms: 60_000 } },
    };
    const post = (to: string, by: Record<string, string> = headers) =>
      fetch(new URL(to, url), { method: "POST", headers: by, body: JSON.stringify(call) });
    expect((await post(path, {})).status).toBe(401);
    expect((await post("/messages?sessionId=made-up")).status).toBe(404);
    expect((await post(path)).status).toBe(202);
    await expect.poll(() => serving.load.requests.used).toBe(1);
    vanish.abort();
    await expect.poll(() => probes[0]?.events).toContain("aborted");
    expect(serving.load).toMatchObject({ requests: { used: 0 }, channels: { used: 0 } });
  });
});

const PING = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: claim() } };

describe("a WebSocket", () => {
  const opened = async (socket: WebSocket) => {
    const [status] = await Promise.race([
      once(socket, "open").then(() => [101]),
      once(socket, "unexpected-response").then(([, answer]) => [answer.statusCode]),
    ]);
    return status;
  };
  const open = (url: URL, protocols: string[], headers: Record<string, string> = {}) => {
    const socket = new WebSocket(url.href.replace(/^http/, "ws"), protocols, { headers });
    socket.on("error", () => undefined);
    closeLater({ close: async () => socket.terminate() });
    return socket;
  };

  it("has room even if all sessions are in use, and ends none", async () => {
    await expectSeparateRoom("--websocket", (url) => opened(open(url, ["mcp"])));
  });

  it("needs the option, the subprotocol, an allowed origin and an authorized caller", async () => {
    const plain = await start();
    expect(await opened(open(plain.url, ["mcp"]))).toBe(400);
    const env = { T: "t".repeat(32) };
    const { url } = await start(["--websocket", "--auth-token-env", "T"], { env });
    const authorization = `Bearer ${env.T}`;
    expect(await opened(open(url, ["mcp"]))).toBe(401);
    expect(await opened(open(url, ["other"], { authorization }))).toBe(400);
    expect(
      await opened(open(url, ["mcp"], { authorization, origin: "https://evil.example" })),
    ).toBe(403);
    expect(await opened(open(url, ["mcp"], { authorization, host: "evil.example" }))).toBe(403);
    const good = open(url, ["other", "mcp"], { authorization });
    expect(await opened(good)).toBe(101);
    expect(good.protocol).toBe("mcp");
  });

  it("refuses messages that are too long, and accepts batches in 2025-03-26", async () => {
    const { url, serving } = await start(["--websocket"], { limits: { messageBytes: 65_536 } });
    const socket = open(url, ["mcp"]);
    await once(socket, "open");
    const answers: JSONRPCMessage[] = [];
    socket.on("message", (data) => answers.push(JSON.parse(String(data))));
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo };
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    socket.send(JSON.stringify([2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }))));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: "2025-03-26" } },
      [{ id: 2 }, { id: 3 }],
    ]);
    socket.send("x".repeat(70_000));
    const [code] = await once(socket, "close");
    expect(code).toBe(1009);
    await expect.poll(() => serving.load.channels.used).toBe(0);
  });

  it("closes on a binary frame, which might not be UTF-8", async () => {
    const socket = open((await start(["--websocket"])).url, ["mcp"]);
    await once(socket, "open");
    socket.send(Buffer.from(JSON.stringify(PING)));
    expect((await once(socket, "close"))[0]).toBe(1003);
  });

  it("counts the bytes of unfinished messages, regardless of what is sent between them", async () => {
    const { url, serving } = await start(["--websocket"], { limits: { messageBytes: 65_536 } });
    const sockets = Array.from({ length: 12 }, () => open(url, ["mcp"]));
    await Promise.all(sockets.map((socket) => once(socket, "open")));
    const answers: unknown[] = [];
    for (const socket of sockets) {
      socket.on("message", (data) => answers.push(JSON.parse(String(data))));
      socket.send(" ".repeat(60_000), { fin: false });
      socket.ping("a");
    }
    await expect.poll(() => serving.load.channels.used).toBeLessThan(9);
    await expect.poll(() => serving.load.bytes.used % 60_008).toBe(0);
    expect(serving.load.bytes.used).toBeGreaterThan(0);
    for (const socket of sockets) socket.send(JSON.stringify(PING), { fin: true });
    await expect.poll(() => serving.load.bytes.used).toBe(0);
    await expect.poll(() => answers.length - serving.load.channels.used).toBe(0);
  });

  it("counts the bytes of a message while its request runs, not its characters", async () => {
    const { url, serving } = await start(["--websocket"]);
    const socket = open(url, ["mcp"]);
    await once(socket, "open");
    const call = modernCall(
      "probe_slow",
      { ms: 60_000 },
      { "example.com/padding": "語".repeat(100) },
    );
    const text = JSON.stringify(call.message);
    socket.send(text);
    await expect.poll(() => serving.load.requests.used).toBe(1);
    expect(serving.load.bytes.used).toBe(Buffer.byteLength(text));
  });

  it("that reads none of its responses is disconnected", async () => {
    const { url, serving } = await start(["--websocket"]);
    const socket = open(url, ["mcp"]);
    await once(socket, "open");
    socket.pause();
    const params = { name: "probe_echo", arguments: { text: "x".repeat(16_000), times: 4 } };
    for (let id = 0; id < 2_000; id += 1)
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
    await expect.poll(() => serving.load.channels.used).toBe(0);
  });
});

describe("a connection over HTTP", () => {
  const request = (url: URL, id: number, name: string, args: object) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name, arguments: args, _meta };
    const call = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    return `POST /mcp HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: ${name}\r\ncontent-length: ${call.length}\r\n\r\n${call}`;
  };

  it("answers requests that are sent without waiting for answers, in order", async () => {
    const { url } = await start();
    const last = `GET /healthz HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n\r\n`;
    const calls = [1, 2, 3, 4].map((id) =>
      id === 2
        ? request(url, id, "probe_slow", { ms: 100 })
        : request(url, id, "probe_echo", { text: "a" }),
    );
    const answers = await talk(url, calls.join("") + last);
    const ids = [...answers.matchAll(/"id":(\d)/g)].map(([, id]) => Number(id));
    expect(ids).toEqual([1, 2, 3, 4]);
    expect(answers).toContain('{"status":"ok"}');
  });

  it("that is closed with requests queued behind another keeps no slot", async () => {
    const { url, serving } = await start();
    const socket = createConnection(Number(url.port), url.hostname);
    socket.write(request(url, 1, "probe_slow", { ms: 60_000 }).repeat(20));
    await expect.poll(() => serving.load.requests.used).toBe(1);
    socket.destroy();
    await expect
      .poll(() => serving.load)
      .toMatchObject({ requests: { used: 0 }, bytes: { used: 0 } });
  });

  it("that asks for HTTP/2 is answered in HTTP/1.1; one with an invalid WebSocket request is closed", async () => {
    const plain = await start();
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const h2c = `POST /mcp HTTP/1.1\r\nhost: ${plain.url.host}\r\nconnection: upgrade, close\r\nupgrade: h2c\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(await talk(plain.url, h2c)).toMatch(/^HTTP\/1\.1 200 .*"id":1,"result":\{\}/s);
    const { url } = await start(["--websocket"]);
    const upgrade =
      "GET /mcp HTTP/1.1\r\nhost: evil.example\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    expect(await talk(url, upgrade)).toMatch(/^HTTP\/1\.1 403/);
    expect(await talk(url, "GET /mcp HTTP/1.1\r\nbroken header\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 400/,
    );
  });
});

describe("a Unix socket", () => {
  it("is private, and replaces a stale socket, but not one in use", async () => {
    const path = join(folder, "private.sock");
    const listening =
      "require('node:net').createServer().listen(process.argv[1], () => console.log('ready'))";
    const child = spawn(process.execPath, ["-e", listening, path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await expect(start(["--http", `unix:${path}`])).rejects.toMatchObject({ code: "EADDRINUSE" });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(lstatSync(path).isSocket()).toBe(true);
    writeFileSync(join(folder, "file.sock"), "not a socket");
    await expect(start(["--http", `unix:${join(folder, "file.sock")}`])).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await start(["--http", `unix:${path}`]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
