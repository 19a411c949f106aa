import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PUBLISHED, ROOT, SERVERS } from "../servers.ts";

const execute = promisify(execFile);
const folders = [...PUBLISHED.keys(), "test"];
let copy = "";

// After switching branches, git leaves the ignored files of servers that the new branch doesn't have.
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "refmcp-leftover-"));
  for (const path of [
    "scripts",
    "package.json",
    ...folders.map((folder) => `${folder}/package.json`),
  ])
    await cp(join(ROOT, path), join(copy, path), { recursive: true });
  for (const ignored of ["dist", "node_modules"])
    await mkdir(join(copy, "servers", "leftover", ignored), { recursive: true });
});
afterAll(() => rm(copy, { recursive: true, force: true }));

describe("a folder in servers/ without a package.json", () => {
  it("is not a server", async () => {
    const ask =
      'import { packageFolders, serverNames } from "./scripts/lib/setup.mjs"; console.log(JSON.stringify([serverNames(), await packageFolders()]))';
    const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", ask], {
      cwd: copy,
    });
    expect(JSON.parse(stdout)).toEqual([SERVERS, folders]);
  });

  it("is not published", async () => {
    const artifacts = join(copy, "scripts", "release", "artifacts.mjs");
    const packages = [...PUBLISHED.values()];
    await expect(
      execute(process.execPath, [artifacts, "v0.0.0", join(copy, "release")]),
    ).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^The tag v0\\.0\\.0 is not the version of: ${packages.map((name) => `${name} \\S+`).join(", ")}\\.\\n$`,
        ),
      ),
    });
  });

  it("has a name for which pnpm new gives instructions", async () => {
    const create = join(copy, "scripts", "new.mjs");
    await expect(execute(process.execPath, [create, "server", "leftover"])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("servers/leftover has no package.json"),
    });
  });
});
