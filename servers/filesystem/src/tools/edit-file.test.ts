import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import editFile from "./edit-file.ts";

it("edits and answers the diff, counts and how to undo it", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "one\ntwo\n");
  const answer = editFile.output?.parse(
    await use(editFile, files, { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] }),
  );
  expect(answer).toEqual({
    path: at("a.txt"),
    diff: `--- ${at("a.txt")}\n+++ ${at("a.txt")}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n`,
    lines_added: 1,
    lines_removed: 1,
    replacements: 1,
    hash: expect.any(String),
    change_id: expect.any(String),
  });
  expect(await read("a.txt")).toBe("one\n2\n");
});

it("changes nothing with dryRun, and keeps a large diff within the budget", async () => {
  const { files, put, read } = await scratch();
  const content = `${'"quoted"\tword\n'.repeat(10)}\n`.repeat(1000);
  await put("a.txt", content);
  const edits = [{ oldText: "word", newText: "changed" }];
  const answer = editFile.output?.parse(
    await use(editFile, files, { path: "a.txt", edits, dryRun: true, replace_all: true }),
  );
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(20_000);
  expect(answer).toMatchObject({ dry_run: true, replacements: 10_000, hidden_hunks: expect.any(Number) });
  expect(await read("a.txt")).toBe(content);
});
