import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  connectHttp,
  INITIALIZE,
  legacyCall,
  modernCall,
  openSession,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";

const { start, closeLater } = useProbes();

const echo = modernCall("probe_echo", { text: "a" });

/** Sends a call that takes a minute, in the background; the client can disconnect. */
function slow(url: URL, meta: Record<string, unknown> = {}): AbortController {
  const vanish = new AbortController();
  const { message, headers } = modernCall("probe_slow", { ms: 60_000 }, meta);
  void post(url, message, headers, vanish.signal).then(
    (response) => response.text().catch(() => undefined),
    () => undefined,
  );
  return vanish;
}

describe("requests in flight", () => {
  it("are limited in number; the next one is asked to retry", async () => {
    const { url, serving } = await start([], { limits: { inFlight: 3 } });
    const clients = [slow(url), slow(url), slow(url)];
    await expect.poll(() => serving.load.inFlight).toBe(3);
    const refused = await post(url, echo.message, echo.headers);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.text()).toContain("requests are pending");
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
    clients[0]?.abort();
    await expect.poll(() => serving.load.inFlight).toBe(2);
    expect((await post(url, echo.message, echo.headers)).status).toBe(200);
  });

  it("still count while their tools run, even if their clients are gone", async () => {
    const { url, serving, probes } = await start([], { limits: { inFlight: 2 } });
    const vanish = new AbortController();
    const { message, headers } = modernCall("probe_slow", { ms: 0, deaf: true });
    const calls = [1, 2].map(() => post(url, message, headers, vanish.signal).catch(() => "gone"));
    await expect.poll(() => probes[0]?.wake).toHaveLength(2);
    vanish.abort();
    expect(await Promise.all(calls)).toEqual(["gone", "gone"]);
    // After another connection was opened and closed, the server has noticed that the others are closed.
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
    expect((await post(url, echo.message, echo.headers)).status).toBe(503);
    probes[0]?.wake.forEach((wake) => void wake());
    await expect.poll(() => serving.load.inFlight).toBe(0);
    expect((await post(url, echo.message, echo.headers)).status).toBe(200);
  });

  it("count each request of a batch", async () => {
    const { url } = await start([], { limits: { inFlight: 3 } });
    const session = await openSession(url, "2025-03-26");
    const batch = (size: number) =>
      Array.from({ length: size }, (_, index) => legacyCall(index, "probe_echo", { text: "a" }));
    expect((await post(url, batch(4), session)).status).toBe(503);
    expect((await post(url, batch(3), session)).status).toBe(200);
  });

  it("leave capacity for answers to questions, which calls wait for", async () => {
    const { url } = await start([], { limits: { inFlight: 1 } });
    const { client } = await connectHttp(url, "legacy");
    closeLater(client);
    client.setRequestHandler("elicitation/create", ({ params }) => ({
      action: "accept",
      content: params.message === "Why?" ? { reason: "tidy" } : { confirm: true },
    }));
    const wiped = await client.callTool({ name: "probe_wipe", arguments: {} });
    expect(wiped.structuredContent).toEqual({ lost: 0, reason: "tidy" });
  });

  it("still count while nobody reads their response, until they are cancelled", async () => {
    const { url, serving, probes } = await start([], { limits: { inFlight: 3 } });
    const session = await openSession(url);
    for (const id of [11, 12, 13]) {
      const vanish = new AbortController();
      const call = legacyCall(id, "probe_slow", { ms: 60_000 }, { progressToken: id });
      await post(url, call, session, vanish.signal);
      vanish.abort();
    }
    const status = async () =>
      (await post(url, legacyCall(14, "probe_echo", { text: "a" }), session)).status;
    // The server notices a little later that the clients are gone.
    await new Promise((next) => setTimeout(next, 50));
    await expect.poll(status).toBe(503);
    expect(serving.load.inFlight).toBe(3);
    for (const requestId of [11, 12, 13]) {
      const cancelled = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId },
      };
      expect((await post(url, cancelled, session)).status).toBe(202);
    }
    await expect.poll(() => serving.load.inFlight).toBe(0);
    expect(probes[0]?.events).toEqual(["aborted", "aborted", "aborted"]);
    expect(await status()).toBe(200);
  });
});

describe("connections", () => {
  it("wait until a busy process accepts them, many at once", async (ctx) => {
    const most = Number(await readFile("/proc/sys/net/core/somaxconn", "utf8").catch(() => 0));
    if (most < 1_000)
      ctx.skip("needs Linux with room for 1,000 connections in a queue (somaxconn)");
    const { url } = await start();
    // Connects while this process does nothing else, and ends once all connections are established.
    const burst = `
      const { connect } = require("node:net");
      let open = 0;
      for (let index = 0; index < 900; index += 1)
        connect(${url.port}, "${url.hostname}", () => { open += 1; if (open === 900) process.exit(); });`;
    // Without room they would be tried again until this process continues: never.
    execFileSync(process.execPath, ["--eval", burst], { timeout: 300_000 });
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
  });
});

