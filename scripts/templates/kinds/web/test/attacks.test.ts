import type { RequestListener } from "node:http";
import { connectInMemory, type World } from "@refmcp/testing";
import { expect, it, onTestFinished } from "vitest";
import { server } from "../src/server.ts";
import { startSite, world } from "./fixture.ts";

async function site(listener: RequestListener) {
  const started = await startSite(listener);
  onTestFinished(() => started.close());
  return started;
}

/** The answers of all tools, called as the fixture does, with other options. */
async function callAll(args: readonly string[]): Promise<string[]> {
  const { calls, env, dispose }: World = await world();
  const { client, close } = await connectInMemory(server, { args, env: env ?? {} });
  try {
    const results = Object.entries(calls).map(([name, given]) =>
      client.callTool({ name, arguments: { ...given } }),
    );
    return (await Promise.all(results)).map((result) => JSON.stringify(result));
  } finally {
    await close();
    await dispose();
  }
}

it.each(["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])(
  "does not reach this machine as %s",
  async (host) => {
    const inner = await site((_, response) => response.end("{}"));
    for (const text of await callAll(["--base-url", `http://${host}:${inner.port}/`]))
      expect(text).toContain("--allow-host");
    expect(inner.headers).toEqual([]);
  },
);

it.each(["http://10.0.0.1/", "http://169.254.169.254/", "http://[fd00::1]/", "http://nas.local/"])(
  "does not reach the private address %s",
  async (url) => {
    for (const text of await callAll(["--base-url", url])) expect(text).toContain("--allow-host");
  },
);

it("does not follow a redirect to a private address", async () => {
  const inner = await site((_, response) => response.end("{}"));
  const outer = await site((_, response) =>
    response.writeHead(302, { location: `http://${inner.host}/` }).end(),
  );
  const args = ["--base-url", `http://${outer.host}/`, "--allow-host", outer.host];
  for (const text of await callAll(args)) expect(text).toContain('"isError":true');
  expect(outer.headers).not.toEqual([]);
  expect(inner.headers).toEqual([]);
});

it("sends the token to the API, and not to where a redirect leads", async () => {
  const other = await site((_, response) => response.end("{}"));
  const api = await site((_, response) =>
    response.writeHead(302, { location: `http://${other.host}/` }).end(),
  );
  const allowed = ["--allow-host", api.host, "--allow-host", other.host];
  await callAll(["--base-url", `http://${api.host}/`, ...allowed]);
  expect(api.headers[0]).toMatch(/^Bearer /);
  expect(other.headers).toEqual(api.headers.map(() => undefined));
});

it("does not take an answer of any size", async () => {
  const api = await site((_, response) =>
    response.end(JSON.stringify({ notes: [], x: "x".repeat(2_000_000) })),
  );
  for (const text of await callAll(["--base-url", `http://${api.host}/`, "--allow-host", api.host]))
    expect(text).toContain("larger than 1 MB");
});
