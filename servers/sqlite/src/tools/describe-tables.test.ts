import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./describe-tables.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("describes all tables in one call, finds columns by name, and continues at a cursor", async () => {
  const { databases, call } = await enter(
    undefined,
    `CREATE VIEW broken AS SELECT * FROM nowhere; CREATE TABLE "a ""b" (x, "user name" TEXT DEFAULT 'me' UNIQUE);
     CREATE VIRTUAL TABLE words USING fts5(word);`,
  );
  const ask = async (input: object) => JSON.parse(JSON.stringify(await tool.run(of(input), databases, call)));
  const users = {
    table: "users",
    type: "table",
    columns: ["id INTEGER primary key", "name TEXT not null", "city TEXT"],
  };
  const { tables } = await ask({});
  expect(tables).toEqual([
    { table: '"a ""b"', type: "table", columns: ["x", '"user name" TEXT'] },
    { table: "broken", type: "view", columns: [] },
    {
      table: "orders",
      type: "table",
      columns: ["id INTEGER primary key", "user_id INTEGER → users.id", "total REAL"],
    },
    users,
    { table: "words", type: "virtual", columns: ["word"] },
  ]);
  expect(await ask({ query: "USER" })).toEqual({ tables: [users] });
  expect(await ask({ column: "USER" })).toEqual({
    tables: [
      { table: '"a ""b"', type: "table", columns: ['"user name" TEXT'] },
      { table: "orders", type: "table", columns: ["user_id INTEGER → users.id"] },
    ],
  });
  expect((await ask({ detail: "full" })).tables).toMatchObject([
    {
      columns: ["x", "\"user name\" TEXT default 'me'"],
      indexes: [expect.stringMatching(/\("user name"\) unique$/)],
    },
    {},
    { indexes: ["orders_user (user_id)"] },
    {},
    {},
  ]);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask({ limit: 2, cursor });
    seen.push(...page.tables);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(tables);
});

it("describes 400 tables within the budget, page by page", async () => {
  const made = Array.from(
    { length: 400 },
    (_, at) => `CREATE TABLE t${at} (a_column_${at} INTEGER, other TEXT);`,
  );
  const { databases, call } = await enter(undefined, made.join(""));
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await tool.run(of({ cursor }), databases, call);
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(20_000);
    const { tables, next_cursor } = JSON.parse(JSON.stringify(page));
    count += tables.length;
    cursor = next_cursor;
  } while (cursor !== undefined);
  expect(count).toBe(402);
});
