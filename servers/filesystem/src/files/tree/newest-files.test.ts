import { utimes } from "node:fs/promises";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { expect, it } from "vitest";
import { makeTree, type TreeContent } from "../../../test/tree.ts";
import { newestFiles } from "./newest-files.ts";

/** A tree whose file of index n is n seconds older than the first. */
async function agedTree(names: readonly string[]) {
  const tree = await makeTree(Object.fromEntries(names.map((name) => [name, "x"])));
  for (const [index, name] of names.entries())
    await utimes(tree.at(name), 0, 1_700_000_000 - index);
  const paths = (files: readonly { path: string }[]) =>
    files.map(({ path }) => path.slice(tree.root.length + 1));
  return { tree, paths };
}

it("leaves out what is hidden, ignored, installed or a link", async () => {
  const { tree, paths } = await agedTree(["a.txt"]);
  const more: TreeContent = {
    ".gitignore": "*.tmp\ndist\n",
    "b.tmp": "",
    "dist/c.js": "",
    ".env": "SECRET",
    ".ssh/id": "SECRET",
    "node_modules/d/index.js": "",
    "link.txt": { link: "a.txt" },
    "x.log": "",
  };
  await tree.add(more);
  expect(paths(await newestFiles({ guard: tree.guard, ignored: ["*.log"] }))).toEqual(["a.txt"]);
});
