import { expect, it } from "vitest";
import { lab } from "../../test/lab.ts";
import { talk } from "../../test/session.ts";

it("lists objects in a stable order, in pages, by kind or name", async () => {
  const world = await lab(`
    CREATE TABLE b_table (x int); CREATE TABLE "A ""quoted""; name" (x int); CREATE VIEW a_view AS SELECT 1 AS one;
    CREATE MATERIALIZED VIEW m AS SELECT 1 AS one; CREATE SEQUENCE s; CREATE TYPE color AS ENUM ('red');
    CREATE FUNCTION f(a int, b text) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE EXTENSION dblink;
    CREATE TABLE parts (n int) PARTITION BY RANGE (n); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
    ALTER TABLE b_table ENABLE ROW LEVEL SECURITY; COMMENT ON TABLE b_table IS 'about b'; CREATE SCHEMA other; CREATE TABLE other.t (x int);`);
  const server = await talk(["--url", world.url]);
  const names = async (args: Record<string, unknown>) => {
    const { objects } = await server.data("pg_list_objects", args);
    if (!Array.isArray(objects)) throw new Error("no list");
    return objects.map(({ kind, schema, name }) => `${kind} ${schema}.${name}`);
  };
  const all = [
    "table other.t",
    "materialized_view public.m",
    'table public."A ""quoted""; name"',
    "table public.b_table",
    "table public.parts",
    "table public.parts_1",
    "view public.a_view",
  ];
  expect(await names({})).toEqual(all);
  expect(await names({ schema: "other" })).toEqual(["table other.t"]);
  expect(await names({ query: "VIEW" })).toEqual(["view public.a_view"]);
  expect(
    await names({
      kinds: ["function", "type", "extension", "sequence", "schema"],
      schema: "public",
    }),
  ).toEqual([
    "extension public.dblink 1.2",
    "function public.f(a integer, b text)",
    "schema public.public",
    "sequence public.s",
    "type public.color",
  ]);
  const paged: string[] = [];
  let cursor: unknown;
  do {
    const page = await server.data("pg_list_objects", {
      limit: 2,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (Array.isArray(page.objects))
      paged.push(...page.objects.map(({ kind, schema, name }) => `${kind} ${schema}.${name}`));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(paged).toEqual(all);
  const { objects } = await server.data("pg_list_objects", { query: "part" });
  expect(objects).toEqual([
    expect.objectContaining({ name: "parts" }),
    expect.objectContaining({ name: "parts_1", partition_of: "parts" }),
  ]);
  expect((await server.data("pg_list_objects", { query: "b_t" })).objects).toEqual([
    {
      kind: "table",
      schema: "public",
      name: "b_table",
      bytes: 0,
      row_security: true,
      comment: "about b",
    },
  ]);
  expect(await server.data("pg_list_objects", { detail: "names" })).toEqual({
    names: {
      other: { table: ["t"] },
      public: {
        materialized_view: ["m"],
        table: ['"A ""quoted""; name"', "b_table", "parts", "parts_1"],
        view: ["a_view"],
      },
    },
  });
  const first = await server.data("pg_list_objects", { detail: "names", limit: 4 });
  expect(first.names).toEqual({
    other: { table: ["t"] },
    public: { materialized_view: ["m"], table: ['"A ""quoted""; name"', "b_table"] },
  });
  expect(
    await server.data("pg_list_objects", { detail: "names", limit: 4, cursor: first.next_cursor }),
  ).toEqual({
    names: { public: { table: ["parts", "parts_1"], view: ["a_view"] } },
  });
  await server.close();
  await world.dispose();
});

it("calls no function of another role, and shows the planner's estimate in full", async () => {
  const trap = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$";
  const world = await lab(`
    CREATE TABLE counted (x int); UPDATE pg_class SET reltuples = 1234567, relpages = 1 WHERE relname = 'counted';
    CREATE FUNCTION json_build_object(text, text, text, name, text, name) RETURNS json ${trap};
    CREATE FUNCTION lower(name) RETURNS text ${trap};`);
  const session = await talk(["--url", world.url]);
  const listed = (detail: string) => session.data("pg_list_objects", { query: "count", detail });
  expect(await listed("names")).toEqual({ names: { public: { table: ["counted"] } } });
  expect((await listed("full")).objects).toMatchObject([{ name: "counted", rows: 1_234_567 }]);
  await session.close();
  await world.dispose();
});

it("has the names of 1,000 tables in one answer with the default limits, and of more in pages", async () => {
  const world = await lab(
    ["many", "__proto__"]
      .map(
        (schema) =>
          `CREATE SCHEMA "${schema}"; DO $$ BEGIN FOR n IN 1000..1999 LOOP EXECUTE format('CREATE TABLE "${schema}".orders_%s (x int)', n); END LOOP; END $$;`,
      )
      .join("\n"),
  );
  const session = await talk(["--url", world.url]);
  const expected = Array.from({ length: 1_000 }, (_, at) => `orders_${1_000 + at}`);
  expect(await session.data("pg_list_objects", { schema: "many", detail: "names" })).toEqual({
    names: { many: { table: expected } },
  });
  const found: string[] = [];
  let cursor: unknown;
  do {
    const { names, next_cursor } = await session.data("pg_list_objects", {
      detail: "names",
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect(JSON.stringify(names).length).toBeLessThan(20_000);
    for (const [schema, kinds] of Object.entries(Object(names)))
      for (const name of Object(kinds).table) found.push(`${schema}.${name}`);
    cursor = next_cursor;
  } while (cursor !== undefined);
  expect(found).toEqual(
    ["__proto__", "many"].flatMap((schema) => expected.map((name) => `${schema}.${name}`)),
  );
  await session.close();
  await world.dispose();
});
