import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import createDirectory from "./create-directory.ts";
import undoChange from "./undo-change.ts";

it("creates parents as one change, which one undo removes", async () => {
  const { files, list, at } = await scratch();
  const answer = String(await use(createDirectory, files, { path: "a/b/c" }));
  await use(undoChange, files, { id: /Change ([\w-]+)/.exec(answer)?.[1] ?? "" });
  expect(await list()).toEqual([]);
  await writeFile(at("file"), "a");
  await expect(use(createDirectory, files, { path: "file/c" })).rejects.toThrow();
  expect(await list()).toEqual(["file"]);
});
