import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { texts, use } from "../../test/use.ts";
import readTextFile from "./read-text-file.ts";

it("returns the file's text alone, and its own line last", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "one\ntwo\n");
  const [text, facts] = texts(await use(readTextFile, files, { path: "a.txt" }));
  expect(text).toBe("one\ntwo\n");
  expect(facts).toMatch(
    /^\[All 2 lines\. File: 8 B, utf-8, LF line endings, hash [0-9a-f]{16}\.\]$/,
  );
});
