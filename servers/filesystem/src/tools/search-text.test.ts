import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchText from "./search-text.ts";

it("finds lines, files and counts, in all of the first directory by default", async () => {
  const { files, put, root } = await scratch();
  const note = `Paths are relative to ${root}.`;
  await put(
    "a.ts",
    "one\nconst needle = 1;\ntwo\nthree\nfour\nfive\nneedle\n[9 lines in 9 files.]\n",
  );
  await put("b.md", "Needle\nneedle\n");
  const search = (args: Partial<Parameters<typeof searchText.run>[0]>) =>
    use(searchText, files, { pattern: "needle", ...args });
  expect(await search({ context: 1 })).toBe(
    [
      "a.ts",
      "1-one",
      "2:const needle = 1;",
      "3-two",
      "--",
      "6-five",
      "7:needle",
      "8-[9 lines in 9 files.]",
      "b.md",
      "1-Needle",
      "2:needle",
      `[3 lines in 2 files. ${note}]`,
    ].join("\n"),
  );
  const first = String(await search({ limit: 1, mode: "files" }));
  expect(first).toMatch(
    /^a\.ts\n\[1 of 2 files; 3 lines in all\. Continue with cursor="[\w-]+"\. Paths are/,
  );
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  expect(await search({ limit: 1, mode: "files", cursor })).toBe(`b.md\n[The end. ${note}]`);
  expect(await search({ mode: "counts", ignore_case: true })).toBe(
    `2 a.ts\n2 b.md\n[4 lines in 2 files. ${note}]`,
  );
  expect(await search({ limit: 1 })).toMatch(/\n\[1 of 3 lines in 1 of 2 files\. Continue/);
  expect(await search({ limit: 2, glob: "*.ts", ignore_case: true, pattern: "n" })).toContain(
    "\n[2 of 4 lines in 1 file. Continue",
  );
  expect(await search({ mode: "files", glob: "*.md" })).toBe(`b.md\n[1 line in 1 file. ${note}]`);
  expect(await search({ pattern: "= 1;", literal: true })).toContain("[1 line in 1 file. ");
  expect(await search({ pattern: "absent" })).toBe("[0 lines in 0 files.]");
  await put(".gitignore", "*.log\n");
  await put("a.log", "absent\n");
  expect(await search({ pattern: "absent" })).toMatch(
    /^\[0 lines in 0 files\. 1 ignored entry was not searched; include_ignored=true/,
  );
  // A text in GBK.
  await put(
    "gbk.txt",
    Buffer.from(
      "cfeec4bfd4a4cbe3a3ba34373131a3accac7c8a5c4eab5c4c1bdb1b6a3acced2c3c7d0e8d2aab8fcb6e0b5c4d7cabdf0a1a3",
      "hex",
    ),
  );
  expect(await search({ pattern: "预算" })).toBe(
    `gbk.txt\n1:项目预算：4711，是去年的两倍，我们需要更多的资金。\n[1 line in 1 file. ${note}]`,
  );
  await put("c.txt", `${"x".repeat(1000)}needle\n`);
  expect(await search({ path: "c.txt" })).toMatch(/\n1 \(column 1001\):…x+needle\n/);
  await files.close();
});

it("names files by paths that other tools accept, and that no numbered line can imitate", async () => {
  const { files, put } = await scratch();
  for (const name of ["12:x", "[end]", "~/y", "--", "sub/a.ts"]) await put(name, "needle\n");
  const found = String(
    await use(searchText, files, { path: ".", pattern: "needle", mode: "files" }),
  );
  const names = found.split("\n").slice(0, -1);
  expect(names).toEqual(["./--", "./12:x", "./[end]", "sub/a.ts", "./~/y"]);
  for (const path of names)
    expect((await files.readText(path, { maxChars: 100 })).text).toBe("needle\n");
  await files.close();
});

it("refuses an invalid pattern, with an alternative", async () => {
  const { files } = await scratch();
  await expect(use(searchText, files, { pattern: "f(" })).rejects.toMatchObject({
    kind: "invalid",
    message: 'The pattern "f(" is invalid. Unterminated group.',
    hint: expect.stringContaining("literal=true"),
  });
});
