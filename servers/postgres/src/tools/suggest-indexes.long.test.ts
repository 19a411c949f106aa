import { installExtension, startPostgres } from "@refmcp/embedded-postgres/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab, lab, naive, postgres } from "../../test/lab.ts";
import { type Talk, talk } from "../../test/session.ts";

interface Suggestion {
  readonly table: string;
  readonly create?: string;
  readonly drop?: string;
  readonly reason: string;
  readonly cost_before?: number;
  readonly cost_after?: number;
}
interface Answer {
  readonly suggestions: Suggestion[];
  readonly unchanged?: { readonly query: string; readonly reason: string }[];
  readonly notes?: string[];
}

/** The role may only read, and hypopg is not needed. */
describe("on given statements", () => {
  let db: Lab;
  let client: Talk;
  const hostile = '"x"" (n); DROP TABLE big; --"';
  const one = (suggestions: readonly Suggestion[]) =>
    suggestions.filter(({ cost_after }) => cost_after !== undefined);

  beforeAll(async () => {
    db =
      await lab(`CREATE TABLE cust (id int PRIMARY KEY, email text); INSERT INTO cust SELECT n, 'user' || n || '@example.com' FROM generate_series(1, 50000) n;
      CREATE TABLE ev (id int PRIMARY KEY, cust_id int, tenant int, at timestamptz, created timestamptz, status text, total numeric, email text, note text, data jsonb, tags text[]);
      INSERT INTO ev SELECT n, n % 20000, n % 500, '2026-01-01'::timestamptz + n * interval '1 minute', '2026-01-01'::timestamptz + (n * 7919 % 100000) * interval '1 minute',
        CASE WHEN n % 100 = 0 THEN 'open' WHEN n % 3 = 0 THEN 'paid' ELSE 'done' END, (n * 31 % 100000) / 10.0, 'Person' || n || '@example.org',
        md5(n::text) || md5((n * 7)::text), jsonb_build_object('tag', 't' || n % 5000, 'k', n), ARRAY['a' || n % 3000, 'b' || n % 10] FROM generate_series(1, 100000) n;
      CREATE TABLE parts (id int, day date, v int) PARTITION BY RANGE (day); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2026-07-01');
      CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2026-07-01') TO ('2027-01-01'); INSERT INTO parts SELECT n, '2026-01-01'::date + n % 365, n % 9000 FROM generate_series(1, 60000) n;
      CREATE TABLE ${hostile} (n int, t text, "odd, name" int); INSERT INTO ${hostile} SELECT n, 'x', n % 777 FROM generate_series(1, 50000) n;
      CREATE TABLE kid (id int PRIMARY KEY, cust_id int REFERENCES cust); INSERT INTO kid SELECT n, n FROM generate_series(1, 50000) n;
      CREATE TABLE texts AS SELECT n, repeat(md5(n::text), 30) AS essay FROM generate_series(1, 2000) n;
      CREATE TABLE tiny (id int, v int); INSERT INTO tiny SELECT n, n FROM generate_series(1, 20) n;
      GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC; ANALYZE`);
    client = await talk(["--url", db.url, "--toolsets", "dba,data"]);
  });
  afterAll(async () => {
    await client.close();
    await db.dispose();
  });

  const suggest = async (queries: readonly string[], more = {}) =>
    (await client.data("pg_suggest_indexes", { queries, ...more })) as unknown as Answer;

  /** The planner's cost on the real table, before and with the index. */
  async function measured(create: string, query: string) {
    const cost = async () => {
      const [{ "QUERY PLAN": plans } = {}] = await db.admin(`EXPLAIN (FORMAT JSON) ${query}`);
      return (plans as [{ Plan: { "Total Cost": number } }])[0].Plan["Total Cost"];
    };
    const before = await cost();
    await db.admin(
      `CREATE EXTENSION IF NOT EXISTS pg_trgm; ${create.replace(" CONCURRENTLY", "").replace("INDEX", "INDEX tried")}; ANALYZE ev`,
    );
    const after = await cost();
    await db.admin("DROP INDEX tried; DROP EXTENSION pg_trgm");
    return { before, after };
  }

  // Each statement with the index that it gets, and the statement with values for the real table.
  const KNOWN: readonly (readonly [query: string, index: RegExp, value?: string])[] = [
    ["SELECT * FROM ev WHERE cust_id = $1", /ON ev \(cust_id\)$/, "7"],
    ["SELECT id FROM ev ORDER BY created DESC LIMIT 20", /ON ev \(created\)$/],
    [
      "SELECT id FROM ev WHERE status = 'open' AND total > 9000",
      /ON ev \((status, total|total)\)( WHERE \(status = 'open'::text\))?$/,
    ],
    ["SELECT * FROM ev WHERE tenant = $1 ORDER BY at DESC LIMIT 5", /ON ev \(tenant, at\)$/, "7"],
    [
      "SELECT * FROM ev WHERE lower(email) = $1",
      /ON ev \(lower\(email\)\)$/,
      "'person7@example.org'",
    ],
    [
      "SELECT * FROM ev WHERE data->>'tag' = $1",
      /ON ev \(\(\(data ->> 'tag'::text\)\)\)$|ON ev \(\(data ->> 'tag'::text\)\)$/,
      "'t7'",
    ],
    ["SELECT * FROM ev WHERE note LIKE 'abcd%'", /ON ev \(note text_pattern_ops\)$/],
    [`SELECT * FROM ev WHERE data @> '{"tag": "t77"}'`, /ON ev USING gin \(data jsonb_path_ops\)$/],
    ["SELECT * FROM ev WHERE note LIKE '%beefed%'", /ON ev USING gin \(note gin_trgm_ops\)$/],
    [
      "SELECT id FROM ev WHERE status = 'open' ORDER BY created LIMIT 10",
      /ON ev \(created\) WHERE \(status = 'open'::text\)$|ON ev \(status, created\)$/,
    ],
    ["SELECT * FROM cust WHERE email = $1", /ON cust \(email\)$/, "'user7@example.com'"],
    ["SELECT * FROM ev WHERE tags @> ARRAY['a77']", /ON ev USING gin \(tags\)$/],
  ];

  it.for(KNOWN)("%s", async ([query, index, value = ""]) => {
    const { suggestions } = await suggest([query]);
    const [first, ...more] = one(suggestions);
    expect(first?.create).toMatch(index);
    expect(more).toEqual([]);
    // The copy predicts what the real index does.
    const { before, after } = await measured(String(first?.create), query.replace("$1", value));
    expect(after).toBeLessThan(before / 2);
    expect(Number(first?.cost_before) / before).toBeGreaterThan(0.5);
    expect(Number(first?.cost_before) / before).toBeLessThan(2);
  });

  it("serves all of them in one call, and leaves the database unchanged", async () => {
    const objects = "SELECT count(*) AS n FROM pg_class";
    const before = await db.admin(objects);
    const { suggestions, unchanged = [] } = await suggest(KNOWN.map(([query]) => query));
    expect(unchanged).toEqual([]);
    expect(one(suggestions).length).toBeGreaterThanOrEqual(9);
    expect(one(suggestions).find(({ create }) => create?.includes("trgm"))?.reason).toContain(
      "CREATE EXTENSION pg_trgm",
    );
    expect(await db.admin(objects)).toEqual(before);
    // Large savings do not hide small ones.
    expect(suggestions.some(({ create }) => create?.endsWith("ON cust (email)"))).toBe(true);
  });

  it("says why a statement gets no index", async () => {
    const { suggestions, unchanged } = await suggest([
      "SELECT * FROM ev WHERE id = $1",
      "SELECT count(*) FROM ev WHERE total > 5",
      "SELECT * FROM tiny WHERE v = 3",
      "SELECT 1",
      "SELECT note FROM ev WHERE length(note) + tenant > random()",
    ]);
    expect(one(suggestions)).toEqual([]);
    expect(unchanged?.map(({ reason }) => reason)).toEqual([
      "already uses ev_pkey",
      expect.stringMatching(/^reads about (9\d|100)% of ev/),
      "small: tiny has about 20 rows, which are read at once",
      "reads no table",
      expect.stringMatching(/^(tried \d+ ind|reads about)/),
    ]);
  });

  it("one index serves several statements, whatever the names, and that of a foreign key is suggested once", async () => {
    const queries = [
      `SELECT n FROM ${hostile} WHERE "odd, name" = $1`,
      `SELECT count(*) FROM ${hostile} b WHERE b."odd, name" = $1 AND b.n > $2`,
    ];
    const created = one((await suggest(queries)).suggestions).map(({ create }) => create);
    expect(created).toEqual([`CREATE INDEX CONCURRENTLY ON ${hostile} ("odd, name", n)`]);
    const keys = (await suggest(["SELECT id FROM kid WHERE cust_id = $1"])).suggestions;
    expect(keys.filter(({ table }) => table === "kid")).toEqual([
      expect.objectContaining({ cost_after: expect.any(Number) }),
    ]);
  });

  it("indexes a partitioned table as a whole, without CONCURRENTLY", async () => {
    const { suggestions } = await suggest(["SELECT * FROM parts WHERE v = $1"]);
    expect(one(suggestions).map(({ create }) => create)).toEqual(["CREATE INDEX ON parts (v)"]);
  });

  it("suggests no index on values that are too long for a B-tree", async () => {
    expect(one((await suggest(["SELECT n FROM texts WHERE essay = $1"])).suggestions)).toEqual([]);
    expect(one((await suggest(["SELECT n FROM texts WHERE n = $1"])).suggestions)).toHaveLength(1);
  });

  it("knows that a plain index serves LIKE 'abc%' only where text is ordered by code point", async (ctx) => {
    const server = await postgres();
    const [version] = await naive(server.url, "SHOW server_version_num");
    if (Number(version?.server_version_num) < 150_000) return ctx.skip("needs version 15");
    const reasons = [];
    for (const locale of ["LOCALE_PROVIDER icu ICU_LOCALE 'en'", "LC_COLLATE 'C'"]) {
      const url = new URL(server.url);
      url.pathname = `/refmcp_order_${reasons.length}`;
      await naive(
        server.url,
        `CREATE DATABASE ${url.pathname.slice(1)} TEMPLATE template0 ${locale}`,
      );
      await naive(
        url.href,
        "CREATE TABLE t AS SELECT md5(n::text) AS note, repeat('x', 200) AS pad FROM generate_series(1, 30000) n; CREATE INDEX t_note ON t (note); ANALYZE",
      );
      const inIt = await talk(["--url", url.href, "--allow-privileged-role", "--toolsets", "dba"]);
      const answer = (await inIt.data("pg_suggest_indexes", {
        queries: ["SELECT * FROM t WHERE note LIKE 'abcd%'"],
      })) as unknown as Answer;
      reasons.push(answer.unchanged?.[0]?.reason ?? one(answer.suggestions)[0]?.create);
      await inIt.close();
      await naive(server.url, `DROP DATABASE ${url.pathname.slice(1)} WITH (FORCE)`);
    }
    expect(reasons).toEqual([
      "CREATE INDEX CONCURRENTLY ON t (note text_pattern_ops)",
      "already uses t_note",
    ]);
  });

  it("follows a change of the schema", async () => {
    await db.admin("CREATE INDEX ev_cust ON ev (cust_id)");
    const { suggestions, unchanged } = await suggest(["SELECT * FROM ev WHERE cust_id = $1"]);
    expect([one(suggestions), unchanged?.map(({ reason }) => reason)]).toEqual([
      [],
      ["already uses ev_cust"],
    ]);
    await db.admin("DROP INDEX ev_cust");
    expect(one((await suggest(["SELECT * FROM ev WHERE cust_id = $1"])).suggestions)).toHaveLength(
      1,
    );
  });
});

