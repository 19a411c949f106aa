import { describe, expect, it, onTestFinished } from "vitest";
import {
  INITIALIZE,
  legacyCall,
  modernCall,
  openSession,
  post,
  talk,
  useProbes,
} from "../../../test/fixtures/http.ts";

const { start } = useProbes();

describe("isolation", () => {
  it("returns 404 for a session that ended or never existed", async () => {
    const { url } = await start();
    const headers = await openSession(url);
    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(200);
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(url, list, headers)).status).toBe(404);
    expect((await post(url, list, { "mcp-session-id": "made-up" })).status).toBe(404);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(400);
  });

  it("ends the question of a task at once if the client listens to no stream", async () => {
    const { url } = await start();
    const capabilities = { elicitation: {} };
    const params = { ...INITIALIZE.params, capabilities };
    const opened = await post(url, { ...INITIALIZE, params });
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const wipe = { ...legacyCall(2, "probe_wipe", {}).params, task: {} };
    const asTask = { jsonrpc: "2.0", id: 2, method: "tools/call", params: wipe };
    const { result } = Object(await (await post(url, asTask, headers)).json());
    const { taskId } = result.task;
    const message = { jsonrpc: "2.0", id: 3, method: "tasks/result", params: { taskId } };
    const text = await (await post(url, message, headers)).text();
    expect(text).toContain("no stream open");
    expect(text).toContain('"isError":true');
  });

  it("serves a client that drops its session's id, without a session", async () => {
    const { url, serving } = await start();
    await openSession(url);
    const call = legacyCall(2, "probe_echo", { text: "alone" });
    const response = await post(url, call, { "mcp-protocol-version": "2025-11-25" });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining("alone"),
    ]);
    expect(serving.load).toMatchObject({ sessions: { used: 1 }, requests: { used: 0 } });
  });

  it("ends idle sessions, and the oldest idle one at the limit", async () => {
    const { url, serving } = await start([], { limits: { idleMs: 1_000, sessions: 3 } });
    for (let opened = 0; opened < 5; opened += 1) await openSession(url);
    expect(serving.load.sessions.used).toBeLessThanOrEqual(3);
    await expect.poll(() => serving.load.sessions.used).toBe(0);
  });

  it("refuses a session if there is no room and none is idle", async () => {
    const { url } = await start([], { limits: { sessions: 2 } });
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    for (let opened = 0; opened < 2; opened += 1) {
      const headers = { ...(await openSession(url)), accept: "text/event-stream" };
      expect((await fetch(url, { headers, signal: leaving.signal })).status).toBe(200);
    }
    const refused = await post(url, INITIALIZE);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    leaving.abort();
    await expect.poll(async () => (await post(url, INITIALIZE)).status).toBe(200);
  });
});

describe("what is refused", () => {
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };

  it.each([
    ["two hosts", (host: string) => `Host: ${host}\r\nhost: evil.example`],
    ["user information in the host", (host: string) => `Host: evil@${host}`],
    ["a host that is none", () => "Host: a b"],
    ["an empty host", () => "Host:"],
  ])("%s: 400 (RFC 9112, section 3.2)", async (_what, lines) => {
    const { url } = await start();
    const answer = await talk(
      url,
      `GET /mcp HTTP/1.1\r\n${lines(url.host)}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ["a strange host", { host: "evil.example" }],
    ["a strange origin", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
  ])("%s: 403", async (_what, headers) => {
    const { url } = await start();
    const status = await rawStatus(url, headers);
    expect(status).toBe(403);
  });

  it("a whole URL as its target only if it names another host (RFC 9112, section 3.2.2)", async () => {
    const { url } = await start();
    const card = (origin: string) =>
      talk(
        url,
        `GET ${origin}/mcp/server-card HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n\r\n`,
      );
    expect(await card(url.origin)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await card("http://evil.example")).toMatch(/^HTTP\/1\.1 404 /);
  });

  it("without an id, as the schemas of the named revision want it", async () => {
    const { url } = await start();
    const refused = async (version: string) => {
      const headers = { "mcp-protocol-version": version, "content-type": "text/plain" };
      return (await post(url, "{}", headers)).json();
    };
    expect(await refused("2025-06-18")).toMatchObject({ id: null });
    for (const version of ["2025-11-25", "2026-07-28"])
      expect(await refused(version)).not.toHaveProperty("id");
  });

  it("nothing for its Accept header if that takes anything", async () => {
    const { url } = await start();
    for (const [accept, status] of [
      ["*/*", 200],
      ["application/*, text/*;q=0.5", 200],
      ["application/json", 406],
      ["text/html", 406],
    ] as const)
      expect((await post(url, INITIALIZE, { accept })).status).toBe(status);
  });

  it("believes no proxy about the host or the caller", async () => {
    const token = "a-token-with-more-than-32-characters";
    const { url } = await start(["--auth-token-env", "T"], { env: { T: token } });
    const headers = {
      "x-forwarded-host": "localhost",
      "x-forwarded-for": "127.0.0.1",
      forwarded: "for=127.0.0.1",
    };
    const authorization = `Bearer ${token}`;
    expect(await rawStatus(url, { ...headers, authorization, host: "evil.example" })).toBe(403);
    expect(await rawStatus(url, { ...headers, host: url.host })).toBe(401);
    expect(await rawStatus(url, { "x-forwarded-host": "evil.example", authorization })).not.toBe(
      403,
    );
  });

  it("lets an allowed page read the answer", async () => {
    const { url } = await start(["--http-allow-origin", "app.example"]);
    const response = await post(url, INITIALIZE, { origin: "https://app.example" });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    const asked = await fetch(url, {
      method: "OPTIONS",
      headers: { origin: "https://app.example" },
    });
    expect(asked.status).toBe(204);
  });

  it("bodies over the limit, declared or not, with 413", async () => {
    const { url } = await start([], { limits: { messageBytes: 65_536 } });
    const large = JSON.stringify({ ...list, params: { x: "x".repeat(70_000) } });
    expect((await post(url, large)).status).toBe(413);
    const chunk = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const head = `POST /mcp HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    expect(await talk(url, head + chunk)).toMatch(/^HTTP\/1\.1 413/);
  });
});

