import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { pack } from "../../scripts/release/pack.mjs";
import { PUBLISHED, ROOT, SERVERS } from "../servers.ts";
import { artifacts, madeRelease, VERSION as version } from "./release.ts";

const execute = promisify(execFile);
const NAMES = [...PUBLISHED.values()].sort();

let release = "";
beforeAll(async () => {
  release = await madeRelease();
});

const upload = z.object({ name: z.string(), _attachments: z.record(z.string(), z.unknown()) });

it("publishing by hand uploads what is not there yet, without provenance", async () => {
  const missing = "@refmcp/server-git";
  const asked: string[] = [];
  const uploads = new Map<string, string[]>();
  const registry = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "PUT") {
      const { name, _attachments } = upload.parse(JSON.parse(Buffer.concat(chunks).toString()));
      uploads.set(name, Object.keys(_attachments));
    }
    const name = decodeURIComponent(request.url?.slice(1) ?? "");
    if (request.method === "GET") asked.push(name);
    const there = {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { name, version } },
    };
    if (request.method === "PUT") response.writeHead(201).end("{}");
    else if (name === missing) response.writeHead(404).end("{}");
    else response.end(JSON.stringify(there));
  });
  await new Promise<void>((done) => registry.listen(0, "127.0.0.1", done));
  const address = registry.address();
  const folder = await mkdtemp(join(tmpdir(), "refmcp-by-hand-"));
  try {
    if (address === null || typeof address === "string")
      throw new Error("the registry has no port");
    const place = `127.0.0.1:${address.port}/`;
    const npmrc = join(folder, "npmrc");
    await writeFile(npmrc, `registry=http://${place}\n//${place}:_authToken=test\n`);
    await execute(process.execPath, [join(release, "publish.mjs"), release, "--by-hand"], {
      cwd: folder,
      env: { ...process.env, NPM_CONFIG_USERCONFIG: npmrc },
    });
    expect(asked).toEqual(expect.arrayContaining(NAMES));
    // Provenance would be a second attachment.
    expect([...uploads]).toEqual([[missing, [`${missing}-${version}.tgz`]]]);
  } finally {
    registry.close();
    await rm(folder, { recursive: true, force: true });
  }
});

it("a release has core, every server, its bundle, its SBOM and its registry entry", async () => {
  const { stdout } = await execute(process.execPath, [
    join(release, "publish.mjs"),
    release,
    "--dry-run",
  ]);
  expect(stdout.trim().split("\n")).toEqual(
    NAMES.map((name) => `${name} ${version}: would be published`),
  );
  expect(readdirSync(join(release, "assets")).sort()).toEqual(
    SERVERS.flatMap((name) => [
      `refmcp-${name}-${version}.cdx.json`,
      `refmcp-${name}-${version}.mcpb`,
    ]).sort(),
  );
  for (const name of SERVERS)
    expect(readFileSync(join(release, "registry", name, "server.json"), "utf8")).toBe(
      readFileSync(join(ROOT, "servers", name, "server.json"), "utf8"),
    );
});

it("a tag that is not the version of the packages makes no release", async () => {
  await expect(artifacts("v99.0.0", join(release, "wrong"))).rejects.toMatchObject({
    stderr: expect.stringContaining(
      `The tag v99.0.0 is not the version of: @refmcp/boundary ${version}, @refmcp/core ${version}, `,
    ),
  });
  expect(existsSync(join(release, "wrong"))).toBe(false);
});

// npm packs "playwright": "catalog:", which it then refuses to install (EUNSUPPORTEDPROTOCOL).
it.each(["pack", "publish"])("npm %s refuses every package, and names pnpm", async (command) => {
  for (const folder of PUBLISHED.keys()) {
    const { scripts } = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
    expect(scripts.prepack, folder).toBe("node ../../scripts/release/only-pnpm.mjs");
  }
  const run = execute("npm", [command, "--dry-run"], { cwd: join(ROOT, "servers", "git") });
  await expect(run).rejects.toMatchObject({
    stderr: expect.stringContaining("is packed with pnpm"),
  });
});

it("pnpm packs a server, without the script that refuses npm", async () => {
  const place = await mkdtemp(join(tmpdir(), "refmcp-pack-"));
  try {
    const tarball = await pack(join("servers", "git"), place);
    const { stdout } = await execute("tar", ["-xOzf", tarball, "package/package.json"]);
    expect(stdout).not.toMatch(/prepack|catalog:|workspace:/);
    expect(await readdir(join(ROOT, "servers", "git"))).not.toContainEqual(
      expect.stringMatching(/\.tgz$/),
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
