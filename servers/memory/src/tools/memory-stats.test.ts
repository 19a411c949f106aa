import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("reports the contents and the location", async () => {
  const { data, folder } = await circle();
  await data("delete_entities", { entityNames: ["Cy"] });
  expect(await data("memory_stats")).toMatchObject({
    store: "sqlite",
    location: expect.stringContaining(folder),
    space: "default",
    total: { entities: 2, observations: 2, relations: 1 },
    deleted: { entities: 1, observations: 1, relations: 1 },
    entity_types: [{ type: "person", count: 2 }],
    relation_types: [{ type: "knows", count: 1 }],
    last_change: { change_id: 3 },
  });
});

it("keeps spaces apart", async () => {
  const { data } = await circle({ args: ["--space", "work"] });
  expect(await data("memory_stats")).toMatchObject({
    space: "work",
    location: expect.stringMatching(/memory\.work\.db$/),
  });
});
