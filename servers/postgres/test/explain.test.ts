import { expect, it } from "vitest";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

it("shows plans, measures without changing, and names what is slow", async () => {
  const world = await lab(
    `CREATE TABLE big AS SELECT n AS id, n % 1000 AS kind FROM generate_series(1, 50000) n; CREATE SEQUENCE s;
     CREATE TABLE parts (n int, kind int) PARTITION BY RANGE (n); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (60000);
     INSERT INTO parts SELECT n, n % 1000 FROM generate_series(1, 50000) n; ANALYZE`,
  );
  const server = await talk(["--url", world.url]);
  const byKind = { sql: "SELECT * FROM big WHERE kind = $1", params: [7], analyze: true };
  expect(await server.data("pg_explain", byKind)).toMatchObject({
    plan: [expect.stringMatching(/Seq Scan on big .*actual 50 rows/)],
    execution_ms: expect.any(Number),
    warnings: [
      expect.stringMatching(/All 50000 rows of big are read to find 50 by \(kind = .*an index/),
    ],
  });
  const few = await server.data("pg_explain", { sql: "SELECT * FROM big WHERE id IN (1, 2)" });
  expect(few.warnings).toEqual([
    expect.stringMatching(/All 50000 rows of big are read to find 2 by \(id = ANY/),
  ]);
  const limited = { sql: "SELECT * FROM big WHERE kind = $1 AND id > $2 LIMIT $3" };
  const generic = await server.call("pg_explain", limited);
  expect(generic.text).toMatch(/Seq Scan on big.*kind = \$1/);
  const estimate = await server.data("pg_explain", { sql: "SELECT 1; -- last comment" });
  for (const sql of ["SELECT idd FROM big", "SELECT idd FROM big WHERE id = $1"]) {
    const { text } = await server.call("pg_explain", { sql });
    expect(text).toContain('position 8: "SELECT »idd FROM big');
  }
  expect(estimate).toMatchObject({ plan: [expect.stringContaining("Result")], warnings: [] });
  expect(estimate).not.toHaveProperty("execution_ms");
  for (const [args, message] of [
    [{ sql: "DELETE FROM big" }, /DELETE is not a read-only/],
    [{ sql: "EXPLAIN SELECT 1" }, /already has an EXPLAIN/],
    [{ sql: "ANALYZE DELETE FROM big" }, /syntax error|not a read-only/],
    [{ sql: "SELECT nextval('s')", analyze: true }, /nextval/],
    [{ sql: "SELECT kin FROM big" }, /»kin FROM big.*reference the column "big.kind"/s],
  ] as const) {
    expect(await server.refused("pg_explain", args)).toMatch(message);
  }
  expect(
    await world.admin("SELECT count(*)::int AS n, (SELECT last_value FROM s)::int AS s FROM big"),
  ).toEqual([{ n: 50000, s: 1 }]);
  await server.close();
  await world.dispose();
});

// hypopg is not part of PostgreSQL's packages from npm: a schema with its functions imitates it.
const HYPOPG = `
  CREATE TABLE big AS SELECT n AS id, n % 1000 AS kind FROM generate_series(1, 50000) n;
  CREATE TABLE keyed AS SELECT n AS id FROM generate_series(1, 50000) n; ALTER TABLE keyed ADD PRIMARY KEY (id);
  CREATE SCHEMA hypo; GRANT USAGE ON SCHEMA hypo TO PUBLIC;
  INSERT INTO pg_extension VALUES (99991, 'hypopg', 10, 'hypo'::regnamespace, false, '1');
  CREATE FUNCTION hypo.hypopg_create_index(text, OUT indexrelid oid, OUT indexname text) LANGUAGE sql
    AS $$ SELECT 1::oid, CASE WHEN $1 LIKE '%(kind)' THEN 'keyed_pkey' ELSE 'another' END $$;
  CREATE FUNCTION hypo.hypopg_reset() RETURNS void LANGUAGE sql AS ''; ANALYZE`;

it("names the indexes that PostgreSQL would use, where hypopg is installed", async () => {
  const world = await lab(HYPOPG);
  const server = await talk(["--url", world.url]);
  const sql = "SELECT FROM big, keyed WHERE kind = $1 AND big.id > $2 AND keyed.id = $1";
  for (const options of [{}, { params: [3, 4] }, { params: [3, 4], analyze: true }])
    expect(await server.data("pg_explain", { sql, ...options })).toMatchObject({
      missing_indexes: ["CREATE INDEX ON big (kind)"],
    });
  await server.close();
  await world.dispose();
});
