import { createConnection } from "node:net";
import { describe, expect, it } from "vitest";
import {
  INITIALIZE,
  legacyCall,
  modernCall,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";

const { start } = useProbes();

/**
 * Sends requests on a new connection, each after the previous answer, and returns everything that arrives until
 * `until` matches or the connection is closed.
 */
function talk(url: URL, requests: readonly string[], until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = createConnection(Number(url.port), url.hostname);
    const waiting = [...requests];
    const next = () => socket.write(waiting.shift() ?? "");
    next();
    socket.on("data", (chunk) => {
      answer += chunk.toString();
      if (until.test(answer)) socket.destroy();
      else next();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

describe("clients that differ from the official ones", () => {
  it("may offer HTTP/2 as Java's HttpClient does (RFC 9110, 7.8)", async () => {
    const { url } = await start();
    const body = JSON.stringify(INITIALIZE);
    const head = [
      "POST /mcp HTTP/1.1",
      "Connection: Upgrade, HTTP2-Settings",
      `Host: ${url.host}`,
      "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
      "Upgrade: h2c",
      "Accept: application/json, text/event-stream",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const health = `GET /healthz HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n`;
    const requests = [`${head.join("\r\n")}\r\n\r\n${body}`, health];
    const answer = await talk(url, requests, /"status":"ok"/);
    expect(answer).toMatch(
      /^HTTP\/1\.1 200 OK[\s\S]*"protocolVersion":"2025-11-25"[\s\S]*HTTP\/1\.1 200 OK/,
    );
  });

  it("are told what 2026-07-28 has no more", async () => {
    const { url } = await start();
    const { message, headers } = modernCall("probe_echo", { text: "a" });
    const batch = await post(url, [message], headers);
    expect([batch.status, await batch.text()]).toEqual([
      400,
      expect.stringContaining("Only protocol version 2025-03-26 has batches"),
    ]);
  });

  it("without a token are asked for one, not accused of a wrong one (RFC 6750, 3.1)", async () => {
    const token = "a-token-with-more-than-32-characters";
    const { url } = await start(["--auth-token-env", "T"], { env: { T: token } });
    const none = await post(url, legacyCall(1, "probe_echo", { text: "a" }));
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const wrong = await post(url, legacyCall(1, "probe_echo", { text: "a" }), {
      authorization: "Bearer x",
    });
    expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });
});
