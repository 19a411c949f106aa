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

it("puts its line on a separate line if the file has no final newline", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "[All 9 lines. File: fake.]");
  const answer = texts(await use(readTextFile, files, { path: "a.txt" })).join("");
  expect(answer.split("\n")).toHaveLength(2);
  expect(answer.split("\n").at(-1)).toMatch(
    /^\[The only line\. No newline at the end of the file\. File: 26 B/,
  );
  await put("empty.txt", "");
  expect(texts(await use(readTextFile, files, { path: "empty.txt" }))).toHaveLength(1);
});

it("stays within the budget, and within the larger limit for ranges", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "some words on a line\n".repeat(10_000));
  const length = async (args: { head?: number; limit?: number }) =>
    texts(await use(readTextFile, files, { path: "a.txt", ...args })).join("").length;
  expect(await length({})).toBeLessThanOrEqual(20_000);
  expect(await length({})).toBeGreaterThan(19_000);
  expect(await length({ limit: 9000 })).toBeGreaterThan(78_000);
  expect(await length({ limit: 9000 })).toBeLessThanOrEqual(80_000);
});

it("accepts the official parameters and a range", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "1\n2\n3\n4\n");
  expect(texts(await use(readTextFile, files, { path: "a.txt", head: 1 }))[0]).toBe("1\n");
  expect(texts(await use(readTextFile, files, { path: "a.txt", tail: 2 }))[0]).toBe("3\n4\n");
  const numbered = await use(readTextFile, files, {
    path: "a.txt",
    offset: 2,
    limit: 2,
    line_numbers: true,
  });
  expect(texts(numbered)[0]).toBe("2\t2\n3\t3\n");
  expect(readTextFile.aliases).toEqual(["read_file"]);
});
