import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack } from "../../scripts/release/pack.mjs";
import { answersInBothEras, ROOT, SERVERS, serverFolder, serverWorld } from "../servers.ts";

const execute = promisify(execFile);
const npmQuiet = ["--no-audit", "--no-fund", "--loglevel=error"];
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-packed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Installs tarballs into an empty folder with an empty npm cache, as a first user does. */
async function install(tarballs: readonly string[]): Promise<string> {
  const home = await mkdtemp(join(folder, "home-"));
  await writeFile(join(home, "package.json"), '{ "private": true }');
  const npm = ["install", ...npmQuiet, "--cache", join(home, "cache"), ...tarballs];
  await execute("npm", npm, { cwd: home });
  return home;
}

const homes = new Map<string, Promise<string>>();

/**
 * The folder in which a server is installed. Servers with the same dependencies share one: none can use what another
 * brought, and a native module is compiled once.
 */
async function homeOf(name: string): Promise<string> {
  const dependencies = await dependenciesOf(name);
  const known = homes.get(dependencies);
  if (known !== undefined) return known;
  const alike: string[] = [];
  for (const server of SERVERS) if ((await dependenciesOf(server)) === dependencies) alike.push(server);
  const home = Promise.all(alike.map((server) => pack(`servers/${server}`, folder))).then(install);
  homes.set(dependencies, home);
  return home;
}

async function dependenciesOf(name: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(serverFolder(name), "package.json"), "utf8"));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return JSON.stringify([dependencies, optionalDependencies, peerDependencies]);
}

describe.each(SERVERS)("the packed %s server", (name) => {
  it("installs into an empty folder and answers a call in both eras, started by npx", {
    timeout: 300_000,
  }, async () => {
    const home = await homeOf(name);
    const world = await serverWorld(name);
    try {
      const args = ["--no-install", `refmcp-server-${name}`];
      await answersInBothEras(world, { command: "npx", args, cwd: home });
    } finally {
      await world.dispose();
    }
  });

  it("ships the door, the bundle and its texts, and nothing from the sources", {
    timeout: 120_000,
  }, async () => {
    const { stdout } = await execute("tar", ["-tzf", await pack(`servers/${name}`, folder)]);
    const files = stdout.split("\n").filter((file) => file !== "");
    expect(files).toEqual(
      expect.arrayContaining([
        "package/LICENSE",
        "package/README.md",
        "package/THIRD_PARTY_NOTICES",
        "package/sbom.cdx.json",
        "package/dist/bin.js",
        "package/dist/server.js",
      ]),
    );
    expect(files.filter((file) => file.endsWith(".ts") || file.includes("test"))).toEqual([]);
  });
});

describe("the packed core", () => {
  it("passes publint and attw", { timeout: 120_000 }, async () => {
    const tarball = await pack("packages/core", folder);
    const bin = (tool: string) => join(ROOT, "test", "node_modules", ".bin", tool);
    const publint = await execute(bin("publint"), ["run", tarball, "--strict"]);
    expect(publint.stdout).toContain("All good!");
    const attw = await execute(bin("attw"), [tarball, "--profile", "esm-only"]);
    // It exits with 1 where a type does not resolve; each entry must have been looked at.
    const { exports } = JSON.parse(await readFile(join(ROOT, "packages", "core", "package.json"), "utf8"));
    expect(attw.stdout.match(/node16 \(from ESM\): 🟢/g)).toHaveLength(Object.keys(exports).length);
    expect(attw.stdout.match(/bundler: 🟢/g)).toHaveLength(Object.keys(exports).length);
  });
});
