import { expect, it } from "vitest";
import { lab } from "../../test/lab.ts";
import { talk } from "../../test/session.ts";

it("shows plans, measures without changing, and names what is slow", async () => {
  const world = await lab(
    "CREATE TABLE big AS SELECT n AS id, n % 1000 AS kind FROM generate_series(1, 50000) n; CREATE SEQUENCE s; ANALYZE",
  );
  const server = await talk(["--url", world.url]);
  const plan = await server.data("pg_explain", {
    sql: "SELECT * FROM big WHERE kind = $1",
    params: [7],
    analyze: true,
  });
  expect(plan).toMatchObject({
    plan: [expect.stringMatching(/Seq Scan on big .*really 50 rows/)],
    execution_ms: expect.any(Number),
    warnings: [expect.stringMatching(/big is read whole to filter by \(kind = .*an index/)],
  });
  const estimate = await server.data("pg_explain", { sql: "SELECT 1; -- last comment" });
  expect(estimate).toMatchObject({ plan: [expect.stringContaining("Result")], warnings: [] });
  expect(estimate).not.toHaveProperty("execution_ms");
  for (const [args, message] of [
    [{ sql: "DELETE FROM big" }, /DELETE is not a reading/],
    [{ sql: "EXPLAIN SELECT 1" }, /EXPLAIN in the query already/],
    [{ sql: "ANALYZE DELETE FROM big" }, /syntax error|not a reading/],
    [{ sql: "SELECT nextval('s')", analyze: true }, /nextval/],
    [{ sql: "SELECT kin FROM big" }, /Did you mean kind/],
    [{ sql: "SELECT 1", indexes: ["CREATE INDEX ON big (kind)"] }, /hypopg is not installed/],
  ] as const) {
    const { text, isError } = await server.call("pg_explain", args);
    expect(isError, text).toBe(true);
    expect(text).toMatch(message);
  }
  expect(
    await world.admin("SELECT count(*)::int AS n, (SELECT last_value FROM s)::int AS s FROM big"),
  ).toEqual([{ n: 50000, s: 1 }]);
  await server.close();
  await world.dispose();
});
