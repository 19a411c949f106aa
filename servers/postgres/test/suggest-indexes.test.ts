import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();

interface Suggestion {
  readonly table: string;
  readonly create?: string;
  readonly drop?: string;
  readonly reason: string;
}

it("suggests an index for a foreign key, and dropping a redundant one once", async () => {
  await at().sql(
    "CREATE INDEX orders_twice ON orders (placed_at, id); CREATE INDEX orders_thrice ON orders (placed_at, id, total)",
  );
  const { suggestions } = await at().data("pg_suggest_indexes");
  const list = suggestions as Suggestion[];
  expect(list.some(({ create }) => create?.includes("customer_id"))).toBe(true);
  expect(list.filter(({ drop }) => drop?.includes("orders_placed_at"))).toHaveLength(1);
});

it("suggests an index for all partitions at once, and to drop only indexes that PostgreSQL lets go", async () => {
  await at().sql(
    `CREATE TABLE pay (id int, at date, order_id bigint) PARTITION BY RANGE (at);
     CREATE TABLE pay_1 PARTITION OF pay FOR VALUES FROM ('2026-01-01') TO ('2026-07-01'); CREATE TABLE pay_2 PARTITION OF pay FOR VALUES FROM ('2026-07-01') TO ('2027-01-01');
     ALTER TABLE pay_1 ADD FOREIGN KEY (order_id) REFERENCES orders; ALTER TABLE pay_2 ADD FOREIGN KEY (order_id) REFERENCES orders;
     CREATE INDEX pay_id ON pay (id); CREATE INDEX pay_id_at ON pay (id, at)`,
  );
  const suggestions = (await at().data("pg_suggest_indexes")).suggestions as Suggestion[];
  const found = suggestions.filter(({ table }) => /^pay/.test(table));
  expect(found.map(({ create, drop }) => create ?? drop)).toEqual([
    "CREATE INDEX ON pay (order_id)",
    "DROP INDEX pay_id",
  ]);
  expect(found[0]?.reason).toContain("and those of 1 other partitions,");
  for (const { create, drop } of found) await at().sql(create ?? drop ?? "");
  await at().sql("DROP TABLE pay");
});
