import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { ownDirectory, procOpener } from "./open.ts";
import { portableOpener } from "./open-portable.ts";
import { copyTree, removeTree } from "./tree.ts";
import type { DirectoryEntry } from "./types.ts";

const openers = { proc: procOpener, portable: portableOpener };

describe.each(verifications)("trees, verified by %s", (verification) => {
  let workspace: Workspace;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    await mkdir(join(workspace.root, "tree", "sub"), { recursive: true });
    await writeFile(join(workspace.root, "tree", "sub", "x"), "X");
    await symlink(workspace.outside, join(workspace.root, "tree", "link"));
  });
  afterEach(async () => {
    expect(await readFile(workspace.secret, "utf8")).toBe("SECRET");
    await workspace.remove();
  });

  async function spots(...names: string[]) {
    const opener = openers[verification](workspace.allowed);
    const parent = await opener.openDirectory(workspace.root, workspace.root);
    const made = names.map(
      (name): DirectoryEntry => ({ parent, name, path: join(workspace.root, name) }),
    );
    return { opener, parent, made };
  }

  it("are copied and removed with their symlinks, which are not followed", async () => {
    const { opener, parent, made } = await spots("tree", "copy");
    const [tree, copy] = made;
    if (tree === undefined || copy === undefined) throw new Error("No spots.");
    const inventory = await copyTree(tree, copy, opener);
    expect([...inventory.keys()].sort()).toEqual(["", "/link", "/sub", "/sub/x"]);
    expect(await namesBelow(join(workspace.root, "copy"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(tree, opener, inventory);
    expect(await namesBelow(workspace.root)).toEqual([
      "copy",
      "copy/link",
      "copy/sub",
      "copy/sub/x",
    ]);
    await removeTree(copy, opener);
    expect(await namesBelow(workspace.root)).toEqual([]);
    await parent.close();
  });

  it.each([
    [
      "is new",
      (root: string) => writeFile(join(root, "tree", "sub", "new"), "new"),
      "tree/sub/new",
    ],
    [
      "was changed",
      (root: string) => writeFile(join(root, "tree", "sub", "x"), "longer"),
      "tree/sub/x",
    ],
    [
      "was replaced by a directory of the same names",
      async (root: string) => {
        await rename(join(root, "tree", "sub"), join(root, "aside"));
        await mkdir(join(root, "tree", "sub"));
        await writeFile(join(root, "tree", "sub", "x"), "X");
      },
      "tree/sub/x",
    ],
  ])("keep what %s since it was copied", async (_, change, kept) => {
    const { opener, parent, made } = await spots("tree", "copy");
    const [tree, copy] = made;
    if (tree === undefined || copy === undefined) throw new Error("No spots.");
    const inventory = await copyTree(tree, copy, opener);
    await change(workspace.root);
    expect(await refusal(removeTree(tree, opener, inventory))).toMatchObject({ kind: "conflict" });
    expect(await namesBelow(workspace.root)).toContain(kept);
    await parent.close();
  });

  it("are copied to and from our own directory, without following symlinks there", async () => {
    const { opener, parent, made } = await spots("tree", "back");
    const [tree, back] = made;
    if (tree === undefined || back === undefined) throw new Error("No spots.");
    const own = ownDirectory(workspace.outside);
    const image = { parent: own, name: "image", path: join(workspace.outside, "image") };
    execFileSync("mkfifo", [join(workspace.root, "tree", "pipe")]);
    expect(await refusal(copyTree(tree, image, opener))).toMatchObject({ code: "special_file" });
    await removeTree(image, opener);
    const skipped: string[] = [];
    await copyTree(tree, image, opener, { skipped: (key) => skipped.push(key) });
    expect(skipped).toEqual(["/pipe"]);
    await copyTree(image, back, opener);
    expect(await namesBelow(join(workspace.root, "back"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(image, opener);
    const signal = AbortSignal.abort(new Error("taken back"));
    await expect(copyTree(tree, image, opener, { signal })).rejects.toThrow("taken back");
    await parent.close();
  });
});
