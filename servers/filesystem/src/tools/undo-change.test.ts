import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

it("undoes a change, and refuses if the file has changed since", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "old");
  const idOf = (answer: unknown) => /Change (\w+-\w+)\./.exec(String(answer))?.[1] ?? "";
  const id = idOf(await use(writeFile, files, { path: "a.txt", content: "new" }));
  const undone = await use(undoChange, files, { id });
  expect(undone).toMatch(
    new RegExp(
      `^Undid ${id}: "${at("a.txt")}" was restored to its previous content\\. Change \\w+-\\w+\\.$`,
    ),
  );
  expect(await read("a.txt")).toBe("old");
  await put("a.txt", "by hand");
  await expect(use(undoChange, files, { id: idOf(undone) })).rejects.toMatchObject({
    kind: "conflict",
  });
});
