import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@refmcp/embedded-postgres/testing";
import { smallDisk } from "@refmcp/sql/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { naive } from "./lab.ts";
import { talk, talkToProcess } from "./session.ts";
import { undoing } from "./undoing.ts";

/** How often a server is killed. */
const KILLS = isLong ? 6 : 3;
const ROWS =
  "CREATE TABLE t (id int PRIMARY KEY, x int DEFAULT 0); INSERT INTO t SELECT n FROM generate_series(1, 100) n";
describe("undo with other sessions", () => {
  it("names the rows that were changed since, and changes nothing", async () => {
    const { world, change, undo, content } = await undoing(ROWS);
    const id = await change(
      "UPDATE t SET x = 1 WHERE id < 50",
      "DELETE FROM t WHERE id > 90",
      "INSERT INTO t VALUES (200)",
    );
    await world.admin(
      "UPDATE t SET x = 7 WHERE id IN (3, 4); DELETE FROM t WHERE id = 5; INSERT INTO t VALUES (95, 95); UPDATE t SET x = 1 WHERE id = 200",
    );
    const before = await content("t");
    const { text, isError } = await undo(id);
    expect(isError).toBe(true);
    expect(text).toMatch(
      /was not undone: 5 of its rows are not as it left them: public\.t \(3\).*/,
    );
    expect(await content("t")).toEqual(before);
    await world.admin(
      "UPDATE t SET x = 1 WHERE id IN (3, 4); INSERT INTO t VALUES (5, 1); DELETE FROM t WHERE id = 95; UPDATE t SET x = 0 WHERE id = 200",
    );
    expect((await undo(id)).isError).toBe(false);
    expect(await world.admin("SELECT count(*)::int AS n, sum(x)::int AS x FROM t")).toEqual([
      { n: 100, x: 0 },
    ]);
  });

  it("needs no more connections than allowed, however many changes there are at once", async () => {
    const { world, another, server } = await undoing(ROWS, { args: ["--max-connections", "2"] });
    const all = Array.from({ length: 12 }, (_, at) =>
      server.data("pg_execute", { statements: [`DELETE FROM t WHERE id % 12 = ${at}`] }),
    );
    const ids = (await Promise.all(all)).map(({ change_id }) => ({ change_id }));
    const count = () => world.admin("SELECT count(*)::int AS n FROM t");
    expect(await count()).toEqual([{ n: 0 }]);
    await Promise.all(ids.map((id) => server.data("pg_undo_change", id)));
    expect(await count()).toEqual([{ n: 100 }]);
    const single = await another("--max-connections", "1");
    const execute = (sql: string) => single.data("pg_execute", { statements: [sql] });
    expect((await execute("DELETE FROM t WHERE id = 1")).loss).toBe(
      "This cannot be undone: DELETE of 1 row of t (--max-connections 1 leaves no second connection).",
    );
    // Adding rows loses nothing, and needs no second connection.
    expect(await execute("INSERT INTO t VALUES (1)")).toHaveProperty("change_id");
  });
});

