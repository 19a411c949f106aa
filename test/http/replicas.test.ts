import { connectHttp, type Era, type HttpProcess, startHttp, type World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../vitest.long.ts";
import { callReadingTool, SERVERS, serverBin, serverWorld } from "../servers.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

/** One with files and one with rows; the long run has the others. */
const names = isLong ? SERVERS : ["filesystem", "sqlite"];

describe.each(names)("two copies of %s behind a round robin", (name) => {
  let world: World;
  let replicas: HttpProcess[];
  let balancer: Balancer;
  beforeAll(async () => {
    world = await serverWorld(name);
    const args = [...world.args, "--http-stateless"];
    const start = () => startHttp(serverBin(name), { ...world, args });
    replicas = await Promise.all([start(), start()]);
    balancer = await startBalancer(replicas.map(({ url }) => url));
  });
  afterAll(async () => {
    await balancer?.close();
    for (const replica of replicas ?? []) await replica.stop("SIGKILL");
    await world?.dispose();
  });

  it.each<Era>(["legacy", "modern"])("serve a %s client, whichever answers", async (era) => {
    const before = balancer.taken.length;
    const { client, close } = await connectHttp(balancer.url, { era });
    try {
      const lists: string[] = [];
      // Three requests each, so that every kind of request reaches both.
      for (let round = 0; round < 3; round++)
        lists.push(String(await callReadingTool(client, world)));
      expect(new Set(lists).size).toBe(1);
    } finally {
      await close();
    }
    expect(new Set(balancer.taken.slice(before))).toEqual(new Set([0, 1]));
  });
});
