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

it("lists the newest files first", async () => {
  const names = ["z.txt", "b/new.log", "a.txt", "b/c/old.txt", "oldest"];
  const { tree, paths } = await agedTree(names);
  expect(paths(await newestFiles({ guard: tree.guard, ignored: [] }))).toEqual(names);
});

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

it("lists at most 100 files", async () => {
  const { tree } = await agedTree(Array.from({ length: 120 }, (_, at) => `f${at}`));
  expect(await newestFiles({ guard: tree.guard, ignored: [] })).toHaveLength(100);
});

it("lists a file once if allowed directories contain each other", async () => {
  const { tree, paths } = await agedTree(["sub/a.txt", "b.txt"]);
  const configured = [tree.root, tree.at("sub")].map((path) => ({
    path,
    source: "argument" as const,
  }));
  const guard = createPathGuard(new DirectoryAllowlist({ mode: "off", configured }));
  expect(paths(await newestFiles({ guard, ignored: [] }))).toEqual(["sub/a.txt", "b.txt"]);
});
