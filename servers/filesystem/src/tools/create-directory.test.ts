import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import createDirectory from "./create-directory.ts";

it("creates what is missing and says what it created", async () => {
  const { files, at } = await scratch();
  const first = createDirectory.output?.parse(await use(createDirectory, files, { path: "a/b" }));
  expect(first).toEqual({ path: at("a/b"), created: [at("a"), at("a/b")], change_id: expect.any(String) });
  const second = createDirectory.output?.parse(await use(createDirectory, files, { path: "a/b" }));
  expect(second).toEqual({ path: at("a/b"), created: [] });
});
