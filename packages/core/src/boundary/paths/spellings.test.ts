import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Ground,
  guardOf,
  makeGround,
  readThrough,
  refusal,
  verifications,
} from "../../../test/fixtures/boundary.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

/** A bound whose directories are spelt in another way than the kernel spells them; all but the first are read-only. */
function speltBound(...paths: string[]): Bound {
  const directories = paths.map((path, index): AllowedDirectory => {
    return { path, realPath: path, source: "argument", writable: index === 0 };
  });
  return {
    directories: () => directories,
    onChange: () => () => {},
  };
}

/**
 * Stands in for a file system that ignores case, which needs a mount: there, two spellings are one directory to
 * stat(2). Here the second spelling is a link that the bound takes for a real path.
 */
describe.each(verifications)("a directory with two spellings, verified by %s", (verification) => {
  let ground: Ground;
  beforeEach(async () => {
    ground = await makeGround();
    await mkdir(join(ground.root, "sub"));
    await writeFile(join(ground.root, "sub", "a.txt"), "inside");
  });
  afterEach(() => ground.remove());

  it("is recognised by device and inode, whichever is asked for", async () => {
    const other = join(ground.base, "ROOT");
    await symlink("root", other);
    const guard = guardOf(speltBound(other), verification);
    for (const path of ["sub/a.txt", join(other, "sub", "a.txt"), join(ground.root, "sub", "a.txt")]) {
      expect(await readThrough(guard, path), path).toBe("inside");
    }
    await (await guard.openDirectory(join(ground.root, "sub"))).close();
    await guard.writeFile("sub/new.txt", Buffer.from("new"));
    expect(await readFile(join(ground.root, "sub", "new.txt"), "utf8")).toBe("new");
    expect(await guard.createDirectory("sub/x")).toEqual([join(other, "sub", "x")]);
    await guard.move("sub/new.txt", "sub/x/moved.txt");
    expect(await readThrough(guard, "sub/x/moved.txt")).toBe("new");
  });

  it("is not taken for another directory whose name differs in case only", async () => {
    const other = join(ground.base, "ROOT");
    await mkdir(other);
    const guard = guardOf(speltBound(other), verification);
    expect(await refusal(guard.openFile(join(ground.root, "sub", "a.txt")))).toMatchObject({
      code: "outside",
    });
    await symlink(join(ground.root, "sub"), join(other, "sub"));
    expect(await refusal(guard.openFile("sub/a.txt"))).toMatchObject({ code: "outside" });
    expect(await refusal(guard.openDirectory("sub"))).toMatchObject({ code: "outside" });
    expect(await refusal(guard.writeFile("sub/new.txt", Buffer.from("")))).toMatchObject({ code: "outside" });
  });

  it("stays read-only whatever its spelling, and cannot be moved away", async () => {
    const { root } = ground;
    await symlink("sub", join(root, "SUB"));
    const guard = guardOf(speltBound(root, join(root, "SUB")), verification);
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
