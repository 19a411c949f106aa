import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("returns a small graph in full and pages through a large one", async () => {
  const { data } = await circle();
  expect(await data("read_graph")).toMatchObject({
    entities: ["Ada", "Bo", "Cy"].map((name) => ({ name, observations: [`${name} likes tea`] })),
    relations: [{ from: "Ada" }, { from: "Bo" }],
  });
  const first = await data("read_graph", { limit: 2 });
  expect(first).toMatchObject({
    entities: [{ name: "Ada" }, { name: "Bo" }],
    total: { entities: 3 },
  });
  expect(await data("read_graph", { limit: 2, cursor: first.next_cursor })).toMatchObject({
    entities: [{ name: "Cy" }],
  });
});
