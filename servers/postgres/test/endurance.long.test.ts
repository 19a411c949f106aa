import { startPostgres } from "@refmcp/embedded-postgres/testing";
import { describe, expect, it } from "vitest";
import { naive } from "./lab.ts";
import { labFor, talk, talkFor } from "./session.ts";

const world = labFor();
const server = talkFor(() => ["--url", world.url, "--max-connections", "3"]);

const running = () =>
  world.admin(
    `SELECT FROM pg_stat_activity WHERE usename = '${world.role}' AND state = 'active' AND query LIKE '%pg_sleep(700)%'`,
  );

describe("statements without end", () => {
  it.each([
    ["a CPU loop", "SELECT count(*) FROM generate_series(1, 1000000000000) a"],
    [
      "an endless CTE",
      "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    ],
  ])("%s ends at the limit, while other calls go on", async (_what, sql) => {
    const slow = server.call("query", { sql, timeout_ms: 1_500 });
    for (let call = 0; call < 5; call++)
      expect((await server.call("query", { sql: "SELECT 1" })).isError).toBe(false);
    const { text, isError } = await slow;
    expect(isError).toBe(true);
    expect(text).toMatch(/Stopped after 1\.5 s.*--query-timeout-ms/s);
  });

  it("a cancelled call stops on the server without hitting another statement", async () => {
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const slow = server
        .call("query", { sql: `SELECT pg_sleep(700), ${round}` }, controller.signal)
        .catch(() => undefined);
      if (round % 2 === 0) await expect.poll(running).toHaveLength(1);
      controller.abort();
      // Immediately, on any free connection.
      const next = await Promise.all(
        [1, 2].map((n) => server.call("query", { sql: `SELECT ${n}, pg_sleep(0.01)` })),
      );
      expect(next.map(({ isError, text }) => (isError ? text : "fine"))).toEqual(["fine", "fine"]);
      await slow;
      await expect.poll(running).toEqual([]);
    }
  });
});

describe("connections", () => {
  it("are waited for while all are busy", async () => {
    const many = await Promise.all(
      Array.from({ length: 32 }, () => server.call("query", { sql: "SELECT pg_sleep(0.02)" })),
    );
    expect(many.filter(({ isError }) => isError)).toEqual([]);
  });

  it("that the server closes while idle are replaced unnoticed", async () => {
    const sessions = async () =>
      (await world.admin(`SELECT FROM pg_stat_activity WHERE usename = '${world.role}'`)).length;
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        [1, 2, 3].map(() => server.call("query", { sql: "SELECT pg_sleep(0.05)" })),
      );
      await world.admin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${world.role}' AND pid <> pg_backend_pid()`,
      );
      // Sometimes before the notification arrived, sometimes after.
      if (round > 0) await expect.poll(sessions).toBe(0);
      expect((await server.call("query", { sql: "SELECT 1" })).text).toContain("[[1]]");
    }
  });

  it("survive a restart of the server", async () => {
    const own = await startPostgres({ settings: {} });
    try {
      const other = await talk(["--url", own.url, "--allow-privileged-role"]);
      expect((await other.call("query", { sql: "SELECT 1" })).isError).toBe(false);
      const { next_cursor } = await other.data("query", {
        sql: "SELECT n FROM generate_series(1, 1000) n",
      });
      const slow = other.call("query", { sql: "SELECT pg_sleep(600)" });
      const sleeping = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
      await expect.poll(() => naive(own.url, sleeping)).toHaveLength(1);
      await own.restart();
      expect((await slow).text).toMatch(/was lost|can't be reached|starting up/);
      expect((await other.call("query", { sql: "SELECT 2" })).text).toContain("[[2]]");
      const rest = await other.data("query", {
        sql: "SELECT n FROM generate_series(1, 1000) n",
        cursor: next_cursor,
      });
      expect(JSON.stringify(rest.rows)).toMatch(/^\[\[201\],\[202\]/);
      await own.stop();
      const { text } = await other.call("query", { sql: "SELECT 1" });
      expect(text).toMatch(/can't be reached \(ECONNREFUSED\).*Check that it is running/s);
      expect(text).not.toContain(new URL(own.url).password);
      await other.close();
    } finally {
      await own.stop();
    }
  });
});
