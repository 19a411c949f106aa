import { expect, it } from "vitest";
import { labFor, talkFor } from "./session.ts";

const world = labFor(`
    CREATE TABLE customers (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, shout text GENERATED ALWAYS AS (upper(name)) STORED);
    COMMENT ON COLUMN customers.name IS 'as on the invoice';
    CREATE TABLE orders (id int, line int, customer int NOT NULL REFERENCES customers, total numeric(8,2) DEFAULT 0 CHECK (total >= 0), PRIMARY KEY (line, id));
    CREATE INDEX by_total ON orders (total) WHERE total > 100;
    ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON orders FOR SELECT USING (customer = 1);
    CREATE TABLE covered (id int, note text, PRIMARY KEY (id) INCLUDE (note));
    CREATE VIEW rich AS SELECT * FROM orders WHERE total > 100;
    CREATE TABLE "We""ird; DROP TABLE x --\n" (a int);
    CREATE SCHEMA other; CREATE TABLE other.customers (x int); CREATE TABLE other.only_there (x int);
    CREATE TABLE days (d date) PARTITION BY LIST (d); CREATE TABLE days_1 PARTITION OF days FOR VALUES IN ('2026-01-01');
    DO $$ BEGIN EXECUTE 'CREATE TABLE wide (' || (SELECT string_agg('a_rather_long_column_name_' || n || ' numeric(12, 4) DEFAULT 42', ',') FROM generate_series(1, 1200) n) || ')'; END $$;
    CREATE SCHEMA odd; CREATE TABLE odd."a ""b" (x int, y int, PRIMARY KEY (x, y));
    CREATE TABLE odd.refers (p int, q int, note text DEFAULT 'none', FOREIGN KEY (p, q) REFERENCES odd."a ""b" (x, y));
    COMMENT ON COLUMN odd.refers.note IS 'what was said'; CREATE INDEX ON odd.refers (note)`);
// On a busy machine 1,200 columns take longer than the usual limit.
const patient = ["--query-timeout-ms", "300000", "--timeout-ms", "300000"];
const server = talkFor(() => ["--url", world.url, ...patient]);

/** One table, in full. */
const described = async (args: { table: string; schema?: string }) =>
  Object(await server.data("pg_describe_tables", args)).tables[0];

it("describes columns, keys in both directions, indexes, policies", async () => {
  expect(await described({ table: "customers" })).toMatchObject({
    schema: "public",
    type: "table",
    columns: [
      { name: "id", type: "integer", nullable: false, identity: "always" },
      { name: "name", type: "text", comment: "as on the invoice" },
      { name: "shout", generated: "upper(name)" },
    ],
    primary_key: ["id"],
    referenced_by: [
      { table: "orders", definition: "FOREIGN KEY (customer) REFERENCES customers(id)" },
    ],
    constraints: [{ definition: "UNIQUE (name)" }],
  });
  expect(await described({ table: "covered" })).toMatchObject({ primary_key: ["id"] });
  expect(await described({ table: "orders" })).toMatchObject({
    primary_key: ["line", "id"],
    foreign_keys: [{ name: "orders_customer_fkey" }],
    constraints: [{ definition: "CHECK ((total >= (0)::numeric))" }],
    indexes: [
      { name: "by_total", definition: expect.stringContaining("WHERE (total > ") },
      { name: "orders_pkey" },
    ],
    row_security: {
      policies: [{ name: "own", command: "select", roles: ["public"], using: "(customer = 1)" }],
    },
  });
  expect(await described({ table: "rich" })).toMatchObject({
    type: "view",
    view_definition: expect.stringContaining("total > "),
  });
  expect(await described({ table: "days" })).toMatchObject({
    type: "partitioned_table",
    partition_key: "LIST (d)",
    partitions: ["days_1 FOR VALUES IN ('2026-01-01')"],
  });
});

it("accepts plain, qualified, quoted and unusual names", async () => {
  for (const [args, name] of [
    [{ table: "other.customers" }, "x"],
    [{ table: "customers", schema: "other" }, "x"],
    [{ table: '"other"."customers"' }, "x"],
    [{ table: "only_there" }, "x"],
    [{ table: 'We"ird; DROP TABLE x --\n' }, "a"],
  ] as const)
    expect((await described(args)).columns).toMatchObject([{ name }]);
});

it("bounds a very wide table", async () => {
  const { text } = await server.call("pg_describe_tables", { table: "wide" });
  expect(text.length).toBeLessThanOrEqual(20_000);
  expect(JSON.parse(text).tables[0].omitted.columns).toBeGreaterThan(800);
});

it("describes several tables, a line for each column, with the keys that it refers to", async () => {
  const describe = (args: object) => server.data("pg_describe_tables", { schema: "odd", ...args });
  expect(await describe({})).toEqual({
    tables: [
      {
        table: 'odd."a ""b"',
        type: "table",
        columns: ["x int primary key", "y int primary key"],
      },
      {
        table: "odd.refers",
        type: "table",
        columns: ['p int → odd."a ""b".x', 'q int → odd."a ""b".y', "note text"],
      },
    ],
  });
  expect(await describe({ match: "REFER", detail: "full" })).toMatchObject({
    tables: [
      {
        columns: [{}, {}, { name: "note", default: "'none'::text", comment: "what was said" }],
        indexes: [{ definition: "CREATE INDEX refers_note_idx ON odd.refers USING btree (note)" }],
      },
    ],
  });
  expect(await describe({ column: "NOT" })).toEqual({
    tables: [{ table: "odd.refers", type: "table", columns: ["note text"] }],
  });
});
