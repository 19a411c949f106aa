import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { connectStdio, type Task } from "@refmcp/testing";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { SERVERS, serverBin, serverFolder } from "../servers.ts";

const execute = promisify(execFile);
const described = z.object({
  toolsets: z.record(z.string(), z.object({ default: z.boolean() })),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({}),
      needs: z.string().optional(),
      toolset: z.string().optional(),
    }),
  ),
  slim: z.array(z.string()).optional(),
  prompts: z.array(z.object({ name: z.string() })),
});
type Described = z.output<typeof described>;

/** The tools that a server offers without any option. */
const offered = ({ tools, toolsets }: Described) =>
  tools.filter(
    ({ needs, toolset }) =>
      needs === undefined && (toolset === undefined || toolsets[toolset]?.default === true),
  );

/** The same name in two places. */
const twice = (names: readonly string[]) =>
  names.filter((name, index) => names.indexOf(name) !== index);

const servers = new Map<string, Described>();
beforeAll(async () => {
  for (const name of SERVERS) {
    const { stdout } = await execute(process.execPath, [serverBin(name), "--describe"], {
      maxBuffer: 2 ** 26,
    });
    servers.set(name, described.parse(JSON.parse(stdout)));
  }
});

describe("all servers together", () => {
  it("have unique tool names: servers are used together", () => {
    const all = [...servers.values()];
    expect(twice(all.flatMap(({ tools }) => tools.map(({ name }) => name)))).toEqual([]);
    expect(twice(all.flatMap(({ prompts }) => prompts.map(({ name }) => name)))).toEqual([]);
  });

  it("offer at most 20 tools each by default, and 90 together: hosts allow about 100", () => {
    const counts = [...servers].map(([name, server]) => ({ name, count: offered(server).length }));
    expect(counts.filter(({ count }) => count > 20)).toEqual([]);
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(90);
  });
});

describe("the tools that each server offers by default", () => {
  it.each(SERVERS)("%s: have descriptions of at most 200 characters", (name) => {
    const server = servers.get(name);
    const long = server && offered(server).filter(({ description }) => description.length > 200);
    expect(long?.map((tool) => `${tool.name}: ${tool.description.length}`)).toEqual([]);
  });
});

describe("all servers with --slim", () => {
  it("offer at most 35 tools together, whose names, descriptions and inputs cost at most 5,000 tokens", async () => {
    const listed = await Promise.all(
      SERVERS.map(async (name) => {
        const connected = await connectStdio(serverBin(name), { args: ["--slim"] });
        const { tools } = await connected.client.listTools();
        await connected.close();
        return tools;
      }),
    );
    const tools = listed
      .flat()
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(tools.length).toBeLessThanOrEqual(35);
    expect(Math.ceil(JSON.stringify(tools).length / 4)).toBeLessThanOrEqual(5_000);
  });
});
describe.each(SERVERS)("the tasks of the %s server", (name) => {
  it("are 8 to 15, and run by its own tests", async () => {
    const folder = join(serverFolder(name), "evals");
    const { tasks }: { tasks: readonly Task[] } = await import(
      pathToFileURL(join(folder, "tasks.ts")).href
    );
    expect(tasks.length).toBeGreaterThanOrEqual(8);
    expect(tasks.length).toBeLessThanOrEqual(15);
    expect(readFileSync(join(folder, "tasks.test.ts"), "utf8")).toMatch(
      /^evals\(server, tasks, world\);$/m,
    );
  });
});
