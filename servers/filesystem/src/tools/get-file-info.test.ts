import { chmod, link, symlink, utimes } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import getFileInfo from "./get-file-info.ts";

it("returns what is known, without empty fields", async () => {
  const { files, put, at } = await scratch();
  const path = await put("a.txt", "one\n");
  await link(path, at("b.txt"));
  await chmod(path, 0o644);
  await utimes(path, 1000, 2000);
  const info = String(await use(getFileInfo, files, { path: "a.txt" }));
  expect(info.split("\n")).toEqual(
    expect.arrayContaining([
      `path: ${path}`,
      "type: file",
      "size: 4",
      "mime: text/plain",
      "encoding: utf-8",
      "line_endings: lf",
      "lines: 1",
      "hard_links: 2",
      "permissions: rw-r--r--",
      "writable: true",
      "modified: 1970-01-01T00:33:20.000Z",
    ]),
  );
  expect(info).not.toMatch(/null|undefined/);
  await symlink("/nowhere", at("out"));
  expect(await use(getFileInfo, files, { path: "out" })).toMatch(
    /type: link\nlink_target: \/nowhere \(outside, or missing\)\n/,
  );
});

it("counts the files below a directory and their bytes, without following symlinks", async () => {
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

it("names the largest folders", async () => {
  const { files, put } = await scratch();
  await put("dir/a.txt", "one\n");
  await put("dir/sub/b.txt", "one\n");
  await put("dir/more/c/d.txt", "one two\n");
  const info = String(await use(getFileInfo, files, { path: "dir" }));
  expect(info).toContain("\nlargest_folders: more/ 8 B, sub/ 4 B\n");
});
