import { execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectHttp, untilListening } from "@refmcp/testing";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarballOf } from "../release/release.ts";
import {
  answersInBothEras,
  INSTALL_MS,
  LIBRARIES,
  ROOT,
  SERVERS,
  serverFolder,
  serverWorld,
} from "../servers.ts";
import { prebuilt } from "./installed.ts";

const execute = promisify(execFile);
const npmQuiet = ["--no-audit", "--no-fund", "--loglevel=error"];
const SHIPPED = ["LICENSE", "README.md", "THIRD_PARTY_NOTICES", "sbom.cdx.json", "dist/bin.js"].map(
  (file) => `package/${file}`,
);
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
  await execute("npm", npm, { cwd: home, env: { ...process.env, ...(await prebuilt(folder)) } });
  return home;
}

const homes = new Map<string, Promise<string>>();

/**
 * The folder in which a server is installed. Servers with the same dependencies share one; none can use another's
 * dependencies.
 */
async function homeOf(name: string): Promise<string> {
  const dependencies = await dependenciesOf(name);
  const alike: string[] = [];
  for (const server of SERVERS)
    if ((await dependenciesOf(server)) === dependencies)
      alike.push(await tarballOf(`server-${server}`));
  const home = homes.get(dependencies) ?? install(alike);
  homes.set(dependencies, home);
  return home;
}

/** What npm installs with a server. Its optional peers come from the user. */
async function dependenciesOf(name: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(serverFolder(name), "package.json"), "utf8"));
  const {
    dependencies,
    optionalDependencies,
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = manifest;
  const peers = Object.entries(peerDependencies).filter(
    ([peer]) => !peerDependenciesMeta[peer]?.optional,
  );
  return JSON.stringify([dependencies, optionalDependencies, peers]);
}

describe.each(SERVERS)("the packed %s server", { timeout: INSTALL_MS }, (name) => {
  it("installs into an empty folder and answers a call in both eras, started by npx", async () => {
    const home = await homeOf(name);
    const world = await serverWorld(name);
    try {
      const args = ["--no-install", `refmcp-server-${name}`];
      await answersInBothEras(world, { command: "npx", args, cwd: home });
    } finally {
      await world.dispose();
    }
  });

  it("ships the entry point, the bundle and its texts, and nothing from the sources", async () => {
    const { stdout } = await execute("tar", ["-tzf", await tarballOf(`server-${name}`)]);
    const files = stdout.split("\n").filter((file) => file !== "");
    expect(files).toEqual(expect.arrayContaining([...SHIPPED, "package/dist/server.js"]));
    const shipped =
      /^package\/(?:(?:dist|skills)\/.+|LICENSE|README\.md|THIRD_PARTY_NOTICES|package\.json|sbom\.cdx\.json)$/;
    expect(
      files.filter((file) => !shipped.test(file) || /\.ts$|\/tests?\/|\.test\./.test(file)),
    ).toEqual([]);
  });
});

