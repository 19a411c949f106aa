import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  INITIALIZE,
  legacyCall,
  modernCall,
  openSession,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";

const { start } = useProbes();

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
    await expect.poll(() => serving.load.requests.used).toBe(3);
    const refused = await post(url, echo.message, echo.headers);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.text()).toContain("requests are pending");
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
    clients[0]?.abort();
    await expect.poll(() => serving.load.requests.used).toBe(2);
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
    await expect.poll(() => serving.load.requests.used).toBe(0);
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
    expect(serving.load.requests.used).toBe(3);
    for (const requestId of [11, 12, 13]) {
      const cancelled = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId },
      };
      expect((await post(url, cancelled, session)).status).toBe(202);
    }
    await expect.poll(() => serving.load.requests.used).toBe(0);
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
    await expect.poll(() => serving.load.requests.used).toBe(8);
    const large = modernCall("probe_echo", { text: "a" }, padding);
    const refused = await post(url, large.message, large.headers);
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("Too many large messages");
    expect((await post(url, echo.message, echo.headers)).status).toBe(200);
    for (const client of clients) client.abort();
    await expect.poll(() => serving.load.requests.used).toBe(0);
    expect((await post(url, large.message, large.headers)).status).toBe(200);
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
    expect(serving.load.sessions.used).toBe(0);
  });

  it("refuse the header MCP-Protocol-Version if it is not supported", async () => {
    const { url } = await start();
    const session = await openSession(url);
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const wrong = { ...session, "mcp-protocol-version": "1999-01-01" };
    const refused = await post(url, list, wrong);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/version/i);
    expect((await fetch(url, { method: "DELETE", headers: wrong })).status).toBe(400);
    expect((await post(url, list, session)).status).toBe(200);
    const older = { ...session, "mcp-protocol-version": "2025-06-18" };
    expect((await post(url, list, older)).status).toBe(200);
    const { "mcp-protocol-version": _, ...silent } = session;
    expect((await post(url, list, silent)).status).toBe(200);
  });
});
