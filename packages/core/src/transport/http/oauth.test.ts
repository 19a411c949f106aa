import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { generate } from "selfsigned";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../../test/fixtures/authorization-server.ts";
import {
  answering,
  type HttpProbe,
  INITIALIZE,
  legacyCall,
  modernCall,
  modernListen,
  openSession,
  post,
  startProbe,
} from "../../../test/fixtures/http.ts";

const AUDIENCE = "http://127.0.0.1/mcp";
const SCOPE = ["--oauth-scope", "mcp"];
const oauth = () => ["--oauth-issuer", issuer.issuer, "--oauth-audience", AUDIENCE];
let issuer: AuthorizationServer;
let other: AuthorizationServer;
let probe: HttpProbe;
let url: URL;

beforeAll(async () => {
  [issuer, other] = await Promise.all([startAuthorizationServer(), startAuthorizationServer()]);
  probe = await startProbe([...oauth(), ...SCOPE, "--log-level", "debug"]);
  url = probe.url;
});

afterAll(async () => {
  await probe?.close();
  await issuer?.close();
  await other?.close();
});

const now = () => Math.floor(Date.now() / 1000);
const good = () => ({
  iss: issuer.issuer,
  aud: AUDIENCE,
  sub: "ada",
  client_id: "ada",
  scope: "mcp",
  iat: now(),
  exp: now() + 300,
});
const without = (name: "exp" | "aud" | "sub") => {
  const { [name]: _, ...rest } = good();
  return rest;
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function call(headers: Record<string, string>): Promise<Response> {
  const { message, headers: repeated } = modernCall("probe_echo", { text: "through" });
  return post(url, message, { ...repeated, ...headers });
}

describe("an OAuth 2.1 resource server", () => {
  it("ends streams when the last token of their client has expired", async () => {
    const streaming = await startProbe([...oauth(), "--sse", "--websocket"]);
    // The clocks of two machines may differ by 30 s: this token has two left.
    const headers = bearer(await issuer.forge({ ...good(), exp: now() - 28 }));
    const session = { ...(await openSession(streaming.url, "2025-11-25", headers)), ...headers };
    const accept = { ...session, accept: "text/event-stream" };
    const listen = modernListen({ resourceSubscriptions: ["probe://count"] });
    const opened = await Promise.all([
      fetch(streaming.url, { headers: accept }),
      fetch(new URL("/sse", streaming.url), { headers: accept }),
      post(streaming.url, listen.message, { ...listen.headers, ...headers }),
    ]);
    const socket = new WebSocket(streaming.url.href.replace(/^http/, "ws"), ["mcp"], { headers });
    const closed = once(socket, "close");
    const deaf = new WebSocket(streaming.url.href.replace(/^http/, "ws"), ["mcp"], { headers });
    deaf.on("error", () => undefined);
    await once(deaf, "open");
    deaf.pause();
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [, , listened] = await Promise.all(opened.map((response) => response.text()));
    expect(listened).toContain('"result":{"resultType":"complete"');
    const [code] = await closed;
    expect(code).toBe(1008);
    // A client that does not read that it is closed is disconnected; the session is left.
    expect(streaming.serving.load.channels.used).toBeGreaterThan(0);
    await expect.poll(() => streaming.serving.load.channels.used, { timeout: 10_000 }).toBe(0);
    expect(streaming.serving.load.sessions.used).toBe(1);
    deaf.terminate();
    await streaming.close();
  });

  it("keeps a stream of 2024-11-05 whose client has sent a newer token", async () => {
    const streaming = await startProbe([...oauth(), "--sse"]);
    const old = bearer(await issuer.forge({ ...good(), exp: now() - 28 }));
    const open = () => fetch(new URL("/sse", streaming.url), { headers: old });
    const kept = (await open()).body?.pipeThrough(new TextDecoderStream()).getReader();
    const [, path = ""] = /data: (\S+)/.exec((await kept?.read())?.value ?? "") ?? [];
    const newer = bearer(await issuer.forge(good()));
    const send = async () => (await post(new URL(path, streaming.url), INITIALIZE, newer)).status;
    expect(await send()).toBe(202);
    // Ends when the token of both has expired.
    await (await open()).text();
    expect(await send()).toBe(202);
    await kept?.cancel();
    await streaming.close();
  });

  it("requires the scope of a tool's effect, and says which (--oauth-tool-scopes)", async () => {
    const scoped = await startProbe([...oauth(), ...SCOPE, "--oauth-tool-scopes", "--websocket"]);
    const reader = bearer(await issuer.forge({ ...good(), scope: "mcp probe:read" }));
    const send = (name: string, text: object, headers: Record<string, string>) => {
      const { message, headers: repeated } = modernCall(name, { ...text });
      return post(scoped.url, message, { ...repeated, ...headers });
    };
    expect((await send("probe_say", { text: "a" }, reader)).status).toBe(200);
    const refused = await send("probe_count", {}, reader);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toMatch(
      /error="insufficient_scope".* scope="mcp probe:read probe:change"/,
    );
    // Without the server's own scope, it is asked for that and for what the token has.
    const lacking = bearer(await issuer.forge({ ...good(), scope: "probe:read" }));
    const refusal = await send("probe_count", {}, lacking);
    expect(refusal.status).toBe(403);
    expect(refusal.headers.get("www-authenticate")).toMatch(/scope="mcp probe:read"/);
    const nobody = bearer(await issuer.forge({ ...good(), scope: "mcp" }));
    const unread = { ...(await openSession(scoped.url, "2025-11-25", nobody)), ...nobody };
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(scoped.url, list, unread)).status).toBe(200);
    const read = { ...list, id: 3, method: "resources/read", params: { uri: "probe://count" } };
    expect((await post(scoped.url, read, unread)).status).toBe(403);
    const session = { ...(await openSession(scoped.url, "2025-11-25", reader)), ...reader };
    expect((await post(scoped.url, legacyCall(2, "probe_count", {}), session)).status).toBe(403);
    const changer = bearer(await issuer.forge({ ...good(), scope: "mcp probe:read probe:change" }));
    expect((await send("probe_count", {}, changer)).status).toBe(200);
    // In the same session, each request has the scopes of its token.
    const counts = async (id: number, token: object) =>
      (await post(scoped.url, legacyCall(id, "probe_count", {}), { ...session, ...token })).status;
    expect(await counts(3, changer)).toBe(200);
    expect(await counts(4, reader)).toBe(403);
    const socket = new WebSocket(scoped.url.href.replace(/^http/, "ws"), ["mcp"], {
      headers: reader,
    });
    await once(socket, "open");
    socket.send(JSON.stringify(modernCall("probe_count", {}).message));
    const [answer] = await once(socket, "message");
    expect(JSON.parse(String(answer)).error.message).toContain("lacks the scope probe:change");
    const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", scoped.url));
    expect(Object(await metadata.json()).scopes_supported).toEqual([
      "mcp",
      "probe:read",
      "probe:add",
      "probe:change",
      "probe:destroy",
    ]);
    await scoped.close();
  });

  it("shows a client without a token where to get one", async () => {
    const response = await call({});
    expect(response.status).toBe(401);
    const challenge = response.headers.get("www-authenticate") ?? "";
    expect(challenge).toContain(
      'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"',
    );
    const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", url));
    expect(await metadata.json()).toEqual({
      resource: AUDIENCE,
      authorization_servers: [issuer.issuer],
      bearer_methods_supported: ["header"],
      resource_name: "Probe",
      scopes_supported: ["mcp"],
    });
  });

  it("accepts the forger's valid claims, so that the refusals below are due to the differing claim", async () => {
    expect((await call(bearer(await issuer.forge(good())))).status).toBe(200);
  });

  const bad: [string, () => Promise<string>, RegExp][] = [
    ["expired", () => issuer.forge({ ...good(), exp: now() - 60 }), /expired/],
    ["without an end", () => issuer.forge(without("exp")), /exp/],
    ["without a subject", () => issuer.forge(without("sub")), /sub/],
    ["not valid yet", () => issuer.forge({ ...good(), nbf: now() + 600 }), /claim nbf/],
    ["for another resource", () => issuer.token("ada", "http://127.0.0.1/other"), /claim aud/],
    ["for a prefix", () => issuer.forge({ ...good(), aud: "http://127.0.0.1/" }), /claim aud/],
    ["bound to a key (DPoP)", () => issuer.forge({ ...good(), cnf: { jkt: "a" } }), /\(cnf\)/],
    ["bound to a key (mTLS)", () => issuer.forge({ ...good(), cnf: { "x5t#S256": "a" } }), /cnf/],
    ["without an audience", () => issuer.forge(without("aud")), /aud/],
    ["of another name", () => issuer.forge({ ...good(), iss: other.issuer }), /claim iss/],
    ["of another issuer's key", () => other.forge(good()), /not a JWT signed with one of/],
    ["of another issuer", () => other.token("ada", AUDIENCE), /claim iss|not a JWT signed/],
    ["unsigned", async () => new UnsecuredJWT(good()).encode(), /not a JWT signed/],
    [
      "signed with a shared secret",
      () =>
        new SignJWT(good())
          .setProtectedHeader({ alg: "HS256", kid: "main" })
          .sign(new Uint8Array(32)),
      /not a JWT signed/,
    ],
    [
      "signed with another key",
      async () => {
        const { privateKey } = await generateKeyPair("ES256");
        return new SignJWT(good())
          .setProtectedHeader({ alg: "ES256", kid: "mine" })
          .sign(privateKey);
      },
      /not a JWT signed/,
    ],
    [
      "changed after signing",
      async () => {
        const [head, , signature] = (await issuer.forge(good())).split(".");
        return `${head}.${Buffer.from(JSON.stringify({ ...good(), sub: "root" })).toString("base64url")}.${signature}`;
      },
      /not a JWT signed/,
    ],
    ["of another kind", () => issuer.forge(good(), { kid: "main", typ: "logout+jwt" }), /type/],
    ["without its key's name", () => issuer.forge(good(), {}), /one of the issuer/],
    ["no token at all", async () => "nonsense", /not a JWT signed/],
  ];
  it.each(bad)("refuses a token that is %s", async (_what, make, why) => {
    const token = await make();
    const response = await call(bearer(token));
    const text = await response.text();
    expect(text).toMatch(why);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(text).not.toContain(token);
    expect(probe.log()).not.toContain(token);
  });

  it("checks a token on every request: an expired token is refused", async () => {
    const token = await issuer.forge({ ...good(), exp: now() - 20 });
    expect((await call(bearer(token))).status).toBe(200);
    await expect.poll(async () => (await call(bearer(token))).status, { interval: 250 }).toBe(401);
  });

  it("refuses a token in the URL", async () => {
    const token = await issuer.token("ada", AUDIENCE);
    expect((await post(new URL(`?access_token=${token}`, url), INITIALIZE)).status).toBe(401);
  });

  it("hides a session from everyone except its owner", async () => {
    const ada = await openSession(url, "2025-11-25", bearer(await issuer.token("ada", AUDIENCE)));
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const stolen = { ...ada, ...bearer(await issuer.token("bob", AUDIENCE)) };
    expect((await post(url, list, stolen)).status).toBe(404);
    expect((await fetch(url, { method: "DELETE", headers: stolen })).status).toBe(404);
    expect((await post(url, list, { ...ada, authorization: "" })).status).toBe(401);
    expect((await post(url, list, ada)).status).toBe(200);
    const someone = async (sub: string, client_id: string) =>
      bearer(await issuer.forge({ ...good(), sub, client_id }));
    const open = await openSession(url, "2025-11-25", await someone("ada", "an app"));
    for (const other of [await someone("bob", "an app"), await someone("ada an", "app")]) {
      expect((await post(url, list, { ...open, ...other })).status).toBe(404);
    }
  });

  it("accepts the answer to a question only from the client that was asked", async () => {
    const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
    const { message, headers } = modernCall("probe_wipe", {}, capable);
    const [ada, bob] = [
      bearer(await issuer.token("ada", AUDIENCE)),
      bearer(await issuer.token("bob", AUDIENCE)),
    ];
    const asked: unknown = await (await post(url, message, { ...headers, ...ada })).json();
    const retry = answering(message, asked);
    expect(await (await post(url, retry, { ...headers, ...bob })).json()).toHaveProperty("error");
    expect(await (await post(url, retry, { ...headers, ...ada })).json()).toMatchObject({
      result: { resultType: "input_required" },
    });
  });
});