describe("what can't be recorded", () => {
  it("is asked with the reason", async () => {
    const { server, world, questions } = await undoing(
      `${ROWS}; SELECT lo_create(4242); CREATE FUNCTION drop_object() RETURNS int LANGUAGE sql AS 'SELECT lo_unlink(4242)'`,
      {
        admin: `CREATE TABLE hidden (id int); INSERT INTO hidden VALUES (1), (2); GRANT ALL ON hidden TO ROLE_NAME; ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON hidden USING (id = 1);
        CREATE TABLE secret AS SELECT generate_series(1, 9); REVOKE ALL ON secret FROM ROLE_NAME; GRANT DELETE ON secret TO ROLE_NAME;
        CREATE TABLE log (what text); REVOKE ALL ON log FROM ROLE_NAME; GRANT INSERT ON log TO ROLE_NAME`,
      },
    );
    for (const [statements, loss] of [
      [["DELETE FROM secret"], /of 9 rows of secret \(secret: this role can't read it\)/],
      [["DELETE FROM hidden"], /of 1 row of hidden \(hidden: row security may hide rows/],
      [
        ["ALTER TABLE t ADD COLUMN y int", "UPDATE t SET y = id"],
        /UPDATE of 100 rows of t \(a second connection can't read them: .*lock timeout/,
      ],
      [["SELECT drop_object()"], /DELETE of 1 row of pg_largeobject_metadata/],
    ] as const) {
      const earlier = questions.length;
      const answer = await server.call("pg_execute", { statements, dry_run: false });
      expect(answer.isError, answer.text).toBe(false);
      expect(JSON.parse(answer.text), answer.text).not.toHaveProperty("change_id");
      expect(questions.slice(earlier)).toEqual([expect.stringMatching(loss)]);
    }
    // Adding rows where they can't be read loses nothing.
    const { change_id } = await server.data("pg_execute", {
      statements: ["INSERT INTO log VALUES ('x')", "DELETE FROM t WHERE id = 1"],
    });
    const { note } = await server.data("pg_undo_change", { change_id });
    expect(note).toMatch(/^Rows inserted into log remain/);
    expect(await world.admin("SELECT count(*)::int AS n FROM log")).toEqual([{ n: 1 }]);
  });

  it("is asked if the server does not count changed rows", async () => {
    const { server, questions } = await undoing(ROWS, {
      admin: "ALTER ROLE ROLE_NAME SET track_counts = off",
    });
    await server.data("pg_execute", { statements: ["DELETE FROM t WHERE id < 4"] });
    expect(questions).toEqual([
      expect.stringContaining(
        'DELETE of 3 rows of "t" (the server doesn\'t count changed rows: track_counts is off)',
      ),
    ]);
  });

  it.runIf(process.platform === "linux")("is asked if the disk is full", async (ctx) => {
    const { state, server, world, change, undo } = await undoing(
      "CREATE TABLE t (id int PRIMARY KEY, x text); INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, 3000) n",
    );
    await smallDisk(ctx, state);
    const { loss } = await server.data("pg_execute", {
      statements: ["DELETE FROM t WHERE id > 100"],
    });
    expect(loss).toMatch(
      /DELETE of 2,900 rows of t \(the record of changes can't be written: ENOSPC/,
    );
    const id = await change("DELETE FROM t");
    expect((await undo(id)).isError).toBe(false);
    expect(await world.admin("SELECT count(*)::int AS n FROM t")).toEqual([{ n: 100 }]);
    const files = await readdir(join(state, "changes"), { recursive: true });
    expect(files.filter((name) => name.endsWith(".pending"))).toEqual([]);
  });
});

describe("undo", () => {
  it("of one row does not read the whole table", async () => {
    const { world, change, undo } = await undoing(
      "CREATE TABLE t (id int PRIMARY KEY, x int DEFAULT 0); INSERT INTO t SELECT n FROM generate_series(1, 20000) n; ANALYZE t",
    );
    const scans = async () => {
      await world.admin("SELECT pg_sleep(0.1)");
      return (
        await world.admin(
          "SELECT pg_stat_clear_snapshot(), seq_tup_read::int AS n FROM pg_stat_user_tables WHERE relname = 't'",
        )
      )[0]?.n;
    };
    const earlier = await scans();
    for (const sql of [
      "UPDATE t SET x = 1 WHERE id = 7",
      "DELETE FROM t WHERE id = 8",
      "INSERT INTO t VALUES (0)",
      "INSERT INTO t VALUES (0, 5) ON CONFLICT (id) DO UPDATE SET x = 5",
    ])
      expect((await undo(await change(sql))).isError).toBe(false);
    expect(await scans()).toBe(earlier);
  });

  it("survives kill -9 of the server at any moment", async () => {
    const { world, state, content, another } = await undoing(ROWS);
    const before = await content("t");
    for (let kill = 0; kill < KILLS; kill++) {
      const child = await talkToProcess(["--url", world.url, "--allow-write", "--undo-dir", state]);
      const calls = Array.from({ length: 40 }, (_, at) =>
        child
          .call("pg_execute", { statements: [`UPDATE t SET x = x + 1 WHERE id % 10 = ${at % 10}`] })
          .catch(() => undefined),
      );
      await calls[kill * 4];
      process.kill(child.connected.pid ?? 0, "SIGKILL");
      await Promise.all(calls);
    }
    await world.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${world.role}'`,
    );
    const server = await another();
    const changes: { change_id: string }[] = [];
    let cursor: unknown;
    do {
      const page = Object(await server.data("pg_list_changes", { limit: 50, cursor }));
      changes.push(...page.changes);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(changes.length).toBeGreaterThan(3 * KILLS);
    for (const { change_id } of changes) await server.data("pg_undo_change", { change_id });
    expect(await content("t")).toEqual(before);
  });

  it("knows whether PostgreSQL committed a change during which the server was killed", async () => {
    // A commit waits for a standby that does not exist, after it was made.
    const own = await startPostgres({
      settings: { synchronous_standby_names: "nobody", synchronous_commit: "local" },
    });
    onTestFinished(() => own.stop());
    const adminUrl = await own.createDatabase();
    const admin = (sql: string) => naive(adminUrl, sql);
    await admin(`CREATE ROLE waiting LOGIN PASSWORD 'pw'; GRANT ALL ON SCHEMA public TO waiting; SET ROLE waiting; ${ROWS}; RESET ROLE;
      ALTER ROLE waiting SET synchronous_commit = 'on'`);
    const url = new URL(adminUrl);
    url.username = "waiting";
    url.password = "pw";
    const state = await mkdtemp(join(tmpdir(), "refmcp-undo-"));
    onTestFinished(() => rm(state, { recursive: true, force: true }));
    const args = ["--url", url.href, "--allow-write", "--undo-dir", state];
    const child = await talkToProcess(args);
    const call = child.call("pg_execute", { statements: ["DELETE FROM t"] }).catch(() => undefined);
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await expect.poll(() => admin(waiting)).toHaveLength(1);
    process.kill(child.connected.pid ?? 0, "SIGKILL");
    await call;
    await admin(
      "ALTER ROLE waiting SET synchronous_commit = 'local'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'waiting'",
    );
    const [folder = ""] = await readdir(join(state, "changes"));
    const [name = ""] = await readdir(join(state, "changes", folder));
    expect(name).toMatch(/\.pending$/);
    // The same record of a transaction that was rolled back.
    const [aborted] = await admin("BEGIN; SELECT pg_current_xact_id()::text AS xid");
    const text = await readFile(join(state, "changes", folder, name), "utf8");
    const other = name.replace(/-[^.]*/, "-000000");
    const rolledBack = text
      .replaceAll(/"xid":"\d+"/g, `"xid":"${aborted?.xid}"`)
      .replace(/"id":"0[^"]*"/, `"id":"${other.replace(/\..*/, "")}"`);
    expect(rolledBack).toHaveLength(text.length);
    await writeFile(join(state, "changes", folder, other), rolledBack);
    const server = await talk(args);
    onTestFinished(() => server.close());
    const { changes } = Object(await server.data("pg_list_changes"));
    expect(changes).toEqual([
      expect.objectContaining({ change_id: name.replace(/\..*/, ""), can_undo: true }),
    ]);
    expect(changes[0]).not.toHaveProperty("note");
    const never = await server.call("pg_undo_change", { change_id: other.replace(/\..*/, "") });
    expect(never.text).toMatch(/was never committed: there is nothing to undo/);
    await server.data("pg_undo_change", { change_id: changes[0].change_id });
    expect(await admin("SELECT count(*)::int AS n FROM t")).toEqual([{ n: 100 }]);
  });
});
