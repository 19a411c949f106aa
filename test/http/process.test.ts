import { once } from "node:events";
import { createServer } from "node:net";
import { connectHttp, type HttpProcess, rawSession, startHttp } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { probeLauncher } from "../protocol/probe.ts";
import { serverBin, serverWorld } from "../servers.ts";

const launch = probeLauncher();
/** Only for tests that hang. */
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(...args: string[]): Promise<HttpProcess> {
  const server = await startHttp(launch().file, { args });
  open.push(() => server.stop("SIGKILL"));
  return server;
}

async function connect(server: HttpProcess, era: "legacy" | "modern") {
  const { client, close } = await connectHttp(server.url, { era });
  open.push(close);
  return client;
}

describe("a port that is unavailable", () => {
  it("is explained in one sentence, with exit code 1", async () => {
    const other = createServer();
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const world = await serverWorld("memory");
    const { code, stderr, lines } = await rawSession(serverBin("memory"), "", {
      ...world,
      args: [...world.args, "--http", String(port)],
    });
    other.close();
    await world.dispose();
    expect(code).toBe(1);
    expect(lines).toEqual([]);
    expect(stderr).toBe(
      `--http: cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Choose another port, or 0 for any free one.\n`,
    );
  });

  it("is explained if the address does not belong to this machine", async () => {
    // TEST-NET-1 (RFC 5737) belongs to nobody.
    const { code, stderr } = await rawSession(launch().file, "", {
      args: ["--http", "192.0.2.1:0", "--auth-token-env", "T", "--allow-plain-http"],
      env: { T: "t".repeat(32) },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^--http: cannot listen: .* address not available 192\.0\.2\.1\. Listen on 127\.0\.0\.1, or .*\n$/,
    );
  });
});

// On Windows a signal from another process kills a process at once, so there is no orderly shutdown.
describe.skipIf(process.platform === "win32")("the end of a process", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "by %s answers pending requests in both eras, ends streams and exits with 0",
    async (signal) => {
      const server = await start();
      const clients = [await connect(server, "legacy"), await connect(server, "modern")];
      let running = 0;
      const calls = clients.map((client) =>
        client.callTool(
          { name: "probe_slow", arguments: { ms: 400 } },
          { onprogress: () => (running += 1) },
        ),
      );
      await expect.poll(() => running).toBe(2);
      const ended = server.stop(signal);
      for (const call of calls)
        expect((await call).content).toEqual([{ type: "text", text: "waited" }]);
      expect(await ended).toEqual({ code: 0, signal: null });
      expect(server.stderr().trim().split("\n")).toHaveLength(1);
      await expect(fetch(new URL("/healthz", server.url))).rejects.toThrow();
    },
  );

  it("waits for a running call until its time limit, and not for clients that listen", async () => {
    const server = await start("--timeout-ms", "1000");
    const listening = await connect(server, "legacy");
    const client = await connect(server, "modern");
    let running = 0;
    const call = client.callTool(
      { name: "probe_slow", arguments: { ms: 60_000 } },
      { onprogress: () => (running += 1) },
    );
    await expect.poll(() => running).toBe(1);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(JSON.stringify(await call)).toContain("Timed out after 1 s");
    await listening.close();
  });
});
