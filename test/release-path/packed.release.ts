import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { nodeOf } from "../../scripts/lib/npm-programs.mjs";
import { prebuilt } from "../packed/prebuilt.ts";
import { answers, SERVERS, serverWorld } from "../servers.ts";

const execute = promisify(execFile);

/** The oldest supported version and the current LTS, each with the clients of one era. */
const NODES = [
  { major: 20, era: "legacy" },
  { major: 24, era: "modern" },
] as const;

/** One world of each server for both versions: only reading tools are called. */
const worlds = new Map<string, World>();
async function worldOf(name: string): Promise<World> {
  const world = worlds.get(name) ?? (await serverWorld(name));
  worlds.set(name, world);
  return world;
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-installed-"));
});
afterAll(async () => {
  for (const world of worlds.values()) await world.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe.each(NODES)("the packed packages on Node.js $major", ({ major, era }) => {
  let node = "";
  let home = "";

  // As a first user does: into an empty folder, with an empty npm cache.
  beforeAll(async () => {
    const { program, folder: nodeFolder } = await nodeOf(major);
    node = program;
    home = await mkdtemp(join(folder, "home-"));
    await writeFile(join(home, "package.json"), '{ "private": true }');
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    await execute(
      "npm",
      ["install", ...quiet, "--cache", join(home, "cache"), ...inject("tarballs")],
      {
        cwd: home,
        env: {
          ...process.env,
          // npm runs on this Node.js too, so that it chooses versions and builds native parts for it.
          PATH: `${dirname(node)}${delimiter}${process.env["PATH"]}`,
          ...(nodeFolder === undefined
            ? await prebuilt(folder)
            : // Its headers, for modules that have to be compiled.
              { npm_config_nodedir: nodeFolder }),
        },
        // npm is a batch file on Windows.
        shell: process.platform === "win32",
      },
    );
  });

  const installed = (name: string) => ({
    command: node,
    args: [join(home, "node_modules", name, "dist", "bin.js")],
    cwd: home,
  });

  it("is that version", async () => {
    const { stdout } = await execute(node, ["--version"]);
    expect(stdout).toMatch(new RegExp(`^v${major}\\.`));
  });

  it.each(SERVERS)("@refmcp/server-%s answers a call", async (name) => {
    await answers(await worldOf(name), installed(`@refmcp/server-${name}`), era);
  });

  it("refmcp answers a call of a server", async () => {
    const { args, ...world } = await worldOf("filesystem");
    const prefixed = args.map((argument) => argument.replace(/^--/, "--filesystem."));
    await answers({ ...world, args: prefixed }, installed("refmcp"), era);
  });
});
