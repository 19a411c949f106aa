import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchFiles from "./search-files.ts";

it("finds names by a glob, says what is hidden, and pages", async () => {
  const { files, root, put, at } = await scratch();
  await put(".gitignore", "*.gen.ts\n");
  for (const name of ["a.ts", "src/b.ts", "src/c.gen.ts", "src/d.test.ts"]) await put(name, "");
  const request = { path: root, pattern: "*.ts", excludePatterns: ["*.test.ts"] };
  const first = searchFiles.output?.parse(await use(searchFiles, files, { ...request, limit: 1 }));
  expect(first).toEqual({
    matches: [{ path: at("a.ts"), type: "file" }],
    total: 2,
    hidden: 1,
    next_cursor: expect.any(String),
    notes: ["1 entry is hidden by ignore rules or .git; include_ignored=true shows the ignored ones."],
  });
  const second = await use(searchFiles, files, { ...request, cursor: first?.next_cursor });
  expect(second).toEqual({ matches: [{ path: at("src", "b.ts"), type: "file" }] });
  const all = searchFiles.output?.parse(await use(searchFiles, files, { ...request, include_ignored: true }));
  expect(all?.total).toBe(3);
});

it("refuses a glob that cannot be used, with what globs can say", async () => {
  const { files } = await scratch();
  await expect(use(searchFiles, files, { path: ".", pattern: "a+(b" })).rejects.toMatchObject({
    kind: "invalid",
    message: 'The glob "a+(b" cannot be used. The group +( is not closed.',
    hint: expect.stringContaining("**"),
  });
});
