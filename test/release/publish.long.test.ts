import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import * as z from "zod";
import { ROOT, SERVERS } from "../servers.ts";

const execute = promisify(execFile);
const upload = z.object({ name: z.string(), _attachments: z.record(z.string(), z.unknown()) });

it("publishing by hand uploads what is not there yet, without provenance", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "packages", "core", "package.json"), "utf8"));
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
    const there = { name, "dist-tags": { latest: version }, versions: { [version]: { name, version } } };
    if (request.method === "PUT") response.writeHead(201).end("{}");
    else if (name === missing) response.writeHead(404).end("{}");
    else response.end(JSON.stringify(there));
  });
  await new Promise<void>((done) => registry.listen(0, "127.0.0.1", done));
  const address = registry.address();
  const folder = await mkdtemp(join(tmpdir(), "refmcp-by-hand-"));
  try {
    if (address === null || typeof address === "string") throw new Error("the registry has no port");
    const place = `127.0.0.1:${address.port}/`;
    const npmrc = join(folder, "npmrc");
    await writeFile(npmrc, `@refmcp:registry=http://${place}\n//${place}:_authToken=test\n`);
    const script = join(ROOT, "scripts", "release", "publish.mjs");
    await execute(process.execPath, [script, `v${version}`, "--by-hand"], {
      cwd: folder,
      env: { ...process.env, NPM_CONFIG_USERCONFIG: npmrc },
    });
    expect(asked).toEqual(
      expect.arrayContaining(["@refmcp/core", ...SERVERS.map((name) => `@refmcp/server-${name}`)]),
    );
    // Provenance would be a second attachment.
    expect([...uploads]).toEqual([[missing, [`${missing}-${version}.tgz`]]]);
  } finally {
    registry.close();
    await rm(folder, { recursive: true, force: true });
  }
});

it("would publish core and every server, under the tag of their version only", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "packages", "core", "package.json"), "utf8"));
  const publish = (tag: string) =>
    execute(process.execPath, [join(ROOT, "scripts", "release", "publish.mjs"), tag, "--dry-run"]);
  const { stdout } = await publish(`v${version}`);
  const names = ["@refmcp/core", ...SERVERS.map((name) => `@refmcp/server-${name}`)];
  expect(stdout.trim().split("\n")).toEqual(names.map((name) => `${name} ${version}: would be published`));
  await expect(publish("v99.0.0")).rejects.toMatchObject({
    stderr: expect.stringContaining("The tag v99.0.0 is not the version of: @refmcp/core"),
  });
});
