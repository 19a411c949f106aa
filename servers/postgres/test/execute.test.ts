import { describe, expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();
const cities = () => at.sql("SELECT city FROM customers ORDER BY id");

describe("pg_execute", () => {
  it("rolls everything back for dry_run, and if one of several fails", async () => {
    const before = await cities();
    const statements = ["UPDATE customers SET city = 'Rome' WHERE id = 1"];
    expect(await at.data("pg_execute", { statements, dry_run: true })).toMatchObject({
      committed: false,
    });
    const failing = { statements: [...statements, "INSERT INTO nowhere VALUES (1)"] };
    expect(await at.refused("pg_execute", failing)).toContain("nowhere");
    expect(await cities()).toEqual(before);
  });

  it("that is cancelled leaves nothing changed and nothing running", async () => {
    const before = await cities();
    const controller = new AbortController();
    const sleeping = () =>
      at.sql("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND state <> 'idle'");
    const statements = ["UPDATE customers SET city = 'Rome'", "SELECT pg_sleep(600)"];
    const cancelled = at.call("pg_execute", { statements }, controller.signal);
    const caught = expect(cancelled).rejects.toThrow();
    await expect.poll(sleeping).toHaveLength(1);
    controller.abort();
    await caught;
    // Before the time limit would end it.
    await expect.poll(sleeping, { timeout: 20_000 }).toEqual([]);
    const open = "SELECT FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    await expect.poll(() => at.sql(open)).toEqual([]);
    expect(await cities()).toEqual(before);
  });

  it("reports a connection that was lost, and the next call works", async () => {
    const lost = at.call("query", { sql: "SELECT pg_sleep(601)" });
    const end =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(601)' AND state = 'active'";
    await expect.poll(() => at.sql(end)).toHaveLength(1);
    expect((await lost).text).toMatch(/was lost.*Repeat the call/s);
    expect(await at.call("query", { sql: "SELECT 1" })).toMatchObject({ isError: false });
  });

  it("returns all rows of RETURNING that fit, regardless of other statements in the transaction", async () => {
    const { results, truncated } = await at.data("pg_execute", {
      statements: [
        "CREATE TABLE notes (id serial, note text)",
        "INSERT INTO notes (note) VALUES ('a'), ('b') RETURNING *",
        "INSERT INTO notes (note) SELECT 'x' FROM generate_series(1, 500) RETURNING id",
        "DROP TABLE notes",
      ],
      dry_run: true,
    });
    expect(truncated).toBe(false);
    const [, two, many] = Object(results);
    expect(JSON.stringify(two.rows)).toBe('[[1,"a"],[2,"b"]]');
    expect([many.row_count, many.rows.length]).toEqual([500, 500]);
  });

  it("runs statements that can't be in a transaction alone, with the limits of a call", async () => {
    for (const sql of [
      "CREATE INDEX CONCURRENTLY by_city ON customers (city)",
      "VACUUM customers",
      "ANALYZE customers",
      "REINDEX TABLE CONCURRENTLY customers",
    ])
      expect(await at.asked("pg_execute", { statements: [sql] }), sql).toEqual([]);
    const drop = "DROP INDEX CONCURRENTLY by_city";
    expect(await at.asked("pg_execute", { statements: [drop] })).toEqual([
      expect.stringContaining(drop),
    ]);
    expect(await at.sql("SELECT to_regclass('by_city') AS index")).toEqual([{ index: null }]);
    const both = { statements: ["VACUUM customers", "SELECT 1"] };
    expect(await at.refused("pg_execute", both)).toMatch(/can't run in a transaction.*alone/s);
    const sql = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')";
    expect((await at.data("query", { sql })).rows).toEqual([["30s", "5s"]]);
  });

  it("names the invalid index that a failed CONCURRENTLY leaves, and how to drop it", async () => {
    const run = (sql: string) => at.call("pg_execute", { statements: [sql] });
    await at.sql("CREATE TABLE doubled AS SELECT 1 AS n FROM generate_series(1, 2)");
    const unique = await run("CREATE UNIQUE INDEX CONCURRENTLY doubled_n ON doubled (n)");
    expect(unique.text).toMatch(
      /SQLSTATE 23505.*left an invalid index.*: doubled_n\..*DROP INDEX CONCURRENTLY doubled_n/s,
    );
    const again = await run("CREATE UNIQUE INDEX CONCURRENTLY again ON doubled (n)");
    expect(again.text).toMatch(/left an invalid index.*: again\./);
    for (const name of ["doubled_n", "again"])
      expect(await run(`DROP INDEX CONCURRENTLY ${name}`)).toMatchObject({ isError: false });
    const none = await run("CREATE INDEX CONCURRENTLY ON doubled (nowhere)");
    expect(none.text).not.toContain("invalid index");
  });

  it("asks before a sequence is set back, and refuses setval, which no transaction undoes", async () => {
    await at.sql("CREATE SEQUENCE tickets; SELECT nextval('tickets')");
    const setval = { statements: ["SELECT setval('tickets', 100)"] };
    expect(await at.refused("pg_execute", setval)).toContain("ALTER SEQUENCE");
    const restart = "ALTER SEQUENCE tickets RESTART WITH 100";
    expect(await at.asked("pg_execute", { statements: [restart] })).toEqual([
      expect.stringContaining(restart),
    ]);
    expect(await at.sql("SELECT nextval('tickets')::int AS n")).toEqual([{ n: 100 }]);
    await at.sql("DROP SEQUENCE tickets");
  });
});
