import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("relates entities, reports duplicates and missing entities", async () => {
  const { data, failure } = await circle();
  const relation = (from: string, to: string) => ({ from, to, relationType: "knows" });
  expect(
    await data("create_relations", { relations: [relation("Ada", "Bo"), relation("Cy", "Ada")] }),
  ).toMatchObject({
    relations: [relation("Cy", "Ada")],
    duplicates: [relation("Ada", "Bo")],
  });
  expect(await failure("create_relations", { relations: [relation("Ada", "Bob")] })).toMatch(
    /There is no entity "Bob"\. No relation was created\.\nDid you mean "Bo"\?.*on_missing create/,
  );
  expect(
    await data("create_relations", { relations: [relation("Ada", "Dee")], on_missing: "create" }),
  ).toMatchObject({
    created_entities: ["Dee"],
  });
});
