import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./describe-table.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("describes columns, keys in both directions, indexes and the first rows", async () => {
  const { databases, call } = await enter();
  const run = (table_name: string) => tool.run(of({ table_name }), databases, call);
  expect(await run("orders")).toMatchObject({
    type: "table",
    row_count: 3,
    columns: [
      { name: "id", type: "INTEGER", primary_key: 1 },
      { name: "user_id" },
      { name: "total" },
    ],
    foreign_keys: [{ table: "users", columns: ["user_id"], references: ["id"] }],
    indexes: [{ name: "orders_user", unique: false, columns: ["user_id"] }],
    sample: [
      [1, 1, 10.5],
      [2, 1, 20],
      [3, 3, 7.25],
    ],
  });
  expect(await run("users")).toMatchObject({
    referenced_by: [{ table: "orders", columns: ["user_id"] }],
  });
  await expect(run("order")).rejects.toThrow("Did you mean orders?");
});

it("distinguishes all kinds of tables", async () => {
  const { databases, call } = await enter(
    undefined,
    `CREATE TABLE pairs (a TEXT, b INT, c TEXT AS (a || b), d INT AS (b * 2) STORED, PRIMARY KEY (b, a)) STRICT, WITHOUT ROWID;
     CREATE TABLE parts (x TEXT, y INT, FOREIGN KEY (y, x) REFERENCES pairs ON DELETE CASCADE);
     CREATE UNIQUE INDEX some ON parts (lower(x), y) WHERE y > 0;
     CREATE TRIGGER t AFTER INSERT ON parts BEGIN SELECT 1; END;
     CREATE VIEW shown AS SELECT a AS "the a" FROM pairs;
     CREATE VIRTUAL TABLE words USING fts5(body);`,
  );
  const run = (table_name: string) => tool.run(of({ table_name }), databases, call);
  expect(await run("pairs")).toMatchObject({
    without_rowid: true,
    strict: true,
    columns: [
      { name: "a", primary_key: 2 },
      { name: "b", primary_key: 1 },
      { name: "c", generated: true },
      { name: "d", generated: true },
    ],
    referenced_by: [{ table: "parts", columns: ["y", "x"], on_delete: "CASCADE" }],
  });
  expect(await run("parts")).toMatchObject({
    foreign_keys: [{ table: "pairs", columns: ["y", "x"], on_delete: "CASCADE" }],
    indexes: [
      {
        name: "some",
        unique: true,
        columns: ["(expression)", "y"],
        ddl: expect.stringContaining("WHERE y > 0"),
      },
    ],
    triggers: [expect.stringContaining("CREATE TRIGGER t")],
  });
  expect(await run("shown")).toMatchObject({
    type: "view",
    columns: [{ name: '"the a"' }],
    ddl: expect.stringContaining("CREATE VIEW"),
  });
  expect(await run("words")).toMatchObject({ type: "virtual", columns: [{ name: "body" }] });
});

it("stays within the answer's budget and reports omissions", async () => {
  const columns = Array.from(
    { length: 1_900 },
    (_, index) => `a_rather_long_name_of_a_column_${index} TEXT NOT NULL DEFAULT ''`,
  );
  const { databases, call } = await enter(
    undefined,
    `CREATE TABLE wide (${columns.join(", ")}); INSERT INTO wide DEFAULT VALUES;`,
  );
  const answer = await tool.run(of({ table_name: "wide" }), databases, call);
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(call.budget);
  const notices = expect.arrayContaining([expect.stringMatching(/of 1,900 columns are omitted/)]);
  expect(answer).toMatchObject({ notices });
});
