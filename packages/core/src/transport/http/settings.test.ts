import { describe, expect, it } from "vitest";
import { startProbe } from "../../../test/fixtures/http.ts";
import { probeServer } from "../../../test/fixtures/probe.ts";
import { prepare } from "../../run/prepare.ts";

async function refusal(args: string[], env: Record<string, string> = {}): Promise<string> {
  const prepared = await prepare(probeServer(), args, env);
  if (prepared.kind === "print") expect(prepared.exitCode).toBe(2);
  return prepared.kind === "print" ? prepared.stderr : "";
}

const SECRET = "s".repeat(32);

describe("--http", () => {
  it.each([
    [["--http", "0.0.0.0:80"], {}, /anyone who can reach this machine/],
    [["--http", "[::]:80"], {}, /anyone who can reach this machine/],
    [["--http", "192.168.1.5:80"], {}, /anyone who can reach this machine/],
    [["--http", "70000"], {}, /takes PORT or HOST:PORT/],
    [["--http", "here"], {}, /takes PORT or HOST:PORT/],
    [["--http", "[nonsense]:80"], {}, /takes PORT or HOST:PORT/],
    [["--http", "0", "--auth-token-env", "T"], {}, /T, which is unset or empty/],
    [["--http", "0", "--auth-token-env", "T"], { T: "short" }, /at least 32/],
    [["--http", "0", "--oauth-issuer", "https://as.example"], {}, /--oauth-audience is missing/],
    [
      ["--http", "0", "--oauth-audience", "https://me.example/mcp"],
      {},
      /--oauth-issuer is missing/,
    ],
    [
      [
        "--http",
        "0",
        "--oauth-issuer",
        "http://as.example",
        "--oauth-audience",
        "https://me.example/mcp",
      ],
      {},
      /must be an https URL/,
    ],
    [["--auth-token-env", "T"], { T: SECRET }, /need --http/],
    [["--websocket"], {}, /need --http/],
    [
      ["--http", "0.0.0.0:80", "--auth-token-env", "T"],
      { T: SECRET },
      /unencrypted over the network/,
    ],
    [["--http", "0", "--tls-cert", "c.pem"], {}, /--tls-key is missing/],
    [["--http", "0", "--tls-key", "k.pem"], {}, /--tls-cert is missing/],
  ] as [string[], Record<string, string>, RegExp][])(
    "refuses %j with %j",
    async (args, env, why) => {
      const text = await refusal(args, env);
      expect(text).toMatch(why);
      expect(text).not.toContain(SECRET);
      expect(text.trim().split("\n")).toHaveLength(1);
    },
  );

  it("listens beyond this machine only with a token, and TLS or the explicit option", async () => {
    const open = ["--http", "0.0.0.0:80", "--auth-token-env", "T"];
    expect(await refusal([...open, "--allow-plain-http"], { T: SECRET })).toBe("");
    expect(
      await refusal([...open, "--tls-cert", "c.pem", "--tls-key", "k.pem"], { T: SECRET }),
    ).toBe("");
    expect(await refusal(["--http", "unix:/run/mcp.sock"])).toBe("");
  });

  it("says where it listens", async () => {
    const probe = await startProbe();
    expect(probe.serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    await probe.close();
  });
});
