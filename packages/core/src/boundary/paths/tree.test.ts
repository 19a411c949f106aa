import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Ground,
  makeGround,
  namesBelow,
  refusal,
  verifications,
} from "../../../test/fixtures/boundary.ts";
import { membershipOf } from "./membership.ts";
import { portableOpener } from "./opener-portable.ts";
import { procOpener } from "./opener-proc.ts";
import { ownDirectory } from "./own-directory.ts";
import { copyTree, removeTree, type Spot } from "./tree.ts";

const openers = { proc: procOpener, portable: portableOpener };

describe.each(verifications)("trees, verified by %s", (verification) => {
  let ground: Ground;
  beforeEach(async () => {
    ground = await makeGround();
    await mkdir(join(ground.root, "tree", "sub"), { recursive: true });
    await writeFile(join(ground.root, "tree", "sub", "x"), "X");
    await symlink(ground.outside, join(ground.root, "tree", "link"));
  });
  afterEach(async () => {
    expect(await readFile(ground.secret, "utf8")).toBe("SECRET");
    await ground.remove();
  });

  async function spots(...names: string[]) {
    const opener = openers[verification](ground.bound, membershipOf(ground.bound, process.platform));
    const parent = await opener.openDirectory(ground.root, ground.root);
    const made = names.map((name): Spot => ({ parent, name, path: join(ground.root, name) }));
    return { opener, parent, made };
  }

  it("are copied and removed with their links, which nobody follows", async () => {
    const { opener, parent, made } = await spots("tree", "copy");
    const [tree, copy] = made;
    if (tree === undefined || copy === undefined) throw new Error("No spots.");
    const inventory = await copyTree(tree, copy, opener);
    expect([...inventory.keys()].sort()).toEqual(["", "/link", "/sub", "/sub/x"]);
    expect(await namesBelow(join(ground.root, "copy"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(tree, opener, inventory);
    expect(await namesBelow(ground.root)).toEqual(["copy", "copy/link", "copy/sub", "copy/sub/x"]);
    await removeTree(copy, opener);
    expect(await namesBelow(ground.root)).toEqual([]);
    await parent.close();
  });

  it.each([
    ["is new", (root: string) => writeFile(join(root, "tree", "sub", "new"), "new"), "tree/sub/new"],
    ["was changed", (root: string) => writeFile(join(root, "tree", "sub", "x"), "longer"), "tree/sub/x"],
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
    await change(ground.root);
    expect(await refusal(removeTree(tree, opener, inventory))).toMatchObject({ kind: "conflict" });
    expect(await namesBelow(ground.root)).toContain(kept);
    await parent.close();
  });

  it("are copied to and from a directory of our own, without following links there", async () => {
    const { opener, parent, made } = await spots("tree", "back");
    const [tree, back] = made;
    if (tree === undefined || back === undefined) throw new Error("No spots.");
    const own = ownDirectory(ground.outside);
    const image = { parent: own, name: "image", path: join(ground.outside, "image") };
    execFileSync("mkfifo", [join(ground.root, "tree", "pipe")]);
    expect(await refusal(copyTree(tree, image, opener))).toMatchObject({ code: "special_file" });
    await removeTree(image, opener);
    const skipped: string[] = [];
    await copyTree(tree, image, opener, { skipped: (key) => skipped.push(key) });
    expect(skipped).toEqual(["/pipe"]);
    await copyTree(image, back, opener);
    expect(await namesBelow(join(ground.root, "back"))).toEqual(["link", "sub", "sub/x"]);
    await removeTree(image, opener);
    const signal = AbortSignal.abort(new Error("taken back"));
    await expect(copyTree(tree, image, opener, { signal })).rejects.toThrow("taken back");
    await parent.close();
  });
});
