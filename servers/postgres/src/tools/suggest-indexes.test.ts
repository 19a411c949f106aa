import { expect, it } from "vitest";
import { shop } from "../../test/shop.ts";

const at = shop();

it("suggests an index for a foreign key without one, and dropping one that another covers", async () => {
  await at().sql("CREATE INDEX orders_twice ON orders (placed_at, id)");
  const { suggestions } = await at().data("pg_suggest_indexes");
  const list = suggestions as { table: string; create?: string; drop?: string }[];
  expect(list.some(({ create }) => create?.includes("customer_id"))).toBe(true);
  expect(list.some(({ drop }) => drop?.includes("orders_placed_at"))).toBe(true);
});
