import { expect, it } from "vitest";
import { enter, type Lab } from "./lab.ts";

const { signal } = new AbortController();
/** What explain does, without a client. */
const explain = async ({ databases }: Lab, sql: string, params: unknown[] = []) =>
  await (await databases.at()).explain({ sql, params, signal });

it("tries indexes on a copy of the schema, with any names", async () => {
  const here = await enter({
    sql: `CREATE TABLE "odd ""name" ("a column" TEXT, b INT); CREATE INDEX there ON "odd ""name" (b);
     CREATE TABLE made AS SELECT * FROM users; CREATE VIEW shown AS SELECT * FROM "odd ""name";
     CREATE TABLE "order" ("group" TEXT);`,
  });
  const missing = async (query: string, params: unknown[] = []) =>
    (await explain(here, query, params)).missing_indexes;
  expect(await missing('SELECT * FROM "odd ""name" AS o WHERE o."a column" = ?', ["x"])).toEqual([
    'CREATE INDEX "odd ""name_a column" ON "odd ""name" ("a column")',
  ]);
  expect(await missing('SELECT * FROM "odd ""name" WHERE b = 1')).toEqual([]);
  expect(
    await missing("SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id WHERE o.total > 5"),
  ).toEqual(['CREATE INDEX "orders_total" ON "orders" ("total")']);
  expect(await missing("SELECT city FROM made WHERE made.city = 'x'")).toEqual([
    'CREATE INDEX "made_city" ON "made" ("city")',
  ]);
  // SQL keywords as names.
  expect(await missing('SELECT * FROM "order" WHERE "group" = 1')).toEqual([
    'CREATE INDEX "order_group" ON "order" ("group")',
  ]);
  // The file is unchanged.
  expect(await missing('SELECT * FROM "odd ""name" WHERE "a column" = 1')).toHaveLength(1);
});

it("names an index that SQLite would use, and refuses changing statements", async () => {
  const here = await enter();
  const query = "SELECT * FROM users a JOIN users b ON a.city = b.city";
  expect(await explain(here, query)).toMatchObject({
    full_scans: ["a"],
    missing_indexes: ['CREATE INDEX "users_city" ON "users" ("city")'],
  });
  await expect(explain(here, "DELETE FROM users")).rejects.toThrow(/"DELETE" is not allowed/);
  const hidden = "WITH x AS (SELECT 1) DELETE FROM users";
  await expect(explain(here, hidden)).rejects.toMatchObject({ kind: "denied" });
});

it("plans a statement without values for its parameters", async () => {
  const here = await enter();
  for (const [where, scans] of [
    ["city = ? AND name > ?", ["users"]],
    ["city = :city", ["users"]],
    ["id = ?2", []],
  ] as const)
    expect((await explain(here, `SELECT * FROM users WHERE ${where}`)).full_scans).toEqual(scans);
});
