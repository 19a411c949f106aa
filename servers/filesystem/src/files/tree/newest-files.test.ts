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

it("lists the newest files first, in pages that do not overlap", async () => {
  const names = ["z.txt", "b/new.log", "a.txt", "b/c/old.txt", "oldest"];
  const { tree, paths } = await agedTree(names);
  const first = await newestFiles({ guard: tree.guard, ignored: [] }, { page: 2 });
  const second = await newestFiles(
    { guard: tree.guard, ignored: [] },
    { page: 2, cursor: first.next_cursor },
  );
  const third = await newestFiles(
    { guard: tree.guard, ignored: [] },
    { page: 2, cursor: second.next_cursor },
  );
  expect([first, second, third].map(({ files }) => paths(files))).toEqual([
    names.slice(0, 2),
    names.slice(2, 4),
    names.slice(4),
  ]);
  expect(third.next_cursor).toBeUndefined();
  await expect(
    newestFiles({ guard: tree.guard, ignored: [] }, { cursor: "damaged" }),
  ).rejects.toMatchObject({
    kind: "invalid",
  });
});

it("lists logs that ignore files hide, but not those that the option hides", async () => {
  const { tree, paths } = await agedTree(["a.log", "b.log", "c.tmp"]);
  await tree.add({ ".gitignore": "*.log\n*.tmp\n" });
  expect(paths((await newestFiles({ guard: tree.guard, ignored: ["b.*"] }, {})).files)).toEqual([
    "a.log",
  ]);
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
  expect(paths((await newestFiles({ guard: tree.guard, ignored: ["*.log"] }, {})).files)).toEqual([
    "a.txt",
  ]);
});

it("lists at most 300 files in all pages together", async () => {
  const { tree } = await agedTree(Array.from({ length: 320 }, (_, at) => `f${at}`));
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await newestFiles({ guard: tree.guard, ignored: [] }, { cursor });
    for (const { path } of page.files) seen.add(path);
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== undefined);
  expect([seen.size, pages]).toEqual([300, 3]);
});

it("lists a file once if allowed directories contain each other", async () => {
  const { tree, paths } = await agedTree(["sub/a.txt", "b.txt"]);
  const configured = [tree.root, tree.at("sub")].map((path) => ({
    path,
    source: "argument" as const,
  }));
  const guard = createPathGuard(new DirectoryAllowlist({ mode: "off", configured }));
  expect(paths((await newestFiles({ guard, ignored: [] }, {})).files)).toEqual([
    "sub/a.txt",
    "b.txt",
  ]);
});
