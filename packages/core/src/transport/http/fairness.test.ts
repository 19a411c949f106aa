import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../../test/fixtures/authorization-server.ts";
import {
  type HttpProbe,
  heldBytes,
  modernCall,
  modernListen,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";
import type { HttpLimits } from "./settings.ts";

const AUDIENCE = "http://127.0.0.1/mcp";
const MIB = 1_048_576;
const { start } = useProbes();
let issuer: AuthorizationServer;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
});
afterAll(() => issuer?.close());

type Headers = Record<string, string>;

/** A token of a person, from any client. */
async function tokenOf(subject: string, client = "app"): Promise<Headers> {
  const now = Math.floor(Date.now() / 1000);
  const token = await issuer.forge({
    iss: issuer.issuer,
    aud: AUDIENCE,
    sub: subject,
    client_id: client,
    iat: now,
    exp: now + 600,
  });
  return { authorization: `Bearer ${token}` };
}

async function startShared(
  limits: Partial<HttpLimits> = {},
): Promise<HttpProbe & { eve: Headers[]; bob: Headers }> {
  const oauth = ["--oauth-issuer", issuer.issuer, "--oauth-audience", AUDIENCE];
  const probe = await start(oauth, { limits });
  // The same person, with tokens of three clients.
  const eve = await Promise.all(["a", "b", "c"].map((client) => tokenOf("eve", client)));
  return { ...probe, eve, bob: await tokenOf("bob") };
}

const echo = modernCall("probe_echo", { text: "a" });
const call = (url: URL, token: Headers) => post(url, echo.message, { ...echo.headers, ...token });

describe("a caller with many tokens leaves room for others", () => {
  it("in pending requests", async () => {
    const { url, eve, bob, serving } = await startShared({ inFlight: 8 });
    const { message, headers } = modernCall("probe_slow", { ms: 60_000 });
    const hanging = new AbortController();
    onTestFinished(() => hanging.abort());
    for (let index = 0; index < 8; index += 1)
      void post(url, message, { ...headers, ...eve[index % 3] }, hanging.signal).catch(
        () => undefined,
      );
    await expect.poll(() => serving.load.requests.used).toBe(4);
    expect((await call(url, eve[0] ?? {})).status).toBe(503);
    expect((await call(url, bob)).status).toBe(200);
  });
});

it("a caller with many tokens has a rate, and leaves others theirs", async () => {
  const { url, eve, bob } = await startShared({ perMinute: 60 });
  let accepted = 0;
  let refused = await call(url, eve[0] ?? {});
  for (; refused.status === 200; accepted += 1) refused = await call(url, eve[accepted % 3] ?? {});
  // More if a minute ends in between.
  expect(accepted).toBeGreaterThanOrEqual(60);
  expect(accepted).toBeLessThanOrEqual(120);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("60");
  expect((await call(url, bob)).status).toBe(200);
});

describe("what is kept for a client", () => {
  it("of a subscription is not its body either", async () => {
    const { url, eve } = await startShared();
    const { message, headers } = modernListen({ resourceSubscriptions: ["probe://count"] });
    const body = JSON.stringify({ ...message, padding: "x".repeat(4 * MIB) });
    const subscribe = async () => {
      const sent = { "content-type": "application/json", ...headers, ...eve[0] };
      const outgoing = request(url, { method: "POST", agent: false, headers: sent });
      onTestFinished(() => void outgoing.destroy());
      outgoing.on("error", () => undefined);
      outgoing.end(body);
      const [response] = await once(outgoing, "response");
      expect(String((await once(response, "data"))[0])).toContain("acknowledged");
    };
    await subscribe();
    const before = heldBytes();
    for (let index = 0; index < 10; index += 1) await subscribe();
    // What is not kept is freed once the sockets have ended their work; what is kept stays 40 MiB.
    await expect.poll(() => heldBytes() - before).toBeLessThan(10 * MIB);
  });
});
