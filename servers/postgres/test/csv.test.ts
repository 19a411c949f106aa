import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();
const names = () => at.sql("SELECT name FROM customers ORDER BY id");

it("pg_import_csv adds the rows of a file, with NULL for empty fields, or only reports what it would do", async () => {
  const before = await names();
  const input = { path: "new-customers.csv", table: "customers" };
  expect(await at.data("pg_import_csv", { ...input, dry_run: true })).toMatchObject({
    rows: 2,
    committed: false,
  });
  expect(await names()).toEqual(before);
  expect(await at.data("pg_import_csv", input)).toMatchObject({
    rows: 2,
    columns: ["name", "city"],
    committed: true,
  });
  expect((await at.sql("SELECT name, city FROM customers ORDER BY id")).slice(3)).toEqual([
    { name: "Barbara", city: "Boston" },
    { name: "Lovelace, Ada", city: null },
  ]);
});

it("pg_import_csv adds all rows or none, and names what is wrong", async () => {
  const before = await names();
  await at.put("bad.csv", "name,city\nGood,Town\n,Nameless\n");
  const bad = await at.call("pg_import_csv", { path: "bad.csv", table: "customers" });
  expect(bad).toMatchObject({ isError: true, text: expect.stringContaining("name") });
  expect(await names()).toEqual(before);
});

it("pg_import_csv asks before a trigger loses rows, which are not recorded", async () => {
  await at.sql(`CREATE TABLE precious AS SELECT n FROM generate_series(1, 100) n; CREATE TABLE inbox (n int);
    CREATE FUNCTION purge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM precious; RETURN NULL; END $$;
    CREATE TRIGGER purging AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION purge()`);
  await at.put("inbox.csv", "n\n1\n2\n");
  expect(await at.asked("pg_import_csv", { path: "inbox.csv", table: "inbox" })).toEqual([
    expect.stringContaining("DELETE of 100 rows of precious"),
  ]);
});

it("pg_export writes a row as query does with format csv", async () => {
  const sql = `SELECT * FROM (VALUES (1, true, ARRAY['a b', 'c,"d'], '\\x00ff'::bytea, '{"n": 12345678901234567890}'::jsonb, 1e300::float8,
    'NaN'::numeric, '', NULL, E'a\\r', E'b\\nc', ' "x" ', 'é;\\'), (2, NULL, '{}', '', 'null', '-0', 1.50, ',', 'NULL', ' ', '.', $$'$$, '\\.'))
    t (n, yes, list, bytes, json, float, number, empty, nothing, cr, lf, quote, other)`;
  await at.data("pg_export", { sql, path: "same.csv" });
  const { text } = await at.data("query", { sql, format: "csv" });
  expect(text).toBe(await at.text("same.csv"));
  expect(text).toContain('1,t,"{""a b"",""c,\\""d""}",\\x00ff,');
});

it("pg_export leaves nothing of a failed export", async () => {
  const before = await readdir(dirname(at.path("x")));
  for (const sql of [
    "SELECT 1 / (20000 - n) FROM numbers ORDER BY n",
    "DELETE FROM orders RETURNING *",
  ])
    expect(await at.call("pg_export", { sql, path: "x.csv" }), sql).toMatchObject({
      isError: true,
    });
  const unknown = { sql: "SELECT nme FROM customers", path: "x.csv" };
  const { text } = await at.call("pg_export", unknown);
  expect(text).toContain('position 8: "SELECT »nme FROM customers")');
  expect(await readdir(dirname(at.path("x")))).toEqual(before);
});

it("pg_export calls no function whose effects last that was not allowed", async () => {
  await at.sql(
    "CREATE FUNCTION sends() RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM pg_notify('x', 'y') $$",
  );
  const { text } = await at.call("pg_export", { sql: "SELECT sends()", path: "sent.csv" });
  expect(text).toMatch(/sends\(\) is blocked: it calls pg_notify.*--allow-function sends/s);
  expect(await readdir(dirname(at.path("x")))).not.toContain("sent.csv");
});
