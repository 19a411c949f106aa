import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Era, World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeOf } from "../../scripts/lib/npm-programs.mjs";
import { answers, INSTALL_MS, ROOT, SERVERS, serverWorld } from "../servers.ts";

const execute = promisify(execFile);

/** One world of each server for all versions: only reading tools are called. */
const worlds = new Map<string, World>();
async function worldOf(name: string): Promise<World> {
  const world = worlds.get(name) ?? (await serverWorld(name));
  worlds.set(name, world);
  return world;
}

/**
 * Tests the packed packages on versions of Node.js, each with the clients of these eras, installed as a first user does: into
 * an empty folder, with an empty npm cache.
 */
export function testInstalled(
  versions: readonly { readonly major: number; readonly eras: readonly Era[] }[],
  tarballs: () => readonly string[] | Promise<readonly string[]>,
): void {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "refmcp-installed-"));
  });
  afterAll(async () => {
    for (const world of worlds.values()) await world.dispose();
    worlds.clear();
    await rm(folder, { recursive: true, force: true });
  });

  describe.each(versions)("the packed packages on Node.js $major", ({ major, eras }) => {
    let node = "";
    let home = "";
    beforeAll(async () => {
      const { program, folder: nodeFolder } = await nodeOf(major);
      node = program;
      home = await mkdtemp(join(folder, "home-"));
      await writeFile(join(home, "package.json"), '{ "private": true }');
      const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
      const npm = ["install", ...quiet, "--cache", join(home, "cache"), ...(await tarballs())];
      await execute("npm", npm, {
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
      });
    }, INSTALL_MS);

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
      for (const era of eras)
        await answers(await worldOf(name), installed(`@refmcp/server-${name}`), era);
    });

    it("refmcp answers a call of a server", async () => {
      const { args, ...world } = await worldOf("filesystem");
      const prefixed = args.map((argument) => argument.replace(/^--/, "--filesystem."));
      for (const era of eras) await answers({ ...world, args: prefixed }, installed("refmcp"), era);
    });
  });
}

/**
 * Puts the workspace's better-sqlite3 12 into a folder as the archive that its installer finds before it asks GitHub. Where it
 * gets neither, it compiles for minutes. Version 13, which newer versions of Node.js get, has binaries in its package.
 *
 * @returns variables for npm
 */
export async function prebuilt(folder: string): Promise<Record<string, string>> {
  const manifest = join(ROOT, "node_modules", "better-sqlite3-node20", "package.json");
  if (!existsSync(manifest)) return {};
  const { version } = JSON.parse(await readFile(manifest, "utf8"));
  const machine = `node-v${process.versions.modules}-${process.platform}-${process.arch}`;
  const archive = join(folder, `better-sqlite3-v${version}-${machine}.tar.gz`);
  const file = "build/Release/better_sqlite3.node";
  await promisify(execFile)("tar", ["-czf", archive, "-C", dirname(manifest), file]);
  return { npm_config_better_sqlite3_local_prebuilds: folder };
}
