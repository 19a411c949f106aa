import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();
const names = () => at.sql("SELECT name FROM customers ORDER BY id");

it("adds the rows of a file, with NULL for empty fields, or only reports what it would do", async () => {
  const before = await names();
  const given = { path: "new-customers.csv", table: "customers" };
  expect(await at.data("pg_import_csv", { ...given, dry_run: true })).toMatchObject({
    rows: 2,
    committed: false,
  });
  expect(await names()).toEqual(before);
  expect(await at.data("pg_import_csv", given)).toMatchObject({
    rows: 2,
    columns: ["name", "city"],
    committed: true,
  });
  expect((await at.sql("SELECT name, city FROM customers ORDER BY id")).slice(3)).toEqual([
    { name: "Barbara", city: "Boston" },
    { name: "Lovelace, Ada", city: null },
  ]);
});

it("adds all rows or none, and names what is wrong", async () => {
  const before = await names();
  await at.put("bad.csv", "name,city\nGood,Town\n,Nameless\n");
  const bad = await at.call("pg_import_csv", { path: "bad.csv", table: "customers" });
  expect(bad).toMatchObject({ isError: true, text: expect.stringContaining("name") });
  expect(await names()).toEqual(before);
});

it("asks before a trigger loses rows, which are not recorded", async () => {
  await at.sql(`CREATE TABLE precious AS SELECT n FROM generate_series(1, 100) n; CREATE TABLE inbox (n int);
    CREATE FUNCTION purge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM precious; RETURN NULL; END $$;
    CREATE TRIGGER purging AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION purge()`);
  await at.put("inbox.csv", "n\n1\n2\n");
  expect(await at.asked("pg_import_csv", { path: "inbox.csv", table: "inbox" })).toEqual([
    expect.stringContaining("DELETE of 100 rows of precious"),
  ]);
});
