import { symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listDirectory from "./list-directory.ts";

it("lists entries with types and links' targets, in pages", async () => {
  const { files, root, outside, put, at } = await scratch();
  await put("b/inner", "");
  await put("a.txt", "");
  await symlink(outside, at("out"));
  const first = listDirectory.output?.parse(await use(listDirectory, files, { path: root, limit: 2 }));
  expect(first).toEqual({
    path: root,
    entries: [
      { name: "a.txt", type: "file" },
      { name: "b", type: "directory" },
    ],
    total: 3,
    next_cursor: expect.any(String),
  });
  const second = await use(listDirectory, files, { path: root, limit: 2, cursor: first?.next_cursor });
  expect(second).toEqual({
    path: root,
    entries: [{ name: "out", type: "link", target: outside, target_inside: false }],
    total: 3,
  });
});

it("takes no more than 1,000 entries a page", async () => {
  const { files } = await scratch();
  await expect(use(listDirectory, files, { path: ".", limit: 1001 })).rejects.toThrow();
});
