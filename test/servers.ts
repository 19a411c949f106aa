import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { World } from "@refmcp/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { describedServer, type Server } from "../scripts/generate/surface.mjs";
import { ROOT, serverNames } from "../scripts/lib/setup.mjs";

export { ROOT };

/** The time limit of tests and hooks that download packages or compile. */
export const INSTALL_MS = 600_000;

/** The published packages that are not servers, in `packages`. */
export const LIBRARIES: readonly string[] = ["boundary", "core", "testing"];

/** The names of all servers, sorted. */
export const SERVERS: readonly string[] = serverNames();

/** All published packages: folder → name, sorted by folder. */
export const PUBLISHED: ReadonlyMap<string, string> = new Map([
  ...[...LIBRARIES, "refmcp"]
    .sort()
    .map((name) => [`packages/${name}`, name === "refmcp" ? name : `@refmcp/${name}`] as const),
  ...SERVERS.map((name) => [`servers/${name}`, `@refmcp/server-${name}`] as const),
]);

/** The folder of a server. */
export function serverFolder(name: string): string {
  return join(ROOT, "servers", name);
}

/** The built server that a host starts. */
export function serverBin(name: string): string {
  return join(serverFolder(name), "dist", "bin.js");
}

let described: Promise<Server[]> | undefined;

/** What the generated files are made of: what each server prints about itself, with its package.json. */
export function describedServers(): Promise<Server[]> {
  described ??= Promise.all(SERVERS.map(describedServer));
  return described;
}

/** A fresh world of the server's own fixture, `test/fixture.ts`. */
export async function serverWorld(name: string): Promise<World> {
  const fixture: { world(): Promise<World> } = await import(
    pathToFileURL(join(serverFolder(name), "test", "fixture.ts")).href
  );
  const { HOME } = process.env;
  try {
    return await fixture.world();
  } finally {
    // Git's fixture sets the home of its process, in which every later npm and pnpm would have an empty cache.
    if (HOME !== undefined) process.env.HOME = HOME;
  }
}

/** A world for the tests of a suite, from its first `beforeAll` to its last `afterAll`. */
export function useWorld(name: string): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await serverWorld(name);
  });
  afterAll(() => world?.dispose());
  return () => {
    if (world === undefined) throw new Error(`The world of ${name} is used before its tests run.`);
    return world;
  };
}

/** Lists a server's tools and calls the first read-only one that its world has a call of. @returns the names of the tools. */
export async function callReadingTool(client: Client, { calls }: World): Promise<string[]> {
  const { tools } = await client.listTools();
  const reading = tools.find(
    ({ name, annotations }) => annotations?.readOnlyHint === true && name in calls,
  );
  if (reading === undefined)
    throw new Error("The server has no tool that only reads and has a call.");
  const answer = await client.callTool({
    name: reading.name,
    arguments: { ...calls[reading.name] },
  });
  expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true);
  expect(answer.content).not.toEqual([]);
  return tools.map((tool) => tool.name);
}

/** How a test starts an installed server. */
interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

const MODES = { legacy: "legacy", modern: { pin: "2026-07-28" } } as const;

/** Starts an installed server and calls it, with a client of one era. */
export async function answers(
  world: World,
  { command, args, cwd }: Command,
  era: keyof typeof MODES,
): Promise<void> {
  const client = new Client(
    { name: "refmcp-test", version: "1" },
    { versionNegotiation: { mode: MODES[era] } },
  );
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, ...world.env };
  await client.connect(
    new StdioClientTransport({ command, args: [...args, ...world.args], env, cwd }),
  );
  try {
    await callReadingTool(client, world);
  } finally {
    await client.close();
  }
}

/** Starts an installed server in each era, and calls it. */
export async function answersInBothEras(world: World, command: Command): Promise<void> {
  await answers(world, command, "legacy");
  await answers(world, command, "modern");
}
