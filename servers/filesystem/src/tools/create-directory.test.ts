import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import createDirectory from "./create-directory.ts";

it("creates missing directories and lists them", async () => {
  const { files, at } = await scratch();
  const first = String(await use(createDirectory, files, { path: "a/b" }));
  expect(first).toMatch(new RegExp(`^Created "${at("a")}", "${at("a/b")}"\\. Change \\w+-\\w+\\.$`));
  const second = await use(createDirectory, files, { path: "a/b" });
  expect(second).toBe(`"${at("a/b")}" already exists.`);
});
