import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listChanges from "./list-changes.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

it("list_changes lists changes newest first with sizes, in pages", async () => {
  const { files, at } = await scratch();
  for (const name of ["a", "b", "c"]) {
    await files.write({ path: at(name), content: name, mode: "overwrite", create_parents: false });
  }
  const first = String(await use(listChanges, files, { limit: 2 }));
  const [c, b, facts] = first.split("\n");
  expect(c).toMatch(new RegExp(`^\\w{9}-\\w{6} \\d{4}-.*Z create ${at("c")} \\(nothing → 1 B\\)$`));
  expect(b).toContain(at("b"));
  expect(facts).toMatch(/^\[2 changes\. Continue with cursor="[\w-]+"\.\]$/);
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  const second = String(await use(listChanges, files, { limit: 2, cursor }));
  expect(second).toMatch(new RegExp(`create ${at("a")} .*\\n\\[1 change\\.\\]$`));
});

it("undo_change undoes a change, and refuses if the file has changed since", async () => {
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
