import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

it("takes a change back, and refuses where the file has changed since", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "old");
  const written = writeFile.output?.parse(await use(writeFile, files, { path: "a.txt", content: "new" }));
  const id = written?.change_id ?? "";
  const undone = undoChange.output?.parse(await use(undoChange, files, { id }));
  expect(undone).toEqual({
    undone: id,
    result: `"${at("a.txt")}" has its content from before again.`,
    change_id: expect.any(String),
  });
  expect(await read("a.txt")).toBe("old");
  await put("a.txt", "by hand");
  await expect(use(undoChange, files, { id: undone?.change_id ?? "" })).rejects.toMatchObject({
    kind: "conflict",
  });
});
