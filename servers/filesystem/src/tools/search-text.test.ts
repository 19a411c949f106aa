import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import searchText from "./search-text.ts";

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
