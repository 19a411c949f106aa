import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { pack } from "../../scripts/release/pack.mjs";
import { ROOT, SERVERS } from "../servers.ts";

const execute = promisify(execFile);
const FOLDERS = [join("packages", "core"), ...SERVERS.map((name) => join("servers", name))];

// npm packs "playwright": "catalog:", which it then refuses to install (EUNSUPPORTEDPROTOCOL).
it.each(FOLDERS)("npm refuses to pack %s, and names pnpm", async (folder) => {
  const run = execute("npm", ["pack", "--dry-run"], { cwd: join(ROOT, folder) });
  await expect(run).rejects.toMatchObject({
    stderr: expect.stringContaining("is packed with pnpm"),
  });
});

it("npm refuses to publish a folder", async () => {
  const run = execute("npm", ["publish", "--dry-run"], { cwd: join(ROOT, "servers", "git") });
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
