import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import directoryTree from "./directory-tree.ts";

it("draws a tree to a depth, without excluded and ignored entries", async () => {
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
