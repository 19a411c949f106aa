import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("renames, retypes and merges, all or nothing", async () => {
  const { data, failure } = await circle();
  const renamed = await data("update_entities", {
    updates: [{ name: "Ada", new_name: "Countess", new_type: "noble" }],
  });
  expect(renamed).toMatchObject({
    updated: [
      {
        before: { name: "Ada", entityType: "person" },
        after: { name: "Countess", entityType: "noble" },
      },
    ],
  });
  expect(await data("open_nodes", { names: ["Bo"] })).toMatchObject({
    relations: [
      { from: "Countess", to: "Bo" },
      { from: "Bo", to: "Cy" },
    ],
  });
  expect(await failure("update_entities", { updates: [{ name: "Bo", new_name: "Cy" }] })).toMatch(
    /taken.*\n.*merge_into "Cy"/,
  );
  expect(
    await data("update_entities", { updates: [{ name: "Bo", merge_into: "Cy" }] }),
  ).toMatchObject({
    updated: [{ name: "Cy", moved: { observations: 1, relations: 1 } }],
  });
  expect(await failure("update_entities", { updates: [{ name: "Cy" }] })).toContain(
    "changes nothing",
  );
});
