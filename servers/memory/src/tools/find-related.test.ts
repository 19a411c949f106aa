import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("shows the neighbors of an entity and the path to another", async () => {
  const { data, failure } = await circle();
  expect(await data("find_related", { name: "Ada", depth: 1 })).toEqual({
    entities: [
      { name: "Ada", entityType: "person", distance: 0 },
      { name: "Bo", entityType: "person", distance: 1 },
    ],
    relations: [{ from: "Ada", to: "Bo", relationType: "knows" }],
  });
  expect(await data("find_related", { name: "Cy", to: "Ada" })).toMatchObject({
    path: ["Cy", "Bo", "Ada"],
  });
  expect(await data("find_related", { name: "Cy", to: "Ada", direction: "out" })).toMatchObject({
    entities: [],
    note: expect.stringContaining("no path within 2 steps in direction out"),
  });
  expect(await failure("find_related", { name: "Ada", to: "Bob" })).toContain('"Bob"');
});
