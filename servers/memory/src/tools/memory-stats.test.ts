import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("reports the contents and the location, of each space", async () => {
  const { data } = await circle({ args: ["--space", "work"] });
  expect(await data("memory_stats")).toMatchObject({
    location: expect.stringMatching(/memory\.work\.db$/),
    total: { entities: 3, observations: 3, relations: 2 },
    entity_types: [{ type: "person", count: 3 }],
  });
});
