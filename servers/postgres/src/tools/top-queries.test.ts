import { expect, it } from "vitest";
import { shop } from "../../test/shop.ts";

const at = shop();

it("explains what to do without pg_stat_statements", async () => {
  const answer = await at.data("pg_top_queries", { limit: 3 });
  expect(answer.queries).toEqual([]);
  expect(answer.note).toMatch(/pg_stat_statements/);
});
