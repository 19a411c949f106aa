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
import { ownDirectory, walkedDirectory } from "./below.ts";
import { procOpener } from "./open.ts";
import { portableOpener } from "./open-portable.ts";
import { copyTree, removeTree, type TreeEntry } from "./tree.ts";

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
    const directory = await walkedDirectory(parent, opener);
    const made = names.map(
      (name): TreeEntry => ({ directory, name, path: join(workspace.root, name) }),
    );
    return { parent, made };
  }

  it("are copied and removed with their symlinks, which are not followed", async () => {
    const { parent, made } = await spots("tree", "copy");
    const [tree, copy] = made;
    if (tree === undefined || copy === undefined) throw new Error("No spots.");
    const inventory = await copyTree(tree, copy);
    expect([...inventory.keys()].sort()).toEqual(["", "/link", "/sub", "/sub/x"]);
    expect(await namesBelow(join(workspace.root, "copy"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(tree, inventory);
    expect(await namesBelow(workspace.root)).toEqual([
      "copy",
      "copy/link",
      "copy/sub",
      "copy/sub/x",
    ]);
    await removeTree(copy);
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
    const { parent, made } = await spots("tree", "copy");
    const [tree, copy] = made;
    if (tree === undefined || copy === undefined) throw new Error("No spots.");
    const inventory = await copyTree(tree, copy);
    await change(workspace.root);
    expect(await refusal(removeTree(tree, inventory))).toMatchObject({ kind: "conflict" });
    expect(await namesBelow(workspace.root)).toContain(kept);
    await parent.close();
  });

  it("are copied to and from our own directory, without following symlinks there", async () => {
    const { parent, made } = await spots("tree", "back");
    const [tree, back] = made;
    if (tree === undefined || back === undefined) throw new Error("No spots.");
    const own = ownDirectory(workspace.outside);
    const image = { directory: own, name: "image", path: join(workspace.outside, "image") };
    execFileSync("mkfifo", [join(workspace.root, "tree", "pipe")]);
    expect(await refusal(copyTree(tree, image))).toMatchObject({ code: "special_file" });
    await removeTree(image);
    const skipped: string[] = [];
    await copyTree(tree, image, { skipped: (key) => skipped.push(key) });
    expect(skipped).toEqual(["/pipe"]);
    await copyTree(image, back);
    expect(await namesBelow(join(workspace.root, "back"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(image);
    const signal = AbortSignal.abort(new Error("taken back"));
    await expect(copyTree(tree, image, { signal })).rejects.toThrow("taken back");
    await parent.close();
  });
});
