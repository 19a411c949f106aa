import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { INITIALIZE, legacyCall, post, useProbes } from "../../../test/fixtures/http.ts";

const { start, closeLater } = useProbes();

describe("--http-stateless", () => {
  it("serves a client of 2025 whose requests go to two processes in turn", async () => {
    const replicas = await Promise.all([start(["--http-stateless"]), start(["--http-stateless"])]);
    let turn = 0;
    const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), {
      fetch: (_url, init) => fetch(replicas[turn++ % 2]?.url ?? "", init),
    });
    const client = new Client(
      { name: "http-test", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "legacy" } },
    );
    await client.connect(transport);
    closeLater(client);
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {} });
    expect(client.getServerCapabilities()?.resources?.subscribe).toBeUndefined();
    for (let index = 0; index < 4; index += 1) {
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
      const said = await client.callTool({ name: "probe_echo", arguments: { text: `${index}` } });
      expect(said.content).toEqual([{ type: "text", text: `${index}` }]);
    }
    const wiped = await client.callTool({ name: "probe_wipe", arguments: {} });
    expect(wiped).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("cannot ask the user: Lose the count of 0?") }],
    });
    expect(replicas.map(({ serving }) => serving.load.sessions.used)).toEqual([0, 0]);
  });

  it("answers with a stream if there is something to report first, and a batch of 2025-03-26", async () => {
    const { url } = await start(["--http-stateless"]);
    const version = { "mcp-protocol-version": "2025-06-18" };
    const slow = legacyCall(2, "probe_slow", { ms: 0 }, { progressToken: "p" });
    const reported = await post(url, slow, version);
    expect(reported.headers.get("content-type")).toBe("text/event-stream");
    expect(await reported.text()).toMatch(/notifications\/progress[\s\S]*waited/);
    const two = [1, 2].map((id) => legacyCall(id, "probe_echo", { text: `${id}` }));
    const batch = await post(url, two);
    expect(batch.status).toBe(200);
    expect(await batch.text()).toMatch(/"id":1[\s\S]*"id":2/);
    expect((await post(url, two, version)).status).toBe(400);
  });

  it("has no session to open, listen to or end", async () => {
    const { url } = await start(["--http-stateless"]);
    const opened = await post(url, INITIALIZE);
    expect(opened.status).toBe(200);
    expect(opened.headers.has("mcp-session-id")).toBe(false);
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await post(url, initialized)).status).toBe(202);
    for (const method of ["GET", "DELETE"]) {
      const refused = await fetch(url, { method, headers: { accept: "text/event-stream" } });
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });
});
