import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { texts, use } from "../../test/use.ts";
import compareFiles from "./compare-files.ts";

it("shows the diff of two files, and other differences", async () => {
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
