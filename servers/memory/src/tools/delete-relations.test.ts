import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("deletes relations and keeps the entities", async () => {
  const { data, failure } = await circle();
  const relations = [{ from: "Ada", to: "Bo", relationType: "knows" }];
  expect(await data("delete_relations", { relations })).toMatchObject({
    success: true,
    deleted: { relations: 1 },
  });
  expect(await failure("delete_relations", { relations })).toContain('"Ada knows Bo"');
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 3, relations: 1 } });
});
