import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchFiles from "./search-files.ts";
import searchText from "./search-text.ts";

it("search_files finds names by a glob, reports hidden entries, and pages", async () => {
  const { files, root, put, at } = await scratch();
  await put(".gitignore", "*.gen.ts\n");
  for (const name of ["a.ts", "src/b.ts", "src/c.gen.ts", "src/d.test.ts", "z.ts/x"])
    await put(name, "");
  const request = { path: root, pattern: "*.ts", excludePatterns: ["*.test.ts"] };
  const first = String(await use(searchFiles, files, { ...request, limit: 1 }));
  expect(first.replace(/cursor="[\w-]+"/, "CURSOR")).toBe(
    `${at("a.ts")}\n[3 matches. Continue with CURSOR. 1 entry is hidden by ignore rules or .git; include_ignored=true shows the ignored ones.]`,
  );
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  expect(await use(searchFiles, files, { ...request, cursor })).toBe(
    `${at("src", "b.ts")}\n${at("z.ts")}/\n[The end.]`,
  );
  const all = await use(searchFiles, files, { ...request, include_ignored: true, sort: "size" });
  expect(all).toMatch(new RegExp(`^0 ${at("a.ts")}\\n[^]*\\[4 matches\\.\\]$`));
});

it("search_files refuses an invalid glob, with the supported syntax", async () => {
  const { files } = await scratch();
  await expect(use(searchFiles, files, { path: ".", pattern: "@(a|b)" })).rejects.toMatchObject({
    kind: "invalid",
    message: 'The glob "@(a|b)" is invalid. Groups such as @(a|b) are not supported; write {a,b}.',
    hint: expect.stringContaining("**"),
  });
});

it("search_text names files by paths that other tools accept, and that no numbered line can imitate", async () => {
  const { files, put } = await scratch();
  for (const name of ["12:x", "[end]", "~/y", "--", "sub/a.ts"]) await put(name, "needle\n");
  const answer = String(
    await use(searchText, files, { path: ".", pattern: "needle", mode: "files" }),
  );
  const names = answer.split("\n").slice(0, -1);
  expect(names).toEqual(["./--", "./12:x", "./[end]", "sub/a.ts", "./~/y"]);
  for (const path of names)
    expect((await files.readText(path, { maxChars: 100 })).text).toBe("needle\n");
  await files.close();
});

it("search_text refuses an invalid pattern, with an alternative", async () => {
  const { files } = await scratch();
  await expect(use(searchText, files, { pattern: "f(" })).rejects.toMatchObject({
    kind: "invalid",
    message: 'The pattern "f(" is invalid. Unterminated group.',
    hint: expect.stringContaining("literal=true"),
  });
});
