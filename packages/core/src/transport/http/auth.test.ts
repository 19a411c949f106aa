import { describe, expect, it } from "vitest";
import { answering, modernCall, post, startProbe } from "../../../test/fixtures/http.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("a bearer token", () => {
  const SECRET = "0123456789abcdef0123456789abcdef";

  it("admits only callers that have it", async () => {
    const server = await startProbe(["--auth-token-env", "T"], { env: { T: SECRET } });
    const { message, headers } = modernCall("probe_echo", { text: "a" });
    const send = (authorization: Record<string, string>) =>
      post(server.url, message, { ...headers, ...authorization });
    const status = async (authorization: Record<string, string>) =>
      (await send(authorization)).status;
    expect(await status(bearer(SECRET))).toBe(200);
    expect(await status({})).toBe(401);
    // Without a token, it is asked for one, not accused of a wrong one (RFC 6750, 3.1).
    const challenge = async (authorization: Record<string, string>) =>
      (await send(authorization)).headers.get("www-authenticate");
    expect(await challenge({})).toBe("Bearer");
    expect(await challenge(bearer("x"))).toContain('error="invalid_token"');
    expect(await status(bearer(`${SECRET}0`))).toBe(401);
    expect(await status(bearer(SECRET.toUpperCase()))).toBe(401);
    expect(await status({ authorization: `Basic ${SECRET}` })).toBe(401);
    expect((await fetch(new URL("/healthz", server.url))).status).toBe(200);
    await server.close();
  });
});

describe("two processes behind a load balancer", () => {
  it("refuse each other's questions without a shared key", async () => {
    const [a, stranger] = [await startProbe(), await startProbe()];
    const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
    const { message, headers } = modernCall("probe_wipe", {}, capable);
    const asked: unknown = await (await post(a.url, message, headers)).json();
    const retry = answering(message, asked);
    expect(await (await post(a.url, retry, headers)).json()).toHaveProperty("result");
    expect(await (await post(stranger.url, retry, headers)).json()).toHaveProperty("error");
    await Promise.all([a.close(), stranger.close()]);
  });
});
