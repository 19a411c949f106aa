import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchText from "./search-text.ts";

it("finds lines, files and counts, in all of the first directory by default", async () => {
  const { files, put, at } = await scratch();
  await put("a.ts", "one\nconst needle = 1;\ntwo\nthree\nfour\nfive\nneedle\n[9 lines in 9 files.]\n");
  await put("b.md", "Needle\nneedle\n");
  const search = (args: Partial<Parameters<typeof searchText.run>[0]>) =>
    use(searchText, files, { pattern: "needle", ...args });
  expect(await search({ context: 1 })).toBe(
    [
      at("a.ts"),
      "1-one",
      "2:const needle = 1;",
      "3-two",
      "--",
      "6-five",
      "7:needle",
      "8-[9 lines in 9 files.]",
      at("b.md"),
      "1-Needle",
      "2:needle",
      "[3 lines in 2 files.]",
    ].join("\n"),
  );
  const first = String(await search({ limit: 1, mode: "files" }));
  expect(first).toMatch(/\/a\.ts\n\[3 lines in 2 files\. Continue with cursor="[\w-]+"\.\]$/);
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  expect(await search({ limit: 1, mode: "files", cursor })).toBe(`${at("b.md")}\n[The end.]`);
  expect(await search({ mode: "counts", ignore_case: true })).toBe(
    `2 ${at("a.ts")}\n2 ${at("b.md")}\n[4 lines in 2 files.]`,
  );
  expect(await search({ mode: "files", glob: "*.md" })).toBe(`${at("b.md")}\n[1 line in 1 file.]`);
  expect(await search({ pattern: "= 1;", literal: true })).toContain("[1 line in 1 file.]");
  expect(await search({ pattern: "absent" })).toMatch(
    /^\[0 lines in 0 files\. Ignored files were not searched/,
  );
  await put("c.txt", `${"x".repeat(1000)}needle\n`);
  expect(await search({ path: "c.txt" })).toMatch(/\n1 \(column 1001\):…x+needle\n/);
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
