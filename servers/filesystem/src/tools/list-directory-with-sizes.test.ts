import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listDirectoryWithSizes from "./list-directory-with-sizes.ts";

it("lists sizes, times and the total, largest first on request", async () => {
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
