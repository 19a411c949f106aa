import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("adds facts, reports duplicates, and adds nothing if one entity is unknown", async () => {
  const { data, failure } = await circle();
  expect(
    await data("add_observations", {
      observations: [{ entityName: "Ada", contents: ["Ada likes tea", "plays chess"] }],
    }),
  ).toMatchObject({
    results: [
      { entityName: "Ada", addedObservations: ["plays chess"], duplicates: ["Ada likes tea"] },
    ],
  });
  const observations = [
    { entityName: "Bo", contents: ["new"] },
    { entityName: "Nobody", contents: ["new"] },
  ];
  expect(await failure("add_observations", { observations })).toMatch(
    /no entity "Nobody".*\n.*create_entities/,
  );
  expect(await data("search_nodes", { query: "new" })).toMatchObject({ total: 0 });
});
