import { connectHttp, type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callReadingTool, SERVERS, serverBin, useWorld } from "../servers.ts";

describe.each(SERVERS)("the built %s server over HTTP", (name) => {
  const world = useWorld(name);
  let started: HttpProcess | undefined;

  beforeAll(async () => {
    started = await startHttp(serverBin(name), world());
  });
  afterAll(() => started?.stop("SIGKILL"));
  function running(): HttpProcess {
    if (started === undefined) throw new Error("The server has not been started.");
    return started;
  }

  it.each(["legacy", "modern"] as const)(
    "lists its tools and answers a call of a %s client",
    async (era) => {
      const { client, close } = await connectHttp(running().url, { era });
      const names = await callReadingTool(client, world());
      expect(names).toEqual([...names].sort());
      await close();
    },
  );

  it("answers a page from another site with 403", async () => {
    const response = await fetch(running().url, { headers: { origin: "https://evil.example" } });
    expect(response.status).toBe(403);
  });

  it("prints only where it listens, and exits with 0", async () => {
    const server = running();
    const { code } = await server.stop();
    if (process.platform !== "win32") expect(code).toBe(0);
    expect(server.stderr()).toBe(`refmcp-${name} listens on ${server.url.href}\n`);
  });
});
