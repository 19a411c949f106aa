import { symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import directoryTree from "./directory-tree.ts";
import getFileInfo from "./get-file-info.ts";
import listAllowedDirectories from "./list-allowed-directories.ts";
import listDirectory from "./list-directory.ts";
import listDirectoryWithSizes from "./list-directory-with-sizes.ts";

it("list_allowed_directories lists the directories, their origin and whether they are writable", async () => {
  const { files, root } = await scratch({ writable: false });
  expect(await use(listAllowedDirectories, files, {})).toBe(
    `Allowed directories:\n${root} (argument, read-only)`,
  );
});

it("list_directory lists entries with types and symlink targets, in pages", async () => {
  const { files, root, outside, put, at } = await scratch();
  await put("b/inner", "");
  await put("a\n[9 entries.]", "");
  await symlink(outside, at("out"));
  const first = String(await use(listDirectory, files, { path: root, limit: 2 }));
  expect(first).toMatch(
    /^\[FILE\] a\\n\[9 entries\.\]\n\[DIR\] b\n\[3 entries in .*\. Continue with cursor="[\w-]+"\.\]$/,
  );
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  expect(await use(listDirectory, files, { path: root, limit: 2, cursor })).toBe(
    `[LINK] out -> ${outside} (outside, or missing)\n[3 entries in ${root}.]`,
  );
});

it("list_directory_with_sizes lists sizes, times and the total, largest first on request", async () => {
  const { files, root, put } = await scratch();
  await put("small", "1");
  await put("large", "12345");
  await put("folder/x", "123");
  const answer = String(await use(listDirectoryWithSizes, files, { path: root, sortBy: "size" }));
  expect(answer.replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, "TIME").split("\n")).toEqual([
    "[FILE] 5 TIME large",
    "[FILE] 1 TIME small",
    "[DIR] - TIME folder",
    `[3 entries in ${root} (2 files, 1 directory, 6 bytes).]`,
  ]);
});

it("directory_tree draws a tree to a depth, without excluded and ignored entries", async () => {
  const { files, root, put } = await scratch();
  await put(".gitignore", "dist\n");
  await put("dist/x", "");
  await put("src/a/b/c.ts", "");
  await put("vendor/v", "");
  const text = await use(directoryTree, files, {
    path: root,
    excludePatterns: ["vendor"],
    max_depth: 2,
  });
  expect(text).toBe(
    [
      `${root}/`,
      "  .gitignore",
      "  src/",
      "    a/",
      "      +1 more",
      "[3 entries shown (max_depth 2, max_entries 1,000). Deeper levels: raise max_depth or ask for a subdirectory. " +
        "1 hidden by ignore rules or .git; include_ignored=true shows the ignored ones.]",
    ].join("\n"),
  );
  expect(await use(directoryTree, files, { path: root, include_ignored: true })).toContain(
    "  dist/\n    x\n",
  );
});

it("names in a tree cannot forge a line or mark", async () => {
  const displayNames = {
    "a\n  forged∕": '"a\\n  forged∕"',
    "+9 more": '"+9 more"',
    "[0 entries shown.]": '"[0 entries shown.]"',
    "link@": '"link@"',
    " space": '" space"',
    'quote"d': 'quote"d',
    '"quoted"': '"\\"quoted\\""',
    "esc\u001b[2J": '"esc\\u{1b}[2J"',
    "rtl\u202efdp": '"rtl\\u{202e}fdp"',
  };
  const { files, root, put } = await scratch();
  for (const name of Object.keys(displayNames)) await put(name, "");
  const lines = String(await use(directoryTree, files, { path: root })).split("\n");
  const expected = Object.values(displayNames).map((name) => `  ${name}`);
  expect(lines.slice(1, -1).sort()).toEqual(expected.sort());
});

it("get_file_info counts the files below a directory and their bytes, without following symlinks", async () => {
  const { files, put, at, outside } = await scratch();
  await put("dir/a.txt", "one\n");
  await put("dir/.git/b", "12345");
  await put("dir/deep/er/c.txt", "six\n\n\n");
  await symlink(outside, at("dir/out"));
  await symlink("a.txt", at("dir/again"));
  const info = String(await use(getFileInfo, files, { path: "dir" }));
  expect(info).toMatch(
    /\ntype: directory\nfiles: 3\ndirectories: 3\ntotal_size: 15\nlargest_folders: deep\/ 6 B, .git\/ 5 B\npermissions: /,
  );
});
