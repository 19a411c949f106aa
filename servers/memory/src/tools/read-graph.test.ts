import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("returns a small graph in full and pages through a large one", async () => {
  const { data, failure } = await circle();
  expect(await data("read_graph")).toEqual({
    entities: ["Ada", "Bo", "Cy"].map((name) => ({
      name,
      entityType: "person",
      observations: [`${name} likes tea`],
      learned: [expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)],
    })),
    relations: [
      { from: "Ada", to: "Bo", relationType: "knows" },
      { from: "Bo", to: "Cy", relationType: "knows" },
    ],
  });
  const first = await data("read_graph", { limit: 2 });
  expect(first).toMatchObject({
    entities: [{ name: "Ada", observation_count: 1 }, { name: "Bo" }],
    total: { entities: 3 },
    note: expect.stringContaining("2 of 3 entities, without their observations"),
  });
  expect(await data("read_graph", { limit: 2, cursor: first.next_cursor })).toMatchObject({
    entities: [{ name: "Cy" }],
  });
  expect(await failure("open_nodes", { names: ["Ada"], cursor: first.next_cursor })).toContain(
    "a different call",
  );
});
