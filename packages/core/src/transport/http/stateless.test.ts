import { describe, expect, it } from "vitest";
import { INITIALIZE, legacyCall, post, useProbes } from "../../../test/fixtures/http.ts";

const { start } = useProbes();

describe("--http-stateless", () => {
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
    // Nothing can be sent to the client later.
    expect(Object(await opened.json()).result.capabilities.resources).toEqual({});
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await post(url, initialized)).status).toBe(202);
    for (const method of ["GET", "DELETE"]) {
      const refused = await fetch(url, { method, headers: { accept: "text/event-stream" } });
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });
});
