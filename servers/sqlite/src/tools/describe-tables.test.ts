import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import describeTool from "./describe-table.ts";
import tool from "./describe-tables.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("describes all tables in one call, finds columns by name, and continues at a cursor", async () => {
  const { databases, call } = await enter(
    undefined,
    `CREATE VIEW broken AS SELECT * FROM nowhere; CREATE TABLE "a ""b" (x, "user name" TEXT DEFAULT 'me' UNIQUE);
     CREATE VIRTUAL TABLE words USING fts5(word);`,
  );
  const ask = async (input: object) =>
    JSON.parse(JSON.stringify(await tool.run(of(input), databases, call)));
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

it("shows what columns allow and what their rows have, and names in SQL form", async () => {
  const { databases, call } = await enter(
    undefined,
    `CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT NOT NULL CHECK ("group" IN ('a', 'b''c')), status TEXT,
       n INT CHECK (n >= 0 AND n < 10), code TEXT UNIQUE, password TEXT, free TEXT, long TEXT, CHECK (length(status) > 0), CHECK (n > id - 100000));
     WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 5000)
       INSERT INTO "order" SELECT i, 'a', CASE WHEN i > 4900 THEN 'it''s void' WHEN i % 3 = 0 THEN 'paid' ELSE 'open' END, i % 9, 'c' || i, 'x', 'f' || i, printf('%.60c', 'x') FROM t;
     CREATE TABLE lines ("select" TEXT, o REFERENCES "order"(id), rowid TEXT, PRIMARY KEY (o, rowid)) WITHOUT ROWID;
     INSERT INTO lines VALUES ('s', 1, 1), ('s', 1, 2), (NULL, 1, 3);
     CREATE INDEX "my idx" ON lines ("select", o); CREATE VIEW v AS SELECT status FROM "order";`,
  );
  const ask = async (input: object) =>
    JSON.parse(JSON.stringify(await tool.run(of(input), databases, call)));
  const { tables } = await ask({ detail: "full" });
  expect(tables).toMatchObject([
    {
      table: "lines",
      columns: ["\"select\" TEXT seen 's'", 'o primary key → "order".id', "rowid TEXT primary key"],
      indexes: ['"my idx" ("select", o)'],
    },
    {
      table: '"order"',
      columns: [
        "id INTEGER primary key",
        "\"group\" TEXT ('a', 'b''c') not null",
        // The rare value is at the end of the table.
        "status TEXT check (length(status) > 0) seen 'open', 'paid', 'it''s void'",
        "n INT check (n >= 0 AND n < 10)",
        "code TEXT",
        "password TEXT",
        "free TEXT",
        "long TEXT",
      ],
    },
    {},
    {},
    { table: "v", columns: ["status TEXT"] },
  ]);
  expect(await ask({ query: '"order"', column: '"group"' })).toMatchObject({
    tables: [{ table: '"order"' }],
  });
  const described = await describeTool.run(
    describeTool.input.parse({ table_name: '"order"' }),
    databases,
    call,
  );
  expect(described).toMatchObject({
    table: '"order"',
    columns: expect.arrayContaining([
      expect.objectContaining({ name: '"group"', allowed: "'a', 'b''c'" }),
      expect.objectContaining({
        name: "status",
        seen: "'open', 'paid', 'it''s void'",
        check: "length(status) > 0",
      }),
      { name: "password", type: "TEXT", not_null: false },
    ]),
    referenced_by: [{ table: "lines", columns: ["o"], references: ["id"] }],
  });
});

it("describes a table of large rows without reading them all", async () => {
  const { databases, call } = await enter(
    undefined,
    `CREATE TABLE large (b BLOB, t TEXT); WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 400)
     INSERT INTO large SELECT zeroblob(100000), 'same' FROM t;`,
  );
  const { tables } = JSON.parse(
    JSON.stringify(await tool.run(of({ query: "large" }), databases, call)),
  );
  expect(tables).toMatchObject([
    { columns: ["b BLOB", expect.stringMatching(/^t TEXT( seen 'same')?$/)] },
  ]);
});