describe("health and shutdown", () => {
  it("is ready while the server says so, which is asked once for many probes", async () => {
    const { url, probes, log } = await start();
    const ready = async () => {
      const response = await fetch(new URL("/readyz", url));
      return [response.status, Object(await response.json()).status];
    };
    expect(await Promise.all([ready(), ready()])).toEqual([
      [200, "ready"],
      [200, "ready"],
    ]);
    const [probe] = probes;
    if (probe === undefined) throw new Error("no probe");
    expect(probes).toHaveLength(1);
    probe.unready = "the disk is gone";
    await expect.poll(ready).toEqual([503, "unavailable"]);
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
    expect(log()).toContain("Calls cannot be served: the disk is gone");
    probe.unready = undefined;
    await expect.poll(ready).toEqual([200, "ready"]);
  });

  it("describes the server before anyone connects (SEP-2127)", async () => {
    const { url } = await start();
    const headers = { origin: "https://elsewhere.example" };
    const response = await fetch(`${url}/server-card`, { headers });
    expect(response.headers.get("content-type")).toBe("application/mcp-server-card+json");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const card: { remotes: object[] } = Object(await response.json());
    expect(card).toMatchObject({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "localhost/refmcp-probe",
      version: "1.2.3",
      description: expect.stringMatching(/^.{1,100}$/),
      remotes: [{ type: "streamable-http", url: url.href }],
    });
    expect(card.remotes[0]).toMatchObject({
      supportedProtocolVersions: expect.arrayContaining(["2026-07-28"]),
    });
    expect(card.remotes[0]).not.toHaveProperty("headers");
  });

  it("describes where it is to clients of an audience, and that it needs a token", async () => {
    const env = { T: "t".repeat(32) };
    const open = await start(["--auth-token-env", "T"], { env });
    const secret = { name: "Authorization", isRequired: true, isSecret: true };
    expect(await (await fetch(`${open.url}/server-card`)).json()).toMatchObject({
      remotes: [{ headers: [secret] }],
    });
    const audience = "https://mcp.example.com/git";
    const oauth = ["--oauth-issuer", "https://as.example.com", "--oauth-audience", audience];
    const { url } = await start(oauth);
    expect(await (await fetch(`${url}/server-card`)).json()).toMatchObject({
      name: "com.example.mcp/refmcp-probe",
      remotes: [{ url: audience }],
    });
  });

  it("drains: is not ready, but serves calls, then answers those that are running", async () => {
    const { url, serving } = await start();
    const ending = serving.close({ drainMs: 2_000, callMs: 60_000 });
    const readiness = await fetch(new URL("/readyz", url));
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: "ending" }]);
    const { message, headers } = modernCall("probe_slow", { ms: 3_000 });
    expect(await (await post(url, message, headers)).text()).toContain("waited");
    await ending;
  });
});

async function rawStatus(url: URL, headers: Record<string, string>): Promise<number> {
  const lines = { host: url.host, accept: "*/*", ...headers };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await talk(url, `GET /mcp HTTP/1.1\r\n${head.join("")}connection: close\r\n\r\n`);
  return Number(answer.split(" ")[1]);
}
