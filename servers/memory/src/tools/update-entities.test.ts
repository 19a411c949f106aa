import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("renames, retypes and merges", async () => {
  const { data } = await circle();
  const renaming = { name: "Ada", new_name: "Countess", new_type: "noble" };
  const updates = [renaming, { name: "Bo", merge_into: "Cy" }];
  expect(await data("update_entities", { updates })).toMatchObject({
    updated: [
      { before: { name: "Ada" }, after: { name: "Countess", entityType: "noble" } },
      { name: "Cy", moved: { observations: 1, relations: 1 } },
    ],
  });
});
