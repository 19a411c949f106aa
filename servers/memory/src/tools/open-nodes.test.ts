import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("opens by exact name, lists missing names, and includes neighbors", async () => {
  const { data, failure } = await circle();
  const opened = await data("open_nodes", { names: ["Cy", "Adda"] });
  expect(opened).toMatchObject({
    entities: [{ name: "Cy", observations: ["Cy likes tea"] }],
    relations: [{ from: "Bo", to: "Cy" }],
    not_found: ["Adda"],
    note: expect.stringContaining('Did you mean "Ada"?'),
  });
  const around = await data("open_nodes", { names: ["Cy"], depth: 2 });
  expect(around.entities).toMatchObject([{ name: "Cy" }, { name: "Bo" }, { name: "Ada" }]);
  expect(await failure("open_nodes", { names: ["Nobody"] })).toContain("search_nodes");
  expect(await data("open_nodes", { names: [] })).toEqual({ entities: [], relations: [] });
});
