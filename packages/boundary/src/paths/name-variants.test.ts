import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  guardOf,
  makeWorkspace,
  readThrough,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

/**
 * A allowed whose directories are written differently from the kernel's form; all but the first are read-only.
 */
function variantBound(...paths: string[]): AllowedDirectories {
  const directories = paths.map((path, index): AllowedDirectory => {
    return { path, realPath: path, source: "argument", writable: index === 0 };
  });
  return {
    directories: () => directories,
    onChange: () => () => {},
  };
}

/**
 * Stands in for a file system that ignores case, which needs a mount: there, two names refer to one directory
 * for stat(2). Here the second name is a link that the allowed treats as a real path.
 */
describe.each(verifications)("a directory with two names, verified by %s", (verification) => {
  let workspace: Workspace;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    await mkdir(join(workspace.root, "sub"));
    await writeFile(join(workspace.root, "sub", "a.txt"), "inside");
  });
  afterEach(() => workspace.remove());

  it("is recognized by device and inode, whichever name is used", async () => {
    const other = join(workspace.base, "ROOT");
    await symlink("root", other);
    const guard = guardOf(variantBound(other), verification);
    for (const path of [
      "sub/a.txt",
      join(other, "sub", "a.txt"),
      join(workspace.root, "sub", "a.txt"),
    ]) {
      expect(await readThrough(guard, path), path).toBe("inside");
    }
    await (await guard.openDirectory(join(workspace.root, "sub"))).close();
    await guard.writeFile("sub/new.txt", Buffer.from("new"));
    expect(await readFile(join(workspace.root, "sub", "new.txt"), "utf8")).toBe("new");
    expect(await guard.createDirectory("sub/x")).toEqual([join(other, "sub", "x")]);
    await guard.move("sub/new.txt", "sub/x/moved.txt");
    expect(await readThrough(guard, "sub/x/moved.txt")).toBe("new");
  });

  it("is not confused with a directory whose name differs only in case", async () => {
    const other = join(workspace.base, "ROOT");
    await mkdir(other);
    const guard = guardOf(variantBound(other), verification);
    expect(await refusal(guard.openFile(join(workspace.root, "sub", "a.txt")))).toMatchObject({
      code: "outside",
    });
    await symlink(join(workspace.root, "sub"), join(other, "sub"));
    expect(await refusal(guard.openFile("sub/a.txt"))).toMatchObject({ code: "outside" });
    expect(await refusal(guard.openDirectory("sub"))).toMatchObject({ code: "outside" });
    expect(await refusal(guard.writeFile("sub/new.txt", Buffer.from("")))).toMatchObject({
      code: "outside",
    });
  });

  it("stays read-only under any name, and cannot be moved away", async () => {
    const { root } = workspace;
    await symlink("sub", join(root, "SUB"));
    const guard = guardOf(variantBound(root, join(root, "SUB")), verification);
    expect(await refusal(guard.writeFile("sub/new.txt", Buffer.from("")))).toMatchObject({
      code: "read_only",
    });
    expect(await refusal(guard.createDirectory("sub/x"))).toMatchObject({ code: "read_only" });
    expect(await refusal(guard.move("sub", "moved"))).toMatchObject({ code: "allowed_directory" });
    expect(await readThrough(guard, "sub/a.txt")).toBe("inside");
    await mkdir(join(root, "Sub"));
    await guard.writeFile("Sub/new.txt", Buffer.from("another directory"));
    await guard.move("Sub", "moved");
  });
});
