import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { SERVERS, serverBin } from "../servers.ts";

const run = async (...args: string[]) =>
  (await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })).stdout;

it.each(SERVERS)("the %s server lists its tools and shows the arguments of each", async (name) => {
  const tools: { name: string }[] = JSON.parse(await run(serverBin(name), "tools", "--json"));
  expect(tools.length).toBeGreaterThan(0);
  for (const tool of tools.slice(0, 1))
    expect(await run(serverBin(name), "tools", tool.name)).toContain(`call ${tool.name}`);
});
