import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NODES, nodeProgram } from "../../scripts/lib/npm-programs.mjs";
import { tarballOf } from "../release/release.ts";
import { answersInBothEras, INSTALL_MS, SERVERS, serverWorld } from "../servers.ts";

const execute = promisify(execFile);

/** The versions of Node.js that the packed servers run on, from the npm registry; `pnpm smoke 24` takes one of them. */
const VERSIONS = nodesToTry(process.env["REFMCP_SMOKE_NODES"]);
const worlds = new Map<string, World>();
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-smoke-"));
}, INSTALL_MS);
afterAll(async () => {
  for (const world of worlds.values()) await world.dispose();
  await rm(folder, { recursive: true, force: true });
}, INSTALL_MS);

/** The requested versions, or those that neither the release path (20 and 24) nor `test/packed` (the one that runs this) has. */
function nodesToTry(asked: string | undefined): number[] {
  if (asked !== undefined) return asked.split(",").map(Number);
  const covered = [20, 24, Number(process.versions.node.split(".")[0])];
  return Object.keys(NODES)
    .map(Number)
    .filter((major) => !covered.includes(major));
}

/** One world of each server for all versions: only reading tools are called. */
async function worldOf(name: string): Promise<World> {
  const world = worlds.get(name) ?? (await serverWorld(name));
  worlds.set(name, world);
  return world;
}

describe.each(VERSIONS)("on Node.js %s", (version) => {
  let node = "";
  let home = "";

  beforeAll(async () => {
    const { program, folder: nodeFolder } = await nodeProgram(version);
    node = program;
    home = await mkdtemp(join(folder, "home-"));
    const dependencies: Record<string, string> = {};
    for (const name of SERVERS)
      dependencies[`@refmcp/server-${name}`] = `file:${await tarballOf(`server-${name}`)}`;
    await writeFile(join(home, "package.json"), JSON.stringify({ private: true, dependencies }));
    // npm runs on this Node.js too, so that it chooses versions and builds native parts for it.
    const env = {
      ...process.env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      // Its headers, for modules that have to be compiled.
      npm_config_nodedir: nodeFolder,
    };
    await execute("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: home,
      env,
    });
  }, INSTALL_MS);

  it("is that version", async () => {
    const { stdout } = await execute(node, ["--version"]);
    expect(stdout).toMatch(new RegExp(`^v${version}\\.`));
  });

  it.each(SERVERS)(
    "the packed %s server starts and answers in both eras",
    { timeout: INSTALL_MS },
    async (name) => {
      const bin = join(home, "node_modules", "@refmcp", `server-${name}`, "dist", "bin.js");
      await answersInBothEras(await worldOf(name), { command: node, args: [bin], cwd: home });
    },
  );
});
