import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("reports the contents and the location", async () => {
  const { data, folder } = await circle();
  await data("delete_entities", { entityNames: ["Cy"] });
  expect(await data("memory_stats")).toMatchObject({
    location: expect.stringContaining(folder),
    total: { entities: 2, observations: 2, relations: 1 },
    entity_types: [{ type: "person", count: 2 }],
  });
});

it("keeps spaces apart", async () => {
  const { data } = await circle({ args: ["--space", "work"] });
  expect(await data("memory_stats")).toMatchObject({
    location: expect.stringMatching(/memory\.work\.db$/),
  });
});
