import { connectHttp, type HttpProcess, startHttp, type World } from "@refmcp/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVERS, serverBin, serverWorld } from "../servers.ts";

describe.each(SERVERS)("the built %s server over HTTP", (name) => {
  let world: World | undefined;
  let server: HttpProcess | undefined;

  beforeAll(async () => {
    world = await serverWorld(name);
    server = await startHttp(serverBin(name), world);
  });
  afterAll(async () => {
    await server?.stop("SIGKILL");
    await world?.dispose();
  });
  function there() {
    if (world === undefined || server === undefined) throw new Error("The server has not been started.");
    return { world, server };
  }

  it.each(["legacy", "modern"] as const)("lists its tools and answers a call of a %s client", async (era) => {
    const { world, server } = there();
    const { client, close } = await connectHttp(server.url, { era });
    const { tools } = await client.listTools();
    const reading = tools.find(({ annotations }) => annotations?.readOnlyHint === true);
    expect(tools.map((tool) => tool.name)).toEqual([...tools.map((tool) => tool.name)].sort());
    if (reading === undefined) throw new Error(`${name} has no reading tool`);
    const answer = await client.callTool({ name: reading.name, arguments: { ...world.calls[reading.name] } });
    expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true);
    expect(answer.content).not.toEqual([]);
    await close();
  });

  it("answers a page of another site with 403", async () => {
    const { server } = there();
    const response = await fetch(server.url, { headers: { origin: "https://evil.example" } });
    expect(response.status).toBe(403);
  });

  it("says where it listens and nothing else, and exits with 0", async () => {
    const { server } = there();
    const { code } = await server.stop();
    if (process.platform !== "win32") expect(code).toBe(0);
    expect(server.stderr()).toBe(`refmcp-${name} listens on ${server.url.href}\n`);
  });
});
