import { symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import getFileInfo from "./get-file-info.ts";

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