it("makes room for a new session by ending one of the caller with the most, never of one with fewer", async () => {
  const small = await startProbe(oauth(), { limits: { sessions: 4 } });
  const token = async (sub: string) =>
    bearer(await issuer.forge({ ...good(), sub, client_id: sub }));
  const open = async (sub: string) => openSession(small.url, "2025-11-25", await token(sub));
  const isThere = async (session: Record<string, string>) =>
    (await post(small.url, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session)).status ===
    200;
  const bob = await open("bob");
  const ada = [await open("ada"), await open("ada"), await open("ada")];
  const eve = await open("eve");
  expect(await Promise.all([bob, eve, ...ada].map(isThere))).toEqual([
    true,
    true,
    false,
    true,
    true,
  ]);
  const vanish = new AbortController();
  for (const session of ada.slice(1)) {
    const headers = { ...session, accept: "text/event-stream" };
    expect((await fetch(small.url, { headers, signal: vanish.signal })).status).toBe(200);
  }
  const refused = await post(small.url, INITIALIZE, await token("ada"));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await Promise.all([bob, eve].map(isThere))).toEqual([true, true]);
  expect(await isThere(await open("mary"))).toBe(true);
  vanish.abort();
  await small.close();
});

interface Front {
  readonly origin: string;
  readonly requests: () => number;
  close(): void;
}

