import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { pack } from "../../scripts/release/pack.mjs";
import { PUBLISHED, ROOT } from "../servers.ts";

const execute = promisify(execFile);

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
