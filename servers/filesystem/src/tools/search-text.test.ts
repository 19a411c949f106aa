import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchText from "./search-text.ts";

it("finds lines, files and counts, in all of the first directory by default", async () => {
  const { files, put, at } = await scratch();
  await put("a.ts", "one\nconst needle = 1;\n");
  await put("b.md", "Needle\nneedle\n");
  const search = async (args: Partial<Parameters<typeof searchText.run>[0]>) =>
    searchText.output?.parse(await use(searchText, files, { pattern: "needle", ...args }));
  expect(await search({ context: 1 })).toEqual({
    files: [
      { path: at("a.ts"), matches: [{ line: 2, text: "const needle = 1;", before: ["one"] }] },
      { path: at("b.md"), matches: [{ line: 2, text: "needle", before: ["Needle"] }] },
    ],
    total_files: 2,
    total_lines: 2,
  });
  expect((await search({ mode: "counts", ignore_case: true }))?.files).toEqual([
    { path: at("a.ts"), lines: 1 },
    { path: at("b.md"), lines: 2 },
  ]);
  expect((await search({ mode: "files", glob: "*.md" }))?.files).toEqual([{ path: at("b.md") }]);
  expect((await search({ pattern: "= 1;", literal: true }))?.total_lines).toBe(1);
  await files.close();
});

it("refuses a pattern that cannot be used, with what to do instead", async () => {
  const { files } = await scratch();
  await expect(use(searchText, files, { pattern: "f(" })).rejects.toMatchObject({
    kind: "invalid",
    message: 'The pattern "f(" cannot be used. Missing closing ): `f(`.',
    hint: expect.stringContaining("literal=true"),
  });
});
