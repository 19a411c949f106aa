import { describe, expect, it } from "vitest";
import { probeServer } from "../../../test/fixtures/probe.ts";
import { prepare } from "../../run/prepare.ts";

async function refusal(args: string[], env: Record<string, string> = {}): Promise<string> {
  const prepared = await prepare(probeServer(), args, env);
  if (prepared.kind === "print") expect(prepared.exitCode).toBe(2);
  return prepared.kind === "print" ? prepared.stderr : "";
}

const SECRET = "s".repeat(32);

describe("--http", () => {
  const issuer = "--http 0 --oauth-issuer http://as.example";
  it.each<[string, Record<string, string>, RegExp]>([
    ["--http 0.0.0.0:80", {}, /anyone who can reach this machine/],
    ["--http [::]:80", {}, /anyone who can reach this machine/],
    ["--http 70000", {}, /takes PORT or HOST:PORT/],
    ["--http 0 --auth-token-env T", {}, /T, which is unset or empty/],
    ["--http 0 --auth-token-env T", { T: "short" }, /at least 32/],
    [issuer, {}, /--oauth-audience is missing/],
    ["--http 0 --oauth-audience https://me.example/mcp", {}, /--oauth-issuer is missing/],
    [`${issuer} --oauth-audience https://me.example/mcp`, {}, /must be an https URL/],
    ["--auth-token-env T", { T: SECRET }, /need --http/],
    ["--http 0.0.0.0:80 --auth-token-env T", { T: SECRET }, /unencrypted over the network/],
    ["--http 0 --tls-cert c.pem", {}, /--tls-key is missing/],
  ])("refuses %s with %j", async (args, env, why) => {
    const text = await refusal(args.split(" "), env);
    expect(text).toMatch(why);
    expect(text).not.toContain(SECRET);
    expect(text.trim().split("\n")).toHaveLength(1);
  });

  it("listens beyond this machine only with a token, and TLS or the explicit option", async () => {
    const open = ["--http", "0.0.0.0:80", "--auth-token-env", "T"];
    expect(await refusal([...open, "--allow-plain-http"], { T: SECRET })).toBe("");
    expect(
      await refusal([...open, "--tls-cert", "c.pem", "--tls-key", "k.pem"], { T: SECRET }),
    ).toBe("");
    expect(await refusal(["--http", "unix:/run/mcp.sock"])).toBe("");
  });
});
