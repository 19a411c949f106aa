import { lstat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeWorkspace, type Workspace } from "../../test/fixtures/boundary.ts";
import { runScript } from "../../test/fixtures/script.ts";
import { hasProc } from "./open.ts";
import { ensureDirectory } from "./state-directory.ts";

describe("ensureDirectory", () => {
  let workspace: Workspace;
  beforeEach(async () => {
    workspace = await makeWorkspace();
  });
  afterEach(() => workspace.remove());

  it("creates missing parents with the same mode, and accepts an existing directory, but no file", async () => {
    const path = join(workspace.root, "a", "b");
    for (let round = 0; round < 2; round++) ensureDirectory(path, 0o700);
    if (process.platform !== "win32")
      for (const folder of [path, join(path, "..")])
        expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    const file = join(workspace.root, "file");
    await writeFile(file, "");
    expect(() => ensureDirectory(file)).toThrow(/^EEXIST/);
    expect(() => ensureDirectory(join(file, "a", "b"))).toThrow(/^(ENOTDIR|EEXIST)/);
  });

  it("ends below /proc", async (context) => {
    if (!hasProc()) context.skip("needs /proc");
    // A separate process, since nothing can stop an endless call in this one.
    const script = `
      import { ensureDirectory } from "./state-directory.ts";
      for (const path of ["/proc/x", "/proc/x/y/z", "/proc/self/x"])
        try {
          ensureDirectory(path);
        } catch (error) {
          console.log(error.code, error.message);
        }`;
    const what = "EPERM EPERM: this file system does not support creating directories, mkdir";
    expect(await runScript(script, import.meta.dirname)).toBe(
      `${what} '/proc/x'\n${what} '/proc/x'\n${what} '/proc/self/x'\n`,
    );
  });
});
