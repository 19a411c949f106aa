import { execFileSync } from "node:child_process";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { ownDirectory } from "./below.ts";
import { createPathGuard } from "./path-guard.ts";
import { copyTree, removeTree, type TreeEntry } from "./tree.ts";
import type { GuardedDirectory } from "./types.ts";

describe.each(verifications)("trees, verified by %s", (verification) => {
  let workspace: Workspace;
  let root: string;
  let parent: GuardedDirectory;
  let at: (name: string) => TreeEntry;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    root = workspace.root;
    await mkdir(join(root, "tree", "sub"), { recursive: true });
    await writeFile(join(root, "tree", "sub", "x"), "X");
    await symlink(workspace.outside, join(root, "tree", "link"));
    const guard = workspace.guard(verification);
    parent = await guard.openDirectory(root);
    at = (name) => ({ directory: guard.walk(parent), name, path: join(root, name) });
  });
  afterEach(async () => {
    await parent.close();
    await workspace.remove();
  });

  it("are copied and removed with their symlinks, which are not followed", async () => {
    const inventory = await copyTree(at("tree"), at("copy"));
    expect([...inventory.keys()].sort()).toEqual(["", "/link", "/sub", "/sub/x"]);
    const copy = ["copy", "copy/link", "copy/sub", "copy/sub/x"];
    await removeTree(at("tree"), inventory);
    expect(await namesBelow(root)).toEqual(copy);
    await removeTree(at("copy"));
    expect(await namesBelow(root)).toEqual([]);
  });

  it.each([
    ["is new", "tree/sub/new", () => writeFile(join(root, "tree/sub/new"), "new")],
    ["was changed", "tree/sub/x", () => writeFile(join(root, "tree/sub/x"), "longer")],
    [
      "was replaced by a directory of the same names",
      "tree/sub/x",
      async () => {
        await rename(join(root, "tree/sub"), join(root, "aside"));
        await mkdir(join(root, "tree/sub"));
        await writeFile(join(root, "tree/sub/x"), "X");
      },
    ],
  ])("keep what %s since it was copied", async (_, name, change) => {
    const inventory = await copyTree(at("tree"), at("copy"));
    await change();
    await refusal(removeTree(at("tree"), inventory), "changed_meanwhile");
    expect(await namesBelow(root)).toContain(name);
  });

  it("are copied to and from our own directory, without following symlinks there", async () => {
    const own = ownDirectory(workspace.base);
    const image = { directory: own, name: "image", path: join(workspace.base, "image") };
    execFileSync("mkfifo", [join(root, "tree", "pipe")]);
    await refusal(copyTree(at("tree"), image), "special_file");
    await removeTree(image);
    const skipped: string[] = [];
    await copyTree(at("tree"), image, { onSkip: (key) => skipped.push(key) });
    expect(skipped).toEqual(["/pipe"]);
    await copyTree(image, at("back"));
    expect(await namesBelow(join(root, "back"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(image);
    const signal = AbortSignal.abort(new Error("taken back"));
    await expect(copyTree(at("tree"), image, { signal })).rejects.toThrow("taken back");
    own.close();
  });

  it("of our own are refused behind a link, also on systems without /proc", async () => {
    vi.doMock("./open.ts", async (original) => ({ ...(await original()), hasProc: () => false }));
    vi.resetModules();
    onTestFinished(() => vi.doUnmock("./open.ts"));
    const { ownDirectory: ownByPath } = await import("./below.ts");
    for (const open of [ownDirectory, ownByPath])
      expect(() => open(join(root, "tree", "link"))).toThrow("ENOTDIR");
    expect(ownByPath(root).entries()).toHaveLength(1);
  });

  it("of the whole disk have no /proc, /sys and /dev below them, wherever they are mounted", async () => {
    const whole = createPathGuard(allowlistOf("/"), verification);
    const disk = await whole.openDirectory("/");
    for (const name of ["proc", "sys", "dev"])
      expect(whole.walk(disk).child(name)).toBe("unreadable");
    await disk.close();
  });
});
