import { serialize } from "pg-protocol";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { namesOf, parseSql, treeOf, walk } from "../src/database/gate/syntax.ts";
import { labFor, talk } from "./session.ts";

/** Objects of every kind, so that every branch of a catalog query has rows; two extensions are only imitated. */
const SETUP = `
  CREATE TYPE mood AS ENUM ('calm', 'busy');
  CREATE TABLE customers (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL DEFAULT 'none', mood mood, gone boolean, moods mood[]);
  COMMENT ON TABLE customers IS 'People'; COMMENT ON COLUMN customers.name IS 'Their name';
  CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int REFERENCES customers ON DELETE CASCADE, total numeric CHECK (total >= 0));
  ALTER TABLE orders ADD CONSTRAINT sane CHECK (total < 1000000) NOT VALID;
  CREATE INDEX orders_total ON orders (total); CREATE INDEX orders_total_id ON orders (total, id);
  CREATE TABLE parts (n int) PARTITION BY RANGE (n); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
  ALTER TABLE customers ENABLE ROW LEVEL SECURITY; CREATE POLICY a ON customers USING (id > 0); CREATE POLICY b ON customers USING (id > 1);
  CREATE VIEW big AS SELECT * FROM orders WHERE total > 100; CREATE VIEW people AS SELECT name FROM customers;
  CREATE MATERIALIZED VIEW sums AS SELECT sum(total) AS total FROM orders;
  CREATE SEQUENCE counter MAXVALUE 10; SELECT setval('counter', 9);
  CREATE FUNCTION total_of(int) RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT $1';
  CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE TRIGGER audited AFTER DELETE ON orders EXECUTE FUNCTION audit();
  INSERT INTO customers (name) SELECT 'n' || n FROM generate_series(1, 2000) n; INSERT INTO orders SELECT n, n, n FROM generate_series(1, 2000) n;
  CREATE SCHEMA traps; CREATE SCHEMA extended; GRANT USAGE ON SCHEMA extended TO PUBLIC;
  INSERT INTO pg_extension SELECT 99990 + place, name, 10, 'extended'::regnamespace, false, '1' FROM unnest(ARRAY['pg_stat_statements']) WITH ORDINALITY e (name, place);
  CREATE VIEW extended.pg_stat_statements AS SELECT 'SELECT 1'::text AS query, 1::bigint AS queryid, d.oid AS dbid, 1::bigint AS calls, 2::bigint AS rows,
    3::float8 AS total_exec_time, 4::float8 AS mean_exec_time, 5::bigint AS shared_blks_hit, 6::bigint AS shared_blks_read, 7::bigint AS temp_blks_written FROM pg_database d;
  GRANT SELECT ON extended.pg_stat_statements TO PUBLIC;
  ANALYZE;
`;

const TYPES =
  `name text "char" bool oid int2 int4 int8 float4 float8 numeric regclass regtype text[] name[] oid[] int2[] "char"[] aclitem[] int2vector
  oidvector timestamptz interval pg_lsn json`.split(/\s+/);
const COMPARISONS = ["=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~", "!~", "@>", "&&"];
const OTHERS = ["||", "+", "-", "*", "/", "%"];
/** Functions that match better, or that come first in the path. */
const FUNCTIONS = `json_build_object(text, text, text, name, text, name) lower(name) lower(text) strpos(text, text) quote_ident(name)
  json_strip_nulls(json) round(numeric, int4) format_type(oid, int4) to_regclass(text) set_config(text, text, bool) current_setting(text)`;

/** Every operator and function that could match better than PostgreSQL's own. Whoever resolves to one fails, even without a row. */
const traps = `SET search_path = pg_catalog; DO $do$
DECLARE l text; r text; kind text; op text; types text[] := string_to_array('${TYPES.join()}', ',');
BEGIN
  FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP FOREACH kind IN ARRAY '{boolean,text}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION traps.%s(%s, %s) RETURNS %1$s LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION ''caught''; END $$;
      REVOKE ALL ON FUNCTION traps.%1$s(%2$s, %3$s) FROM PUBLIC', kind, l, r);
    FOREACH op IN ARRAY CASE kind WHEN 'text' THEN '{${OTHERS.join(",")}}' ELSE '{${COMPARISONS.join(",")}}' END::text[] LOOP
      EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = traps.%s, LEFTARG = %s, RIGHTARG = %s)', op, kind, l, r);
    END LOOP;
  END LOOP; END LOOP; END LOOP;
  FOREACH op IN ARRAY '{${[...FUNCTIONS.matchAll(/\w+\([^)]*\)/g)].map(([signature]) => `"${signature}"`).join(",")}}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION public.%s RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION ''caught''; END $$; REVOKE ALL ON FUNCTION public.%1$s FROM PUBLIC', op);
  END LOOP;
END $do$`;

const USER = "/* user */";
const query = (sql: string) => ["query", { sql: `${sql} ${USER}` }] as const;
const change = (...statements: string[]) =>
  ["pg_execute", { statements: statements.map((sql) => `${sql} ${USER}`), dry_run: true }] as const;
