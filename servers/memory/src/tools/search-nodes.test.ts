import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("finds by words, filters by type and time, refuses an invalid date", async () => {
  const { data, failure } = await circle();
  expect(await data("search_nodes", { query: "TEA ada" })).toEqual({
    entities: [
      {
        name: "Ada",
        entityType: "person",
        observations: ["Ada likes tea"],
        learned: [expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)],
      },
    ],
    relations: [{ from: "Ada", to: "Bo", relationType: "knows" }],
    total: 1,
  });
  expect(await data("search_nodes", { query: "tea", types: ["place"] })).toMatchObject({
    total: 0,
  });
  expect(await data("search_nodes", { query: "tea", since: "2100-01-01" })).toMatchObject({
    total: 0,
  });
  expect(
    await data("search_nodes", {
      query: "tea",
      since: "2020-01-01",
      until: "2100-01-01T00:00:00Z",
    }),
  ).toMatchObject({ total: 3 });
  expect(await failure("search_nodes", { query: "tea", until: "tomorrow" })).toMatch(
    /until: "tomorrow" is not a valid date\.\nUse an ISO 8601/,
  );
});
