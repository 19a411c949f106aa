import { symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listDirectory from "./list-directory.ts";

it("lists entries with types and symlink targets, in pages", async () => {
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
