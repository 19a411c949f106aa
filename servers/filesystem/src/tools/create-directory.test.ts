import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import createDirectory from "./create-directory.ts";
import undoChange from "./undo-change.ts";

it("creates missing directories and lists them", async () => {
  const { files, at } = await scratch();
  const first = String(await use(createDirectory, files, { path: "a/b" }));
  expect(first).toMatch(
    new RegExp(`^Created "${at("a")}", "${at("a/b")}"\\. Change \\w+-\\w+\\.$`),
  );
  const second = await use(createDirectory, files, { path: "a/b" });
  expect(second).toBe(`"${at("a/b")}" already exists.`);
});

it("creates many as one change, which one undo removes", async () => {
  const { files, list } = await scratch();
  const paths = Array.from({ length: 30 }, (_, i) => `top/${i % 3}/${i}`);
  const answer = String(await use(createDirectory, files, { paths }));
  expect(answer).toMatch(/ and 14 more\. Change \w+-\w+\.$/);
  expect(await list("top/2")).toHaveLength(10);
  await use(undoChange, files, { id: /Change ([\w-]+)/.exec(answer)?.[1] ?? "" });
  expect(await list()).toEqual([]);
});

it("creates none if one cannot be created, and asks for either path or paths", async () => {
  const { files, at, list } = await scratch();
  await writeFile(at("file"), "a");
  await expect(use(createDirectory, files, { paths: ["a/b", "file/c"] })).rejects.toThrow();
  expect(await list()).toEqual(["file"]);
  for (const input of [{}, { path: "a", paths: ["b"] }])
    await expect(use(createDirectory, files, input)).rejects.toThrow("needs either path or paths");
  expect(await list()).toEqual(["file"]);
});
