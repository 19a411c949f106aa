import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listDirectoryWithSizes from "./list-directory-with-sizes.ts";

it("tells sizes, times and their sum, the largest first where asked", async () => {
  const { files, root, put } = await scratch();
  await put("small", "1");
  await put("large", "12345");
  await put("folder/x", "123");
  const answer = await use(listDirectoryWithSizes, files, { path: root, sortBy: "size" });
  const modified = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(listDirectoryWithSizes.output?.parse(answer)).toEqual({
    path: root,
    entries: [
      { name: "large", type: "file", size: 5, modified },
      { name: "small", type: "file", size: 1, modified },
      { name: "folder", type: "directory", modified },
    ],
    total: 3,
    total_files: 2,
    total_directories: 1,
    total_size: 6,
  });
});
