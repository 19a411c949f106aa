import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();
const cities = () => at().sql("SELECT id, city FROM customers ORDER BY id");

it("restores the rows of a change, after a dry run that changes nothing", async () => {
  const before = await cities();
  const { change_id } = await at().data("pg_execute", {
    statements: ["UPDATE customers SET city = 'Rome'", "DELETE FROM orders WHERE customer_id = 2"],
  });
  const after = await cities();
  const tables = [
    { table: "customers", inserted: 0, updated: 3, deleted: 0 },
    { table: "orders", inserted: 1, updated: 0, deleted: 0 },
  ];
  expect(await at().data("pg_undo_change", { change_id, dry_run: true })).toEqual({
    undone: change_id,
    committed: false,
    tables,
  });
  expect(await cities()).toEqual(after);
  expect(await at().data("pg_undo_change", { change_id })).toMatchObject({
    committed: true,
    tables,
  });
  expect(await cities()).toEqual(before);
  expect(at().questions).toEqual([]);
});

it("explains an unknown change", async () => {
  expect((await at().call("pg_undo_change", { change_id: "0mwxy1234-abcdef" })).text).toMatch(
    /No recorded change 0mwxy1234-abcdef.*The list of changes has the ids/s,
  );
});
