import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listChanges from "./list-changes.ts";

it("lists changes newest first with sizes, in pages", async () => {
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

it("shows what each change did to a text file, as far as known", async () => {
  const { files, at, put } = await scratch();
  const path = await put("a.txt", "one\ntwo\n");
  const write = (content: string) =>
    files.write({ path, content, mode: "overwrite", create_parents: false });
  await write("one\n2\n");
  await write("uno\n2\n");
  const deleted = await files.delete(path);
  const diffs = async () => {
    const answer = String(await use(listChanges, files, { diff: true }));
    return answer.split("\n").filter((line) => /^[-+@ ](?![-+])/.test(line));
  };
  expect(await diffs()).toEqual([
    ...["@@ -1,2 +0,0 @@", "-uno", "-2"],
    ...["@@ -1,2 +1,2 @@", "-one", "+uno", " 2"],
    ...["@@ -1,2 +1,2 @@", " one", "-two", "+2"],
  ]);
  await files.undo(deleted.receipt?.changeId ?? "");
  await put("a.txt", "by somebody else");
  // The result of the first change is known from the second; that of the second is gone.
  expect(await diffs()).toEqual(expect.arrayContaining(["-two", "+2"]));
  expect(await diffs()).not.toContain("+uno");
  expect(at("a.txt")).toBe(path);
});

it("stays within the budget", async () => {
  const { files, at } = await scratch();
  for (let index = 0; index < 150; index++) {
    await files.write({
      path: at("n".repeat(150) + index),
      content: "x\n".repeat(100),
      mode: "overwrite",
      create_parents: false,
    });
  }
  const answer = String(await use(listChanges, files, { limit: 200, diff: true }));
  expect(answer.length).toBeLessThanOrEqual(20_000);
  expect(answer).toContain("Continue with cursor=");
});
