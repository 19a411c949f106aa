import { describe, expect, it } from "vitest";
import { legacyCall, modernCall, post, useProbes } from "../../../test/fixtures/http.ts";

const { start } = useProbes();

describe("clients that differ from the official ones", () => {
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