const CALLS: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["pg_describe_tables", { detail: "names" }],
  ..."customers orders parts parts_1 big people sums public.orders custmers"
    .split(" ")
    .map((table) => ["pg_describe_tables", { table }] as const),
  ["pg_describe_tables", { detail: "full" }],
  ["pg_describe_tables", { match: "or", column: "to", schema: "public" }],
  ["pg_health", {}],
  ["pg_top_queries", {}],
  ["pg_top_queries", { order_by: "io" }],
  ["pg_explain", { sql: `SELECT * FROM customers WHERE gone ${USER}` }],
  query("SELECT mood, moods FROM customers ORDER BY id LIMIT 3"),
  query("SELECT * FROM custmers"),
  query("SELECT unrelated FROM customers"),
  query("SELECT totl_of(1)"),
  query("SELECT * FROM publi.customers"),
  change("UPDATE orders SET total = NULL"),
  change("DELETE FROM orders", "DROP VIEW big"),
  change("TRUNCATE sums_of"),
  change("DROP MATERIALIZED VIEW sums", "DROP INDEX orders_total"),
  change("DROP TABLE orders CASCADE"),
  [
    "pg_execute",
    {
      statements: [
        `CREATE UNIQUE INDEX CONCURRENTLY customers_mood_idx ON customers (mood) NULLS NOT DISTINCT ${USER}`,
      ],
    },
  ],
];

const world = labFor(SETUP);
beforeAll(async () => {
  for (const name of ["customers", "orders", "big", "sums"])
    await world.admin(`ALTER TABLE ${name} OWNER TO ${world.role}`);
});

/** All answers of a new server, in the database as it was set up. */
async function answers(): Promise<Record<string, string>> {
  await world.admin("DROP INDEX IF EXISTS customers_mood_idx");
  await world.admin("VACUUM FULL ANALYZE orders");
  const flags = "--allow-write --toolsets data,dba --confirm never".split(" ");
  const session = await talk(["--url", world.url, ...flags]);
  onTestFinished(() => session.close());
  const said: Record<string, string> = {};
  for (const [tool, args] of CALLS) {
    const { text } = await session.call(tool, args);
    said[`${tool} ${JSON.stringify(args)}`] = text
      .replace(/"(elapsed_ms|planning_ms)":[\d.]+/g, '"$1":0')
      // Other databases of this server change these.
      .replace(/[\d.,]+(%| of \d+ connections| transactions old)/g, "?$1")
      // With public first, PostgreSQL's own texts say which operator they mean.
      .replace(/OPERATOR\(pg_catalog\.([^)]+)\)/g, "$1");
  }
  const { client } = session.connected;
  const { resources } = await client.listResources();
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "schema://{table}" },
    argument: { name: "table", value: "c" },
  });
  return { ...said, resources: JSON.stringify([resources.map(({ uri }) => uri), completion]) };
}

/** Those without anything in the way; one test also reads what was sent for them. */
let undisturbed: Promise<Record<string, string>> | undefined;

it("every function in our own statements is named with its schema", async () => {
  const sent = new Set<string>();
  const parse = vi.spyOn(serialize, "parse");
  const simple = vi.spyOn(serialize, "query");
  onTestFinished(() => void vi.restoreAllMocks());
  undisturbed = answers();
  await undisturbed;
  for (const [{ text }] of parse.mock.calls) sent.add(text);
  for (const [text] of simple.mock.calls) sent.add(text);
  const own = [...sent].filter((text) => !text.includes(USER) && text !== "");
  const parts =
    /pg_blocking_pids|attname::text AS bare|regprocedure|pg_stats|pg_partition_tree|pg_stat_get_xact_tuples_inserted|relispartition|rolsuper/g;
  expect(new Set(own.flatMap((text) => text.match(parts) ?? [])).size).toBe(8);
  const unqualified = new Set<string>();
  for (const text of own) {
    walk(treeOf(await parseSql(text)), (key, value) => {
      if (key !== "FuncCall") return;
      const names = namesOf(treeOf(value).funcname);
      if (names.length < 2) unqualified.add(`${names.join()} in ${text.slice(0, 80)}`);
    });
  }
  expect([...unqualified]).toEqual([]);
});

it("our own statements use no operator and no function of another role, wherever public is in the path", async () => {
  const clean = await (undisturbed ?? answers());
  await world.admin(traps);
  expect(await answers()).toEqual(clean);
  // PostgreSQL's own pg_get_viewdef fails with public first: it looks for the view with an operator of the path.
  const others = (said: Record<string, string>) =>
    Object.entries(said).filter(([call]) => !/"(big|people|sums|full)"|DROP VIEW/.test(call));
  await world.admin(`ALTER ROLE ${world.role} SET search_path = public, pg_catalog`);
  expect(others(await answers())).toEqual(others(clean));
});
