import { readdir } from "node:fs/promises";
import { createPathGuard, DirectoryAllowlist, withHidden } from "@refmcp/boundary";
import { expect, it } from "vitest";
import { hiddenPlaces } from "../src/files/change/trash.ts";
import { openFiles } from "../src/files/files.ts";
import deleteFile from "../src/tools/delete-file.ts";
import directoryTree from "../src/tools/directory-tree.ts";
import listDirectory from "../src/tools/list-directory.ts";
import searchFiles from "../src/tools/search-files.ts";
import searchText from "../src/tools/search-text.ts";
import writeFile from "../src/tools/write-file.ts";
import { scratch } from "./scratch.ts";
import { use } from "./use.ts";

it("no tool shows what the journal and the trash inside a root keep", async () => {
  const { root, at, put } = await scratch();
  const state = at("state");
  const allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument" }],
    mode: "off",
  });
  const hidden = hiddenPlaces([state]);
  const guard = createPathGuard(withHidden(allowed, hidden));
  const files = openFiles({ guard, journalDirectories: [state] });
  await put("a.txt", "the old words\n");
  await put("b.txt", "the old words\n");
  await put(".Trash-1000/files/c.txt", "the old words\n");
  await put("shown.txt", "the new words\n");
  await use(writeFile, files, { path: "a.txt", content: "nothing\n" });
  await use(deleteFile, files, { path: "b.txt" });
  expect(await readdir(state)).toContain("journal");
  const answers = [
    await use(searchText, files, { path: root, pattern: "words", include_ignored: true }),
    await use(searchFiles, files, { path: root, pattern: "**", include_ignored: true }),
    await use(directoryTree, files, { path: root, include_ignored: true, max_depth: 10 }),
    await use(listDirectory, files, { path: root }),
  ];
  for (const answer of answers) {
    expect(JSON.stringify(answer)).toContain("shown.txt");
    expect(JSON.stringify(answer)).not.toMatch(/old words|journal|image|Trash|c\.txt/);
  }
});