/** Needs a server with pg_stat_statements, which every distribution packages. */
it("picks indexes for the most expensive statements, and names those that are no SELECT", async (ctx) => {
  const isGiven = process.env.TEST_DATABASE_URL !== undefined;
  if (!isGiven) await installExtension("pg_stat_statements").catch(() => undefined);
  const server = await startPostgres(
    isGiven ? {} : { settings: { shared_preload_libraries: "pg_stat_statements" } },
  );
  try {
    const url = await server.createDatabase();
    const missing = await naive(
      url,
      "CREATE EXTENSION pg_stat_statements; SELECT count(*) FROM pg_stat_statements",
    ).then(() => undefined, String);
    if (missing !== undefined) return ctx.skip(`needs pg_stat_statements: ${missing}`);
    await naive(
      url,
      `CREATE TABLE big (id int PRIMARY KEY, kind int, at date, name text);
       INSERT INTO big SELECT n, n % 1000, '2026-01-01'::date + n % 365, 'n' || n FROM generate_series(1, 100000) n; ANALYZE`,
    );
    for (let time = 0; time < 5; time++) {
      await naive(url, "SELECT name FROM big WHERE kind = 7 AND at = '2026-02-03'");
      await naive(url, "UPDATE big SET name = 'x' WHERE id = 7");
    }
    const client = await talk(["--url", url, "--allow-privileged-role", "--toolsets", "dba,data"]);
    const { suggestions, unchanged } = (await client.data(
      "pg_suggest_indexes",
    )) as unknown as Answer;
    await client.close();
    const [first] = suggestions;
    expect(first).toMatchObject({
      table: "big",
      create: expect.stringMatching(/ON big \((kind, at|at, kind|kind|at)\)$/),
    });
    expect(Number(first?.cost_after)).toBeLessThan(Number(first?.cost_before) / 2);
    expect(unchanged).toContainEqual({
      query: expect.stringMatching(/^UPDATE big/),
      reason: "not a SELECT",
    });
  } finally {
    await server.stop();
  }
});
