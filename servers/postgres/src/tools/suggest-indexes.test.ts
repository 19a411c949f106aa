import { installExtension, startPostgres } from "@refmcp/embedded-postgres/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { naive } from "../../test/lab.ts";
import { type Talk, talk } from "../../test/session.ts";
import { shop } from "../../test/shop.ts";

const at = shop();

interface Suggestion {
  readonly table: string;
  readonly create?: string;
  readonly drop?: string;
  readonly cost_before?: number;
  readonly cost_after?: number;
}

it("suggests an index for a foreign key, and dropping a redundant one", async () => {
  await at().sql("CREATE INDEX orders_twice ON orders (placed_at, id)");
  const { suggestions, notes } = await at().data("pg_suggest_indexes");
  const list = suggestions as Suggestion[];
  expect(list.some(({ create }) => create?.includes("customer_id"))).toBe(true);
  expect(list.some(({ drop }) => drop?.includes("orders_placed_at"))).toBe(true);
  expect(notes).toEqual([expect.stringContaining("pg_stat_statements is not installed")]);
});

/** Needs a server with hypopg and pg_stat_statements; Debian packages both. */
describe("with hypopg", () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let client: Talk | undefined;
  let missing: string | undefined;
  const hostile = '"x"" (n); DROP TABLE big; --"';

  beforeAll(async () => {
    if (process.env.TEST_DATABASE_URL === undefined) await installExtension("hypopg");
    server = await startPostgres(
      process.env.TEST_DATABASE_URL === undefined
        ? { settings: { shared_preload_libraries: "pg_stat_statements" } }
        : {},
    );
    const url = await server.createDatabase();
    try {
      await naive(
        url,
        "CREATE EXTENSION hypopg; CREATE EXTENSION pg_stat_statements; SELECT count(*) FROM pg_stat_statements",
      );
    } catch (error) {
      missing = String(error);
      return;
    }
    await naive(
      url,
      `CREATE TABLE big (id int PRIMARY KEY, kind int, at date, name text, "odd, name" int);
       INSERT INTO big SELECT n, n % 1000, '2026-01-01'::date + n % 365, 'n' || n, n % 777 FROM generate_series(1, 100000) n;
       CREATE TABLE ${hostile} (n int, t text); INSERT INTO ${hostile} SELECT n, 'x' FROM generate_series(1, 50000) n;
       CREATE TABLE kid (id int PRIMARY KEY, big_id int REFERENCES big); INSERT INTO kid SELECT n, n FROM generate_series(1, 50000) n;
       CREATE TABLE texts AS SELECT n, repeat(md5(n::text), 30) AS essay FROM generate_series(1, 2000) n;
       CREATE TABLE tiny (id int, v int); INSERT INTO tiny SELECT n, n FROM generate_series(1, 20) n; ANALYZE`,
    );
    for (let time = 0; time < 5; time++) {
      await naive(url, "SELECT name FROM big WHERE kind = 7 AND at = '2026-02-03'");
      await naive(url, "SELECT * FROM tiny WHERE v = 3");
      await naive(url, "SELECT proname FROM pg_proc WHERE prosecdef AND pronargs > 40");
    }
    client = await talk(["--url", url, "--allow-privileged-role", "--toolsets", "dba,data"]);
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
  });

  async function suggest(given: Record<string, unknown>): Promise<Suggestion[]> {
    const { suggestions } = (await client?.data("pg_suggest_indexes", given)) ?? {};
    return suggestions as Suggestion[];
  }

  it("picks indexes for the most expensive statements, with the planner's costs before and after", async (ctx) => {
    if (missing !== undefined) return ctx.skip(`needs hypopg and pg_stat_statements: ${missing}`);
    const [first, ...others] = await suggest({});
    expect(first).toMatchObject({
      table: "big",
      create: expect.stringMatching(/ON big \((kind, at|at, kind)\)$/),
    });
    expect(Number(first?.cost_after)).toBeLessThan(Number(first?.cost_before) / 10);
    expect(others.filter(({ table }) => table === "tiny" || table.startsWith("pg_"))).toEqual([]);
    // Nothing of it is left in the database, and the next call plans without it.
    expect(
      await client?.data("query", { sql: "SELECT count(*) FROM pg_indexes WHERE tablename = 'big'" }),
    ).toMatchObject({ rows: [[1]] });
    expect(await client?.data("pg_explain", { sql: "SELECT name FROM big WHERE kind = 7" })).toMatchObject({
      plan: [expect.stringContaining("Seq Scan")],
    });
  });

  it("tries given statements, with one index for several of them, whatever the table names", async (ctx) => {
    if (missing !== undefined) return ctx.skip(`needs hypopg and pg_stat_statements: ${missing}`);
    const queries = [
      'SELECT id FROM big WHERE "odd, name" = $1',
      'SELECT count(*) FROM big b WHERE b."odd, name" = $1 AND b.name > $2',
      `SELECT t FROM ${hostile} WHERE n = $1`,
    ];
    const list = await suggest({ queries });
    const created = list.filter(({ cost_after }) => cost_after !== undefined).map(({ create }) => create);
    expect(created).toHaveLength(2);
    expect(created).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/ON big \("odd, name", name\)$/),
        `CREATE INDEX CONCURRENTLY ON ${hostile} (n)`,
      ]),
    );
    // The index for a foreign key is suggested once.
    const keys = await suggest({ queries: ["SELECT id FROM kid WHERE big_id = $1"] });
    expect(keys.filter(({ table }) => table === "kid")).toEqual([
      expect.objectContaining({ cost_after: expect.any(Number) }),
    ]);
    expect(await client?.data("query", { sql: "SELECT count(*) FROM big" })).toMatchObject({
      rows: [[100_000]],
    });
  });

  it("suggests no index on values that are too long for a B-tree", async (ctx) => {
    if (missing !== undefined) return ctx.skip(`needs hypopg and pg_stat_statements: ${missing}`);
    const tried = async (condition: string) =>
      (await suggest({ queries: [`SELECT n FROM texts WHERE ${condition}`] })).filter(
        ({ table, cost_after }) => table === "texts" && cost_after !== undefined,
      );
    expect(await tried("essay = $1")).toEqual([]);
    expect(await tried("n = $1")).toHaveLength(1);
  });

  it("refuses statements that are not read-only", async (ctx) => {
    if (missing !== undefined) return ctx.skip(`needs hypopg and pg_stat_statements: ${missing}`);
    for (const [sql, message] of [
      ["DELETE FROM big", /DELETE is not a read-only/],
      ["SELECT 1; DROP TABLE big", /2 statements/],
      ["SELECT pg_terminate_backend(1)", /pg_terminate_backend/],
      ["EXPLAIN SELECT 1", /Only SELECT/],
    ] as const)
      expect((await client?.call("pg_suggest_indexes", { queries: [sql] }))?.text).toMatch(message);
  });
});
