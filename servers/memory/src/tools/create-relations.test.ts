import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("passes relations on, and what to do with missing entities", async () => {
  const { data, failure } = await circle();
  const relations = [{ from: "Ada", to: "Dee", relationType: "knows" }];
  expect(await failure("create_relations", { relations })).toContain('no entity "Dee"');
  expect(await data("create_relations", { relations, on_missing: "create" })).toMatchObject({
    relations,
    created_entities: ["Dee"],
  });
});
