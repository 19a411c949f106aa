import { expect, it } from "vitest";
import { described, tables } from "./asking.ts";
import { enter } from "./lab.ts";

it("distinguishes all kinds of tables", async () => {
  const here = await enter({
    sql: `CREATE TABLE pairs (a TEXT, b INT, c TEXT AS (a || b), d INT AS (b * 2) STORED, PRIMARY KEY (b, a)) STRICT, WITHOUT ROWID;
     CREATE TABLE parts (x TEXT, y INT, FOREIGN KEY (y, x) REFERENCES pairs ON DELETE CASCADE);
     CREATE UNIQUE INDEX some ON parts (lower(x), y) WHERE y > 0;
     CREATE TRIGGER t AFTER INSERT ON parts BEGIN SELECT 1; END;
     CREATE VIEW shown AS SELECT a AS "the a" FROM pairs;
     CREATE VIRTUAL TABLE words USING fts5(body);`,
  });
  expect(await described(here, "pairs")).toMatchObject({
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
  expect(await described(here, "parts")).toMatchObject({
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
  expect(await described(here, "shown")).toMatchObject({
    type: "view",
    columns: [{ name: '"the a"' }],
    ddl: expect.stringContaining("CREATE VIEW"),
  });
  expect(await described(here, "words")).toMatchObject({
    type: "virtual",
    columns: [{ name: "body" }],
  });
});

it("describes all tables in one call, finds columns by name, and continues at a cursor", async () => {
  const here = await enter({
    sql: `CREATE VIEW broken AS SELECT * FROM nowhere; CREATE TABLE "a ""b" (x, "user name" TEXT DEFAULT 'me' UNIQUE);
     CREATE VIRTUAL TABLE words USING fts5(word);`,
  });
  const users = {
    table: "users",
    type: "table",
    columns: ["id INTEGER primary key", "name TEXT not null", "city TEXT"],
  };
  const { tables: all } = await tables(here);
  // Tables first, then views.
  expect(all).toMatchObject([
    { table: '"a ""b"', type: "table", columns: ["x", '"user name" TEXT'] },
    {
      table: "orders",
      columns: ["id INTEGER primary key", "user_id INTEGER → users.id", "total REAL"],
    },
    users,
    { table: "words", type: "virtual", columns: ["word"] },
    { table: "broken", type: "view" },
  ]);
  expect(await tables(here, { match: "USER" })).toMatchObject({ tables: [users] });
  expect(await tables(here, { column: "USER" })).toMatchObject({
    tables: [
      { table: '"a ""b"', columns: ['"user name" TEXT'] },
      { table: "orders", columns: ["user_id INTEGER → users.id"] },
    ],
  });
  expect(await tables(here, { detail: "names" })).toEqual({
    names: {
      main: { table: ['"a ""b"', "orders", "users"], virtual: ["words"], view: ["broken"] },
    },
  });
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await tables(here, { limit: 2, cursor });
    seen.push(...(page.tables ?? []));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(all);
});

it("shows what columns allow and what their rows have, and names in SQL form", async () => {
  const here = await enter({
    sql: `CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT NOT NULL CHECK ("group" IN ('a', 'b''c')), status TEXT,
       n INT CHECK (n >= 0 AND n < 10), code TEXT UNIQUE, password TEXT, free TEXT, long TEXT, CHECK (length(status) > 0), CHECK (n > id - 100000));
     WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 5000)
       INSERT INTO "order" SELECT i, 'a', CASE WHEN i > 4900 THEN 'it''s void' WHEN i % 3 = 0 THEN 'paid' ELSE 'open' END, i % 9, 'c' || i, 'x', 'f' || i, printf('%.60c', 'x') FROM t;
     CREATE TABLE lines ("select" TEXT, o REFERENCES "order"(id), rowid TEXT, PRIMARY KEY (o, rowid)) WITHOUT ROWID;
     INSERT INTO lines VALUES ('s', 1, 1), ('s', 1, 2), (NULL, 1, 3);
     CREATE VIEW v AS SELECT status FROM "order";`,
  });
  expect((await tables(here)).tables).toMatchObject([
    {
      table: "lines",
      columns: ["\"select\" TEXT seen 's'", 'o primary key → "order".id', "rowid TEXT primary key"],
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
    { table: "v", type: "view" },
  ]);
  expect((await tables(here, { match: "v" })).tables).toMatchObject([{ columns: ["status TEXT"] }]);
  expect(await tables(here, { match: '"order"', column: '"group"' })).toMatchObject({
    tables: [{ table: '"order"' }],
  });
  expect(await described(here, '"order"')).toMatchObject({
    table: '"order"',
    columns: expect.arrayContaining([
      expect.objectContaining({ name: '"group"', allowed: "'a', 'b''c'" }),
      expect.objectContaining({
        name: "status",
        seen: "'open', 'paid', 'it''s void'",
        check: "length(status) > 0",
      }),
    ]),
    referenced_by: [{ table: "lines", columns: ["o"], references: ["id"] }],
  });
});
