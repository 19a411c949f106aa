import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("deletes relations and keeps the entities", async () => {
  const { data } = await circle();
  const relations = [{ from: "Ada", to: "Bo", relationType: "knows" }];
  expect(await data("delete_relations", { relations })).toMatchObject({ success: true });
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 3, relations: 1 } });
});