describe("the packed refmcp", { timeout: INSTALL_MS }, () => {
  it("installs with its servers into an empty folder, and answers calls of several in both eras", async () => {
    const servers = await Promise.all(SERVERS.map((name) => tarballOf(`server-${name}`)));
    const home = await install([...servers, await tarballOf("refmcp")]);
    const world = await serverWorld("filesystem");
    try {
      const args = ["--no-install", "refmcp"];
      const own = world.args.map((argument) => argument.replace(/^--/, "--filesystem."));
      await answersInBothEras({ ...world, args: own }, { command: "npx", args, cwd: home });
      const { stdout } = await execute("npx", [...args, "tools"], { cwd: home });
      for (const name of ["fetch", "git_log", "read_text_file", "search_nodes"])
        expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    } finally {
      await world.dispose();
    }
  });

  it("passes publint, and ships nothing from the sources", async () => {
    const tarball = await tarballOf("refmcp");
    const publint = join(ROOT, "test", "node_modules", ".bin", "publint");
    expect((await execute(publint, ["run", tarball, "--strict"])).stdout).toContain("All good!");
    const { stdout } = await execute("tar", ["-tzf", tarball]);
    expect(stdout.split("\n").filter((file) => /\.ts$|\/tests?\/|\/src\//.test(file))).toEqual([]);
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(SHIPPED));
  });
});

describe("the Dockerfile", () => {
  it("has no error and no warning", async () => {
    expect(validate(await dockerfile())).toEqual([]);
  });
});

const dockerfile = () => readFile(join(ROOT, "Dockerfile"), "utf8");

/** The image's variables, with its folders at other places. */
async function imageEnv(at: (path: string) => string): Promise<Record<string, string>> {
  const env: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" };
  for (const variable of DockerfileParser.parse(await dockerfile())
    .getENVs()
    .flatMap((instruction) => instruction.getProperties()))
    if (variable.getName() !== "PATH") env[variable.getName()] = at(variable.getValue() ?? "");
  return env;
}

// The image's parts on this machine, because there is no container registry here.
describe.each(SERVERS)("the image of the %s server", { timeout: INSTALL_MS }, (name) => {
  const listening = { [`REFMCP_${name.toUpperCase()}_HTTP`]: "127.0.0.1:0" };

  // As with `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges`.
  it("serves HTTP where only /data and /tmp can be written, without privileges", async (ctx) => {
    const namespaces = await execute("unshare", ["--mount", "setpriv", "--version"]).catch(
      () => undefined,
    );
    if (namespaces === undefined)
      ctx.skip("needs root, unshare and setpriv, for a read-only file system");
    // The folder of the installation is the only one that a test can mount: it is also /work.
    const env = await imageEnv((path) =>
      path.replace(/^\/data/, "/tmp/data").replace(/^\/work$/, "/mnt"),
    );
    const root = await mkdtemp(join(folder, "root-"));
    const script = `
      mount --rbind / "$0" && mount --bind "$1" "$0/mnt" && mount -o remount,bind,ro "$0/mnt" && mount -t tmpfs tmpfs "$0/tmp"
      install --directory --owner 65534 --group 65534 "$0/tmp/data" && mount -o remount,bind,ro "$0" && shift
      if touch "$0/mnt/written" 2>/dev/null || touch "$0/written" 2>/dev/null; then echo "It can be written." >&2; exit 1; fi
      exec chroot "$0" setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
        sh -c 'cd /mnt && exec "$@"' sh "$@"`;
    const home = await homeOf(name);
    await chmod(home, 0o755);
    const command = `/mnt/node_modules/.bin/refmcp-server-${name}`;
    const server = spawn(
      "unshare",
      ["--mount", "--propagation", "private", "sh", "-ec", script, root, home, command],
      { env: { ...env, ...listening }, stdio: ["ignore", "ignore", "pipe"] },
    );
    const { url, stop } = await untilListening(server);
    try {
      const { client, close } = await connectHttp(url);
      expect((await client.listTools()).tools).not.toEqual([]);
      if (name === "memory") {
        const entities = [{ name: "Ada", entityType: "person", observations: ["writes to /data"] }];
        const result = await client.callTool({ name: "create_entities", arguments: { entities } });
        expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
      }
      if (name === "filesystem") {
        const written = { name: "write_file", arguments: { path: "/mnt/new.txt", content: "a" } };
        const refused = await client.callTool(written);
        expect(refused.isError).toBe(true);
        expect(JSON.stringify(refused.content)).toContain("read-only file system");
      }
      await close();
    } finally {
      await stop("SIGKILL");
    }
  });
});

describe("the packed packages", () => {
  it.each(LIBRARIES)("%s passes publint and attw", async (name) => {
    const tarball = await tarballOf(name);
    const bin = (tool: string) => join(ROOT, "test", "node_modules", ".bin", tool);
    const publint = await execute(bin("publint"), ["run", tarball, "--strict"]);
    expect(publint.stdout).toContain("All good!");
    // It exits with 1 if a type does not resolve; each entry must have been checked.
    const attw = await execute(bin("attw"), [tarball, "--profile", "esm-only", "--format", "json"]);
    const { entrypoints } = JSON.parse(attw.stdout).analysis;
    const { exports } = JSON.parse(
      await readFile(join(ROOT, "packages", name, "package.json"), "utf8"),
    );
    for (const entry of Object.keys(exports).filter((path) => !path.includes("*")))
      for (const resolver of ["node16-esm", "bundler"])
        expect(entrypoints[entry].resolutions[resolver].resolution.fileName, entry).toMatch(
          /\.d\.ts$/,
        );
  });
});
