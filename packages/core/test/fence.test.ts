import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "./fixtures/authorization-server.ts";
import { type HttpProbe, modernCall, post, startProbe } from "./fixtures/http.ts";

/** What core promises to HTTP clients, however it is built. */

const AUDIENCE = "http://127.0.0.1/mcp";
const SCOPES = ["--oauth-scope", "mcp", "--oauth-tool-scopes"];
let issuer: AuthorizationServer;
let probe: HttpProbe;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  const args = ["--oauth-issuer", issuer.issuer, "--oauth-audience", AUDIENCE, ...SCOPES];
  probe = await startProbe(args);
});
afterAll(async () => {
  await probe?.close();
  await issuer?.close();
});

/** Calls a tool with a token that has these claims. */
async function call(name: string, args: object, claims: object): Promise<Response> {
  const seconds = Math.floor(Date.now() / 1000);
  const token = await issuer.forge({
    iss: issuer.issuer,
    aud: AUDIENCE,
    sub: "ada",
    exp: seconds + 300,
    ...claims,
  });
  const { message, headers } = modernCall(name, { ...args });
  return post(probe.url, message, { ...headers, authorization: `Bearer ${token}` });
}

describe("a token that lacks a scope", () => {
  it.each([
    ["a tool's", "mcp probe:read", "probe:change"],
    ["the server's", "probe:read probe:change", "mcp"],
  ])("is asked for %s scope together with all that it has", async (_, scope, missing) => {
    const refused = await call("probe_count", {}, { scope });
    expect(refused.status).toBe(403);
    const header = refused.headers.get("www-authenticate") ?? "";
    expect(header).toContain('error="insufficient_scope"');
    const requested = (/ scope="([^"]*)"/.exec(header)?.[1] ?? "").split(" ");
    expect(requested.sort()).toEqual([...scope.split(" "), missing].sort());
    // A client requests exactly these scopes, and then it may do both.
    const wider = { scope: requested.join(" ") };
    expect((await call("probe_count", {}, wider)).status).toBe(200);
    expect((await call("probe_say", { text: "a" }, wider)).status).toBe(200);
  });
});

describe("a token that is bound to a key of its client", () => {
  it.each([{ jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" }, { "x5t#S256": "abc" }])(
    "is refused, since only that client may use it: %o",
    async (cnf) => {
      const refused = await call("probe_say", { text: "a" }, { scope: "mcp probe:read", cnf });
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toMatch(/error="invalid_token".*\(cnf\)/);
    },
  );
});
