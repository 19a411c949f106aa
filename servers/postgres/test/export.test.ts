import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();

it("writes a row as query does with format csv", async () => {
  const sql = `SELECT * FROM (VALUES (1, true, ARRAY['a b', 'c,"d'], '\\x00ff'::bytea, '{"n": 12345678901234567890}'::jsonb, 1e300::float8,
    'NaN'::numeric, '', NULL, E'a\\r', E'b\\nc', ' "x" ', 'é;\\'), (2, NULL, '{}', '', 'null', '-0', 1.50, ',', 'NULL', ' ', '.', $$'$$, '\\.'))
    t (n, yes, list, bytes, json, float, number, empty, nothing, cr, lf, quote, other)`;
  await at.data("pg_export", { sql, path: "same.csv" });
  const { text } = await at.data("query", { sql, format: "csv" });
  expect(text).toBe(await at.text("same.csv"));
  expect(text).toContain('1,t,"{""a b"",""c,\\""d""}",\\x00ff,');
});

it("leaves nothing of a failed export", async () => {
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

it("calls no function whose effects last that was not allowed", async () => {
  await at.sql(
    "CREATE FUNCTION sends() RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM pg_notify('x', 'y') $$",
  );
  const { text } = await at.call("pg_export", { sql: "SELECT sends()", path: "sent.csv" });
  expect(text).toMatch(/sends\(\) is blocked: it calls pg_notify.*--allow-function sends/s);
  expect(await readdir(dirname(at.path("x")))).not.toContain("sent.csv");
});
