import { beforeAll, expect, it } from "vitest";
import { labFor, talkFor } from "../../../test/session.ts";

const world = labFor(
  `CREATE TYPE mood AS ENUM ('calm', 'it''s busy'); CREATE TYPE "Big" AS ENUM (${Array.from({ length: 25 }, (_, n) => `'l${n}'`).join()});
     CREATE DOMAIN year AS int CHECK (VALUE >= 1901) CHECK (VALUE <= 2155);
     CREATE TABLE orders (id int PRIMARY KEY, mood mood, moods mood[], big "Big", year year, status text, kind varchar CHECK (kind IN ('a', 'b')),
       total numeric CHECK (total >= 0 AND total < 100), level int, password text, hidden text, note text, "Name" text, "select" int, CHECK (total >= level));
     INSERT INTO orders SELECT n, 'calm', NULL, NULL, 2000, (ARRAY['open','paid','it''s void'])[1 + n % 3], 'a', 1, n % 2, 'x' || n % 2, 'y' || n % 2, repeat('long ', 20), 'N' || n, n FROM generate_series(1, 300) n;
     CREATE TABLE secured AS SELECT n, 's' || n % 2 AS status FROM generate_series(1, 100) n; ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
     CREATE TABLE parts (id int, "Day" int, who int REFERENCES orders) PARTITION BY LIST ("Day");
     CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
     CREATE TABLE logs (id int, by_order int) PARTITION BY LIST (id);
     CREATE TABLE logs_1 PARTITION OF logs (FOREIGN KEY (by_order) REFERENCES orders) FOR VALUES IN (1);
     INSERT INTO parts SELECT n, 1 + n % 2, n FROM generate_series(1, 200) n; ANALYZE`,
);
beforeAll(() =>
  world.admin(
    `REVOKE ALL ON orders FROM ${world.role}; GRANT SELECT (id, mood, moods, big, year, status, kind, total, level, password, note, "Name", "select") ON orders TO ${world.role}`,
  ),
);
const server = talkFor(() => ["--url", world.url, "--allow-write"]);

it("describe_tables shows what a WHERE needs: labels, rules and values seen, and names in SQL form", async () => {
  expect(await server.data("pg_describe_tables", { match: "orders" })).toEqual({
    tables: [
      {
        table: "orders",
        type: "table",
        rows: 300,
        columns: [
          "id int primary key",
          "mood mood ('calm', 'it''s busy')",
          "moods mood[] ('calm', 'it''s busy')",
          expect.stringMatching(/^big "Big" \('l0', .*'l19', … 5 more\)$/),
          "year year = int CHECK (VALUE >= 1901) CHECK (VALUE <= 2155)",
          "status text seen 'it''s void', 'open', 'paid'",
          "kind varchar ('a', 'b')",
          "total numeric check (total >= 0 AND total < 100)",
          "level int seen 0, 1",
          "password text",
          "hidden text",
          "note text",
          '"Name" text',
          '"select" int',
        ],
      },
    ],
  });
});

/** One table, in full. */
const described = async (table: string) =>
  Object(await server.data("pg_describe_tables", { table })).tables[0];

it("with table, it shows the same, and nothing of rows that the role may not read", async () => {
  const { columns } = await described("orders");
  expect(columns).toEqual(
    expect.arrayContaining([
      { name: "mood", type: "mood", allowed: "'calm', 'it''s busy'" },
      { name: "year", type: "year", domain: "integer CHECK (VALUE >= 1901) CHECK (VALUE <= 2155)" },
      { name: "status", type: "text", seen: "'it''s void', 'open', 'paid'" },
      { name: "total", type: "numeric", check: "total >= 0 AND total < 100" },
      { name: '"Name"', type: "text" },
      { name: "password", type: "text" },
      { name: "hidden", type: "text" },
    ]),
  );
  expect(await described("secured")).toMatchObject({
    columns: [{ name: "n" }, { name: "status", type: "text" }],
  });
  const secured = await server.call("pg_describe_tables", { match: "secured" });
  expect(secured.text).not.toContain("seen");
  // The same statistics can be seen by those who may read the column.
  await world.admin(
    `GRANT SELECT ON orders TO ${world.role}; ALTER TABLE secured DISABLE ROW LEVEL SECURITY`,
  );
  expect((await server.call("pg_describe_tables")).text).toMatch(
    /hidden text seen 'y0', 'y1'.*status text seen 's0', 's1'/,
  );
});

it("errors about values list what is allowed, near ones first, also when writing", async () => {
  await world.admin(`GRANT ALL ON orders TO ${world.role}`);
  for (const [sql, message] of [
    [
      "SELECT id FROM orders WHERE mood = 'clam'",
      /mean 'calm'\?\nmood allows 'calm', 'it''s busy'/,
    ],
    ["SELECT id FROM orders WHERE big = 'x'", /"Big" allows 'l0', .*… 5 more\./],
    ["UPDATE orders SET mood = 'bussy' WHERE id = 1", /mood allows 'calm'/],
    [
      "UPDATE orders SET kind = 'c' WHERE id = 1",
      /kind_check is CHECK \(kind::text = ANY \(ARRAY\['a'/,
    ],
  ] as const) {
    const isRead = sql.startsWith("SELECT");
    const args = isRead ? { sql } : { statements: [sql] };
    expect((await server.call(isRead ? "query" : "pg_execute", args)).text).toMatch(message);
  }
});

it("suggestions are written as SQL needs them", async () => {
  await world.admin('CREATE TABLE "Customer" ("CustomerId" int)');
  const table = await server.call("query", { sql: "SELECT * FROM Customer" });
  expect(table.text).toMatch(/Did you mean "Customer"\?\nNames with capitals need double quotes\./);
  const column = await server.call("query", { sql: 'SELECT Nam FROM orders, "Customer"' });
  expect(column.text).toContain("Names with capitals need double quotes");
  expect((await server.call("pg_describe_tables", { table: "Custmer" })).text).toContain(
    'Did you mean "Customer"?',
  );
  // What is shown can be passed back.
  expect(await described('public."Customer"')).toMatchObject({
    table: '"Customer"',
    columns: [{ name: '"CustomerId"' }],
  });
  expect(
    await server.data("pg_describe_tables", { match: '"Customer"', column: '"CustomerId"' }),
  ).toEqual({
    tables: [{ table: '"Customer"', type: "table", columns: ['"CustomerId" int'] }],
  });
});
