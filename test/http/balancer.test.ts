import { connectHttp, type HttpProcess, startHttp, type World } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { serverBin, serverWorld } from "../servers.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Pair {
  readonly world: World;
  readonly processes: readonly HttpProcess[];
  readonly balancer: Balancer;
}

/** Two processes of the memory server on one file, behind a balancer; each may have its own key. */
async function startPair(keys: readonly [string, string]): Promise<Pair> {
  const world = await serverWorld("memory");
  open.push(() => world.dispose());
  const processes = await Promise.all(
    keys.map((key) =>
      startHttp(serverBin("memory"), {
        args: [...world.args, "--http-state-key-env", "STATE_KEY"],
        env: { ...world.env, STATE_KEY: key.repeat(32) },
      }),
    ),
  );
  for (const one of processes) open.push(() => one.stop());
  const balancer = await startBalancer(processes.map(({ url }) => url));
  open.push(() => balancer.close());
  return { world, processes, balancer };
}

async function connect(balancer: Balancer, asked: string[]) {
  const connected = await connectHttp(balancer.url, {
    era: "modern",
    elicit({ message }) {
      asked.push(message);
      return { action: "accept", content: { confirm: true } };
    },
  });
  open.push(() => connected.close());
  return connected.client;
}

const DELETE = { name: "delete_entities", arguments: { entityNames: ["Mary"], hard: true } };

describe("two processes behind a plain balancer", () => {
  it("serve a modern client as one, even if one asks and the other gets the answer", async () => {
    const { balancer } = await startPair(["k", "k"]);
    const asked: string[] = [];
    const client = await connect(balancer, asked);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    const before = balancer.taken.length;
    const deleted = await client.callTool(DELETE);
    expect(deleted.isError, JSON.stringify(deleted.content)).not.toBe(true);
    expect(asked).toHaveLength(1);
    expect([...balancer.taken.slice(before)].sort()).toEqual([0, 1]);
    for (let read = 0; read < 4; read += 1) {
      const opened = await client.callTool({
        name: "open_nodes",
        arguments: { names: ["Mary", "Ada"] },
      });
      expect(JSON.stringify(opened.content)).toContain("Ada");
      expect(JSON.stringify(opened.structuredContent)).not.toContain("teaches mathematics");
    }
    expect(new Set(balancer.taken)).toEqual(new Set([0, 1]));
  });

  it("accept no answer to a question sealed with another key, and change nothing", async () => {
    const { balancer } = await startPair(["k", "x"]);
    const client = await connect(balancer, []);
    await expect(client.callTool(DELETE)).rejects.toThrow(/requestState/i);
    const opened = await client.callTool({ name: "open_nodes", arguments: { names: ["Mary"] } });
    expect(JSON.stringify(opened)).toContain("teaches mathematics");
  });

  it("keep serving when one of them ends", async () => {
    const { balancer, processes } = await startPair(["k", "k"]);
    const client = await connect(balancer, []);
    await client.callTool({ name: "open_nodes", arguments: { names: ["Ada"] } });
    await processes[0]?.stop();
    for (let call = 0; call < 4; call += 1) {
      const opened = await client.callTool({ name: "open_nodes", arguments: { names: ["Ada"] } });
      expect(opened.isError).not.toBe(true);
    }
    expect(balancer.taken.slice(-4)).toEqual([1, 1, 1, 1]);
  });
});