/** A server in front of the authorization server, which returns its metadata and keys as modified by `change`. */
async function startFront(
  change: (document: object, origin: string) => unknown,
  tls?: { key: string; cert: string },
): Promise<Front> {
  let requests = 0;
  const answer: RequestListener = async ({ url: path = "" }, response) => {
    requests += 1;
    const real: object = JSON.parse(await (await fetch(issuer.issuer + path)).text());
    const changed = change(real, origin);
    response.writeHead(changed === undefined ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(changed));
  };
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const origin = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  return {
    origin,
    requests: () => requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe("an authorization server that cannot be used", () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    for (const server of open.splice(0)) await server.close();
  });

  /** A server that trusts this issuer, and a request to it with a valid token of that issuer. */
  async function startTrusting(origin: string) {
    const trusting = await startProbe(["--oauth-issuer", origin, "--oauth-audience", AUDIENCE]);
    open.push(trusting);
    const { message, headers } = modernCall("probe_echo", { text: "a" });
    const token = await issuer.forge({ ...good(), iss: origin });
    const ask = async () =>
      (await post(trusting.url, message, { ...headers, ...bearer(token) })).status;
    return { ask, log: trusting.log };
  }

  it("causes 503 while it is unreachable", async () => {
    const gone = await startAuthorizationServer();
    await gone.close();
    const { ask } = await startTrusting(gone.issuer);
    expect(await ask()).toBe(503);
  });

  it("is not trusted with the metadata of another issuer", async () => {
    const front = await startFront((document) => document);
    open.push(front);
    const { ask, log } = await startTrusting(front.origin);
    expect(await ask()).toBe(503);
    expect(log()).toContain(`it is the metadata of ${issuer.issuer}`);
  });

  it("is not trusted with keys over http if the issuer uses https", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const pair = await generate([{ name: "commonName", value: "127.0.0.1" }]);
    const tls = { key: pair.private, cert: pair.cert };
    const front = await startFront((document, origin) => ({ ...document, issuer: origin }), tls);
    open.push(front);
    const { ask, log } = await startTrusting(front.origin);
    expect(await ask()).toBe(503);
    expect(log()).toContain(`its jwks_uri ${issuer.issuer}/jwks is not https`);
  });

  it.each([
    ["metadata", (document: object) => !("keys" in document)],
    ["keys", (document: object) => "keys" in document],
  ])(
    "is asked for its %s once in 5 s, however many requests there are",
    async (_what, isBroken) => {
      vi.useFakeTimers({ toFake: ["performance"] });
      let isDown = true;
      const front = await startFront((document, origin) => {
        if (isDown && isBroken(document)) return undefined;
        return "keys" in document
          ? document
          : { ...document, issuer: origin, jwks_uri: `${origin}/jwks` };
      });
      open.push(front);
      const { ask, log } = await startTrusting(front.origin);
      expect(new Set(await Promise.all(Array.from({ length: 50 }, ask)))).toEqual(new Set([503]));
      for (let round = 0; round < 50; round++) expect(await ask()).toBe(503);
      // Both possible URLs of the metadata; or the metadata and the keys.
      expect(front.requests()).toBe(2);
      expect(log().match(/Tokens cannot be checked/g)).toHaveLength(1);
      isDown = false;
      expect(await ask()).toBe(503);
      vi.advanceTimersByTime(5_000);
      expect(await ask()).toBe(200);
    },
  );
});
