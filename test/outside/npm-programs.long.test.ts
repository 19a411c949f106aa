import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../servers.ts";

const execute = promisify(execFile);
let copy = "";

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "refmcp-npm-"));
  await cp(join(ROOT, "scripts", "lib"), join(copy, "scripts", "lib"), { recursive: true });
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** Requests a package in a separate process; returns the path of its manifest. */
async function ask(name: string, version: string): Promise<string> {
  const text = `import { npmPackages } from "./scripts/lib/npm-programs.mjs";
    console.log((await npmPackages({ ${JSON.stringify(name)}: ${JSON.stringify(version)} }))(${JSON.stringify(`${name}/package.json`)}));`;
  const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", text], {
    cwd: copy,
  });
  return stdout.trim();
}
const cached = () => readdir(join(copy, "node_modules", ".cache", "refmcp-npm"));

describe("packages that tests take from npm", () => {
  it("are complete for two concurrent processes, in one folder", async () => {
    const [first = "", second] = await Promise.all([ask("ms", "2.1.3"), ask("ms", "2.1.3")]);
    expect(second).toBe(first);
    expect(JSON.parse(await readFile(first, "utf8"))).toMatchObject({
      name: "ms",
      version: "2.1.3",
    });
    expect(await cached()).toHaveLength(1);
  });

  it("leave nothing behind if they cannot be installed, and accept only exact versions", async () => {
    await expect(ask("ms", "999.0.0")).rejects.toMatchObject({
      stderr: expect.stringContaining("ms@999.0.0"),
    });
    expect(await cached()).toHaveLength(1);
    await expect(ask("ms", "^2.1.3")).rejects.toMatchObject({
      stderr: expect.stringContaining("ms@^2.1.3 is not an exact version"),
    });
  });
});