describe("bodies", () => {
  it("of all requests in progress share one limit; small ones are exempt", async () => {
    const { url, serving } = await start([], { limits: { messageBytes: 65_536 } });
    const unpadded = modernCall("probe_slow", { ms: 60_000 }, { "example.com/padding": "" });
    const remaining = 65_536 - JSON.stringify(unpadded.message).length;
    const padding = { "example.com/padding": "x".repeat(remaining) };
    const clients = Array.from({ length: 8 }, () => slow(url, padding));
    await expect.poll(() => serving.load.inFlight).toBe(8);
    const large = modernCall("probe_echo", { text: "a" }, padding);
    const refused = await post(url, large.message, large.headers);
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("Too many large messages");
    expect((await post(url, echo.message, echo.headers)).status).toBe(200);
    for (const client of clients) client.abort();
    await expect.poll(() => serving.load.inFlight).toBe(0);
    expect((await post(url, large.message, large.headers)).status).toBe(200);
  });

  it("have the same limit over a WebSocket", async () => {
    const { url } = await start(["--http", "0", "--websocket"], {
      limits: { messageBytes: 65_536 },
    });
    const socket = new WebSocket(url.href.replace(/^http/, "ws"), ["mcp"]);
    await once(socket, "open");
    const answers: Record<string, unknown>[] = [];
    socket.on("message", (data) => answers.push(JSON.parse(String(data))));
    const padding = "x".repeat(65_000);
    socket.send(JSON.stringify(INITIALIZE));
    for (let id = 10; id < 19; id += 1)
      socket.send(JSON.stringify(legacyCall(id, "probe_slow", { ms: 60_000 }, { padding })));
    const refused = {
      id: 18,
      error: { code: -32603, message: expect.stringContaining("Too many") },
    };
    await expect.poll(() => answers).toMatchObject([{ id: 1 }, refused]);
    socket.close();
    await once(socket, "close");
  });

  it("that never end are disconnected, and nothing is kept", async () => {
    const { url, serving } = await start([], { limits: { messageBytes: 65_536 } });
    const socket = createConnection(Number(url.port), url.hostname);
    // The writes that follow the cut fail; the end is what counts, and `once` would reject for them.
    const closed = new Promise((resolve) =>
      socket.on("error", () => undefined).on("close", resolve),
    );
    socket.resume();
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const feeding = setInterval(() => socket.write(chunk), 1);
    await closed;
    clearInterval(feeding);
    expect(serving.load.inFlight).toBe(0);
    expect((await post(url, echo.message, echo.headers)).status).toBe(200);
  });
});

describe("sessions", () => {
  it("are not opened by an invalid initialize, which is explained", async () => {
    const { url, serving } = await start();
    const clientInfo = { name: "raw" };
    const response = await post(url, {
      ...INITIALIZE,
      params: { ...INITIALIZE.params, clientInfo },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      id: 1,
      error: {
        code: -32602,
        message: expect.stringMatching(/^initialize: params\.clientInfo must be an object/),
      },
    });
    expect(serving.load.sessions).toBe(0);
  });

  it("are limited in number, even when all are opened at once", async () => {
    const { url, serving } = await start([], { limits: { sessions: 3 } });
    const opened = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await post(url, INITIALIZE);
        expect(serving.load.sessions).toBeLessThanOrEqual(3);
        await response.text();
        return response.status;
      }),
    );
    expect(opened.every((status) => status === 200 || status === 503)).toBe(true);
    expect(opened.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3);
    expect(serving.load.sessions).toBeLessThanOrEqual(3);
  });

  it.each(["2023-01-01", "1999-01-01", "x"])(
    "refuse the header MCP-Protocol-Version: %s, which is not supported",
    async (version) => {
      const { url } = await start();
      const session = await openSession(url);
      const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
      const wrong = { ...session, "mcp-protocol-version": version };
      const refused = await post(url, list, wrong);
      expect(refused.status).toBe(400);
      expect(await refused.text()).toMatch(/version/i);
      expect((await fetch(url, { method: "DELETE", headers: wrong })).status).toBe(400);
      expect((await post(url, list, session)).status).toBe(200);
      const older = { ...session, "mcp-protocol-version": "2025-06-18" };
      expect((await post(url, list, older)).status).toBe(200);
      const { "mcp-protocol-version": _, ...silent } = session;
      expect((await post(url, list, silent)).status).toBe(200);
    },
  );
});
