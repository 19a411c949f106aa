import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("passes on types and times, and refuses an invalid date", async () => {
  const { data, failure } = await circle();
  const search = async (args: object) =>
    (await data("search_nodes", { query: "tea", ...args })).entities;
  expect(await search({ types: ["place"] })).toEqual([]);
  expect(await search({ since: "2100-01-01" })).toEqual([]);
  expect(await search({ since: "2020-01-01", until: "2100-01-01T00:00:00Z" })).toHaveLength(3);
  expect(await failure("search_nodes", { query: "tea", until: "tomorrow" })).toMatch(
    /until: "tomorrow" is not a valid date\.\nUse an ISO 8601/,
  );
});
