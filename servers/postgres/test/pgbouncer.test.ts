import pg from "pg";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import { lab } from "./lab.ts";
import { findPgbouncer, startPgbouncer } from "./pgbouncer.ts";
import { talk } from "./session.ts";

/** A server behind a PgBouncer in transaction mode. */
async function bounced({ skip }: TestContext, connections: number, ...more: readonly string[]) {
  const pgbouncer = await findPgbouncer();
  if ("missing" in pgbouncer) return skip(pgbouncer.missing);
  const world = await lab("CREATE TABLE made (n int)");
  onTestFinished(() => world.dispose());
  await world.admin(`ALTER TABLE made OWNER TO ${world.role}`);
  const bouncer = await startPgbouncer(pgbouncer.program, world.url, connections);
  onTestFinished(() => bouncer.stop());
  const server = await talk(["--url", bouncer.url, "--allow-write", ...more]);
  onTestFinished(() => server.close());
  return { world, bouncer, server };
}

it("works, many calls over two connections, and leaves nothing there", async (context) => {
  const { world, server } = await bounced(context, 2, "--max-connections", "8");
  const many = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      server.call("query", { sql: "SELECT $1::int, pg_sleep(0.02)", params: [n] }),
    ),
  );
  expect(many.flatMap(({ isError, text }) => (isError ? [text] : []))).toEqual([]);
  const statements = ["INSERT INTO made VALUES (1)"];
  expect(await server.data("pg_execute", { statements })).toMatchObject({ committed: true });
  const slow = await server.call("query", { sql: "SELECT pg_sleep(600)", timeout_ms: 700 });
  expect(slow.text).toContain("Stopped after 0.7 s");
  const controller = new AbortController();
  const cancelled = server
    .call("query", { sql: "SELECT pg_sleep(601)" }, controller.signal)
    .catch(() => undefined);
  const asleep = () =>
    world.admin(
      "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(601)%' AND pid <> pg_backend_pid()",
    );
  await expect.poll(asleep).toHaveLength(1);
  controller.abort();
  await cancelled;
  await expect.poll(asleep).toEqual([]);
  // The state of PgBouncer's connections for the next client.
  const traces = () =>
    world.admin(
      `SELECT count(*) FILTER (WHERE state LIKE 'idle in transaction%')::int AS open, (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')::int AS locks
       FROM pg_stat_activity WHERE usename = '${world.role}'`,
    );
  await expect.poll(traces).toEqual([{ open: 0, locks: 0 }]);
});

it("leaves locks, prepared statements and settings of other clients alone", async (context) => {
  const { world, bouncer, server } = await bounced(context, 1, "--max-connections", "1");
  const other = new pg.Client({ connectionString: bouncer.url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("SELECT pg_advisory_lock(4242)");
  await other.query("PREPARE theirs AS SELECT 7 AS n");
  await other.query("SET work_mem = '5MB'");
  for (const [tool, args] of [
    ["query", { sql: "SELECT 2" }],
    ["query", { sql: "SELECT no_such_column" }],
    ["query", { sql: "SELECT pg_sleep(60)", timeout_ms: 300 }],
    ["pg_execute", { statements: ["INSERT INTO made VALUES (1)"] }],
    ["pg_execute", { statements: ["VACUUM made"] }],
    ["query", { sql: "SELECT n FROM made" }],
  ] as const) {
    await server.call(tool, args);
    const locks =
      "SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND objid = 4242";
    // The pool has one backend, so this waits until the server has given it back.
    expect((await other.query("EXECUTE theirs")).rows, JSON.stringify(args)).toEqual([{ n: 7 }]);
    expect(await world.admin(locks), JSON.stringify(args)).toEqual([{ locks: 1 }]);
    const settings =
      "SELECT current_setting('work_mem') AS memory, current_setting('statement_timeout') AS timeout";
    expect((await other.query(settings)).rows).toEqual([{ memory: "5MB", timeout: "0" }]);
  }
  expect((await server.data("query", { sql: "SELECT n FROM made" })).rows).toEqual([[1]]);
});
