import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listChanges from "./list-changes.ts";

it("lists changes newest first, in pages", async () => {
  const { files, at } = await scratch();
  for (const name of ["a", "b", "c"]) {
    await files.write({ path: at(name), content: name, mode: "overwrite", createParents: false });
  }
  const first = listChanges.output?.parse(await use(listChanges, files, { limit: 2 }));
  expect(first?.changes).toEqual([
    {
      id: expect.any(String),
      time: expect.stringMatching(/Z$/),
      action: "create",
      path: at("c"),
      size_after: 1,
    },
    { id: expect.any(String), time: expect.any(String), action: "create", path: at("b"), size_after: 1 },
  ]);
  const second = listChanges.output?.parse(
    await use(listChanges, files, { limit: 2, cursor: first?.next_cursor }),
  );
  expect(second?.changes.map(({ path }) => path)).toEqual([at("a")]);
  expect(second?.next_cursor).toBeUndefined();
});

it("keeps to the budget", async () => {
  const { files, at } = await scratch();
  for (let index = 0; index < 150; index++) {
    await files.write({
      path: at("n".repeat(150) + index),
      content: "x",
      mode: "overwrite",
      createParents: false,
    });
  }
  const answer = listChanges.output?.parse(await use(listChanges, files, { limit: 200 }));
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(20_000);
  expect(answer?.next_cursor).toBeDefined();
});
