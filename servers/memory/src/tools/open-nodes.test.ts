import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("opens by exact name, lists missing names, and includes neighbors", async () => {
  const { data } = await circle();
  expect(await data("open_nodes", { names: ["Cy", "Adda"], depth: 2 })).toMatchObject({
    entities: [{ name: "Cy" }, { name: "Bo" }, { name: "Ada" }],
    not_found: ["Adda"],
  });
  expect(await data("open_nodes", { names: [] })).toEqual({ entities: [], relations: [] });
});
