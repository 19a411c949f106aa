import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { texts, use } from "../../test/use.ts";
import compareFiles from "./compare-files.ts";
import readMediaFile from "./read-media-file.ts";
import readMultipleFiles from "./read-multiple-files.ts";
import readTextFile from "./read-text-file.ts";

it("read_text_file returns the file's text alone, and its own line last", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "one\ntwo\n");
  const [text, facts] = texts(await use(readTextFile, files, { path: "a.txt" }));
  expect(text).toBe("one\ntwo\n");
  expect(facts).toMatch(
    /^\[All 2 lines\. File: 8 B, utf-8, LF line endings, hash [0-9a-f]{16}\.\]$/,
  );
});

it("read_multiple_files returns texts and errors in order, within the budget", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "alpha\n");
  await put("long.txt", "words\n".repeat(20_000));
  const [answer = ""] = texts(
    await use(readMultipleFiles, files, { paths: ["a.txt", "none.txt", "long.txt"] }),
  );
  expect(answer).toMatch(/1\/3 a\.txt \[The only line\..*\]\nalpha\n=== /);
  expect(answer).toMatch(/2\/3 none\.txt \[Error: .*does not exist/);
  expect(answer).toMatch(/3\/3 long\.txt \[Lines 1–[\d,]+ of 20,000\. Continue with offset=\d+\./);
  expect(answer.length).toBeLessThanOrEqual(20_000);
});

const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");

it("read_media_file shows an image, links to large files, and refers to another tool for text", async () => {
  const { files, put, at } = await scratch();
  await put("a.png", PNG);
  expect(await use(readMediaFile, files, { path: "a.png" })).toEqual([
    { type: "image", data: PNG.toString("base64"), mimeType: "image/png" },
  ]);
  await put("large.png", Buffer.concat([PNG, Buffer.alloc(4_000_000)]));
  expect(await use(readMediaFile, files, { path: "large.png" })).toEqual([
    {
      type: "resource_link",
      uri: `file://${at("large.png")}`,
      name: "large.png",
      mimeType: "image/png",
      size: 4_000_029,
    },
    {
      type: "text",
      text: `[A link only: image/png, 3.8 MiB, more than the 3.6 MiB that can be shown; scale it down with another program first. file://${at("large.png")}]`,
    },
  ]);
  await put("a.txt", "text");
  await expect(use(readMediaFile, files, { path: "a.txt" })).rejects.toMatchObject({
    hint: "Use read_text_file.",
  });
});

it("read_media_file shows an SVG as text", async () => {
  const { files, put } = await scratch();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>\n';
  await put("a.svg", svg);
  expect(await use(readMediaFile, files, { path: "a.svg" })).toBe(svg);
});

it("compare_files shows the diff of two files, and other differences", async () => {
  const { files, put } = await scratch();
  const from = await put("a.txt", "one\ntwo\n");
  const to = await put("b.txt", "one\r\n2\r\n");
  expect(texts(await use(compareFiles, files, { from, to })).join("")).toBe(
    `--- ${from}\n+++ ${to}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n` +
      "[1 line added, 1 removed. They differ in line endings.]",
  );
  await put("b.txt", "\uFEFFone\r\ntwo\r\n");
  expect(texts(await use(compareFiles, files, { from, to })).join("")).toBe(
    `[${from} and ${to} have the same lines. They differ in byte order mark, line endings.]`,
  );
  await put("b.txt", Buffer.from([0, 1, 2]));
  await expect(use(compareFiles, files, { from, to })).rejects.toMatchObject({ kind: "invalid" });
});
