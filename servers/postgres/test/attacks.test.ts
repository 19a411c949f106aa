import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PortalQuery } from "../src/database/driver/portal.ts";
import { readRows } from "../src/database/driver/read.ts";
import type { Sessions } from "../src/database/driver/sessions.ts";
import { begin, settings } from "../src/database/driver/settings.ts";
import { passReading } from "../src/database/gate/read.ts";
import { databaseOn, lab, naive } from "./lab.ts";
import { labFor, talk, talkFor } from "./session.ts";

const GRANT_SQL = readFileSync(
  new URL("../src/database/driver/grant.sql", import.meta.url),
  "utf8",
);

const SETUP = `
  CREATE TABLE victims AS SELECT n AS id, 'kept' AS name FROM generate_series(1, 100) n;
  CREATE SEQUENCE counter;
  CREATE PROCEDURE wipe() LANGUAGE sql AS 'DELETE FROM victims';
  CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM victims; RETURN 1; END $$;
  CREATE EXTENSION dblink;
`;
const proof = join(tmpdir(), `refmcp-attack-${process.pid}`);
const stolen = "/etc/hostname";

const world = labFor(SETUP);
// The worst case: a superuser, allowed on purpose. Only this server's layers protect the database.
const superuser = talkFor(() => ["--url", world.adminUrl, "--allow-privileged-role"]);

/** Everything that an attack could have changed. */
async function state(): Promise<unknown> {
  const rows = await world.admin(
    `SELECT (SELECT count(*) FROM victims WHERE name = 'kept')::int AS kept, (SELECT last_value FROM counter)::int AS counter,
       (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace)::int AS relations,
       (SELECT count(*) FROM pg_largeobject_metadata)::int AS objects,
       (SELECT count(*) FROM pg_roles WHERE rolname = 'intruder')::int AS roles`,
  );
  return { ...rows[0], file: existsSync(proof) };
}
const UNTOUCHED = { kept: 100, counter: 1, relations: 3, objects: 0, roles: 0, file: false };

/** The layers that stop each attack alone; the gate stops all of them. */
type Layer = "extended" | "read-only" | "role";
const ATTACKS: readonly (readonly [sql: string, ...layers: Layer[]])[] = [
  ["COMMIT; DROP TABLE victims; --", "extended", "role"],
  ["SELECT 1; DELETE FROM victims", "extended", "read-only", "role"],
  ["ROLLBACK; CREATE ROLE intruder SUPERUSER", "extended", "role"],
  ["END; BEGIN READ WRITE; TRUNCATE victims; COMMIT", "extended", "role"],
  ["WITH gone AS (DELETE FROM victims RETURNING *) SELECT * FROM gone", "read-only", "role"],
  ["SELECT * INTO taken FROM victims", "read-only", "role"],
  ["CREATE TABLE taken AS SELECT 1", "read-only", "role"],
  ["SELECT * FROM victims FOR UPDATE", "read-only", "role"],
  ["EXPLAIN ANALYZE DELETE FROM victims", "read-only", "role"],
  ["EXPLAIN (ANALYZE) UPDATE victims SET name = 'x'", "read-only", "role"],
  ["DO $$ BEGIN DELETE FROM victims; COMMIT; END $$", "read-only", "role"],
  ["CALL wipe()", "read-only", "role"],
  ["SELECT sneak()", "read-only", "role"],
  ["SELECT nextval('counter')", "read-only", "role"],
  ["SELECT set_config('transaction_read_only', 'off', false)", "read-only"],
  [`COPY victims TO PROGRAM 'touch ${proof}'`, "role"],
  [`COPY (SELECT 1) TO '${proof}'`, "role"],
  [`COPY victims FROM PROGRAM 'touch ${proof}'`, "read-only", "role"],
  [`SELECT pg_read_file('${stolen}')`, "role"],
  [`SELECT "pg_read_file"('${stolen}')`, "role"],
  [`SELECT U&"pg\\005fread_file"('${stolen}')`, "role"],
  [`SELECT * FROM pg_read_file('${stolen}')`, "role"],
  [`SELECT * FROM ROWS FROM (pg_read_file('${stolen}'))`, "role"],
  [`SELECT f.* FROM victims, LATERAL pg_read_file('${stolen}') f LIMIT 1`, "role"],
  [`SELECT ('${stolen}'::text).pg_read_file`, "role"],
  [`SELECT f.pg_read_file FROM unnest(array['${stolen}']) f`, "role"],
  [`SELECT query_to_xml('SELECT pg_read_file(''${stolen}'')', true, true, '')`, "role"],
  ["SELECT query_to_xml('DELETE FROM victims RETURNING *', true, true, '')", "read-only"],
  // A read-only transaction stops these from PostgreSQL 16 on.
  [`SELECT lo_import('${stolen}')`, "role"],
  ["SELECT lo_from_bytea(0, 'x')"],
  [`SELECT lo_export(1, '${proof}')`, "role"],
  ["SELECT dblink_exec('dbname=' || current_database(), 'DELETE FROM victims')", "role"],
  ["SELECT rolpassword FROM pg_authid", "role"],
  ["SELECT usename, passwd FROM pg_shadow", "role"],
  ["SELECT pg_reload_conf()", "role"],
  ["ALTER SYSTEM SET work_mem = '1MB'", "role"],
];

describe("as a superuser, through the tools", () => {
  it.each(ATTACKS.map(([sql]) => sql))("%s", async (sql) => {
    const { text, isError } = await superuser.call("query", { sql });
    // A user-defined function passes the gate; the transaction stops it.
    expect(isError, text).toBe(true);
    expect(text).not.toContain("SCRAM-SHA");
    for (const name of ["pg_explain", "pg_export"]) {
      const args = name === "pg_explain" ? { sql, analyze: true } : { sql, path: "x.csv" };
      expect((await superuser.call(name, args)).isError, name).toBe(true);
    }
    expect(await state()).toEqual(UNTOUCHED);
  });
});

describe("each layer alone", () => {
  const holding = (layer: Layer) =>
    ATTACKS.flatMap(([sql, ...layers]) => (layers.includes(layer) ? [sql] : []));
  const connected = async <Value>(
    url: string,
    use: (client: pg.Client) => Promise<Value>,
  ): Promise<Value> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  };

  // Functions of the database are looked up there.
  const lookedUp = /sneak|dblink/;
  it.each(ATTACKS.map(([sql]) => sql).filter((sql) => !lookedUp.test(sql)))(
    "gate: %s",
    async (sql) => {
      await expect(passReading(sql)).rejects.toMatchObject({ kind: "denied" });
    },
  );

  it.each(holding("extended"))(
    "extended protocol, as a superuser outside a transaction: %s",
    async (sql) => {
      const refused = connected(world.adminUrl, (client) =>
        new PortalQuery({ text: sql, params: [] }, { chars: 1_000 }, () => undefined).run(client),
      );
      await expect(refused).rejects.toMatchObject({ code: "42601" });
      expect(await state()).toEqual(UNTOUCHED);
    },
  );

  it.each(holding("read-only"))(
    "read-only transaction, as a superuser over the simple protocol: %s",
    async (sql) => {
      const refused = connected(world.adminUrl, async (client) => {
        await client.query([begin("READ ONLY"), ...settings("LOCAL", 60_000)].join("; "));
        await client.query(sql);
      });
      await expect(refused).rejects.toMatchObject({
        code: expect.stringMatching(/^(25006|25001|2D000|0A000)$/),
      });
      expect(await state()).toEqual(UNTOUCHED);
    },
  );

  it("role of --print-grant-sql, over the simple protocol outside a transaction", async () => {
    const other = await lab(SETUP);
    const name = new URL(other.adminUrl).pathname.slice(1);
    const role = `printed_${process.pid}`;
    await other.admin(
      GRANT_SQL.replaceAll("refmcp_reader", role)
        .replaceAll("mydb", `"${name}"`)
        .replace(/--.*$/gm, ""),
    );
    // Without the role's own setting, which it could turn off.
    await other.admin(`ALTER ROLE ${role} RESET default_transaction_read_only`);
    const url = new URL(other.adminUrl);
    url.username = role;
    url.password = "change-me";
    expect(await naive(url.href, "SELECT count(*)::int AS n FROM victims")).toEqual([{ n: 100 }]);
    for (const sql of [
      ...holding("role"),
      "CREATE TEMP TABLE t AS SELECT 1",
      "CREATE TABLE t AS SELECT 1",
    ]) {
      await expect(naive(url.href, sql), sql).rejects.toThrow(
        /permission denied|must be (superuser|owner)|must have privileges|password .*is required/,
      );
    }
    expect(await other.admin("SELECT count(*)::int AS n FROM victims")).toEqual([{ n: 100 }]);
    await databaseOn(url.href).work(
      { signal: new AbortController().signal },
      async () => undefined,
    );
    await other.admin(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await other.dispose();
  });

  it("audit: refuses superusers and roles with access to the host, unless an option allows them", async () => {
    const plain = await talk(["--url", world.adminUrl]);
    const text = await plain.refused("query", { sql: "SELECT 1" });
    expect(text).toMatch(
      /is refused: it is a superuser.*--print-grant-sql.*--allow-privileged-role/s,
    );
    await plain.close();
    for (const right of ["read_server_files", "execute_server_program", "write_server_files"]) {
      const privilege = `pg_${right}`;
      await world.admin(`GRANT ${privilege} TO ${world.role}`);
      const member = await talk(["--url", world.url]);
      const text = await member.refused("query", { sql: "SELECT 1" });
      expect(text).toContain(`member of ${privilege}`);
      await world.admin(`REVOKE ${privilege} FROM ${world.role}`);
      expect((await member.call("query", { sql: "SELECT 1" })).isError).toBe(false);
      await member.close();
    }
  });

  it("audit: accepts roles that the other layers contain, such as the owner roles of managed services", async () => {
    await world.admin(
      `GRANT pg_read_all_data, pg_signal_backend TO ${world.role}; ALTER ROLE ${world.role} CREATEROLE CREATEDB BYPASSRLS REPLICATION`,
    );
    const owner = await talk(["--url", world.url]);
    expect(await owner.call("query", { sql: "SELECT 1" })).toMatchObject({ isError: false });
    for (const sql of [
      "SELECT rolpassword FROM pg_authid",
      "SELECT * FROM pg_catalog.pg_shadow",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
      "SELECT pg_create_physical_replication_slot('x')",
    ])
      expect((await owner.call("query", { sql })).text, sql).toMatch(/is blocked/);
    await owner.close();
    await world.admin(
      `REVOKE pg_read_all_data, pg_signal_backend FROM ${world.role}; ALTER ROLE ${world.role} NOCREATEROLE NOCREATEDB NOBYPASSRLS NOREPLICATION`,
    );
  });

  it("administration: changes roles only with --allow-admin, and never gives one access beyond its database", async () => {
    await world.admin(`ALTER ROLE ${world.role} CREATEROLE`);
    const said = async (flags: readonly string[], ...statements: string[]) => {
      const all = ["--url", world.url, "--allow-write", "--confirm", "never", ...flags];
      const server = await talk(all);
      const { text } = await server.call("pg_execute", { statements });
      await server.close();
      return text;
    };
    for (const sql of [
      "CREATE ROLE clerk LOGIN",
      "GRANT pg_monitor TO clerk",
      "ALTER ROLE clerk SET work_mem = '1MB'",
      "DROP ROLE clerk",
    ])
      expect(await said([], sql), sql).toContain("Managing roles needs --allow-admin.");
    for (const sql of [
      "CREATE ROLE intruder SUPERUSER",
      "CREATE ROLE intruder IN ROLE pg_execute_server_program",
      "ALTER ROLE clerk REPLICATION",
      "ALTER ROLE clerk BYPASSRLS",
      "ALTER GROUP pg_write_server_files ADD USER clerk",
      'GRANT "pg_read_server_files" TO clerk',
    ])
      expect(await said(["--allow-admin"], sql), sql).toMatch(/is not allowed here/);
    expect(await state()).toEqual(UNTOUCHED);
    const asked: string[] = [];
    const server = await talk(["--url", world.url, "--allow-write", "--allow-admin"], {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: { confirm: true } };
      },
    });
    const clerks = () => world.admin("SELECT FROM pg_roles WHERE rolname = 'clerk'");
    await server.data("pg_execute", { statements: ["CREATE ROLE clerk LOGIN"] });
    expect(await clerks()).toHaveLength(1);
    for (const statement of ["ALTER ROLE clerk NOLOGIN", "DROP ROLE clerk"])
      await server.data("pg_execute", { statements: [statement] });
    expect(asked).toEqual([
      expect.stringContaining("ALTER ROLE clerk"),
      expect.stringContaining("DROP ROLE clerk"),
    ]);
    expect(await clerks()).toEqual([]);
    await server.close();
    await world.admin(`ALTER ROLE ${world.role} NOCREATEROLE`);
  });

  describe("cleaning: nothing of a call reaches the next one on the same connection", () => {
    const signal = new AbortController().signal;
    const names =
      "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,client_encoding,standard_conforming_strings,backslash_quote,DateStyle,bytea_output,extra_float_digits";
    const traces = `SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
      to_regclass('pg_temp.leak') IS NOT NULL AS temporary, (SELECT count(*)::int FROM pg_prepared_statements) AS prepared,
      (SELECT count(*)::int FROM pg_cursors WHERE is_holdable) AS cursors, ARRAY(SELECT pg_listening_channels()) AS channels, current_user AS role,
      ARRAY(SELECT current_setting(name) FROM unnest('{work_mem,synchronize_seqscans,${names}}'::text[]) name) AS settings`;
    const look = (database: Sessions, timeoutMs?: number) =>
      database.work({ signal, timeoutMs }, async (session) => (await session.rows(traces))[0]);
    const leaving = `pg_advisory_lock(42); SET work_mem = '7MB'; SET standard_conforming_strings = off; SET statement_timeout = 0;
      SET synchronize_seqscans = on; SET DateStyle = 'German'; SET ROLE pg_monitor`;
    const works: Readonly<Record<string, (database: Sessions) => Promise<unknown>>> = {
      "a read": (database) =>
        database.work({ signal }, (session) => session.run("SELECT count(*) FROM victims")),
      "a read that fails": (database) =>
        database.work({ signal }, (session) =>
          session.run("SELECT pg_advisory_lock(42); SELECT 1 / 0"),
        ),
      "a read with a shorter time limit": (database) => look(database, 7_000),
      "a read that leaves as much state as possible": (database) =>
        database.work({ signal }, (session) =>
          session.run(
            `SELECT ${leaving}; PREPARE p AS SELECT 1; LISTEN leak; DECLARE c CURSOR WITH HOLD FOR SELECT 1`,
          ),
        ),
      "a function that a view calls": (database) =>
        readRows(
          database,
          { sql: "SELECT * FROM trap", params: [], format: "rows", cellBytes: 100, signal },
          { skip: 0, chars: 1_000, rows: 10_000 },
        ),
      "a change that is committed": (database) =>
        database.work({ signal, mode: "READ WRITE" }, (session) =>
          session.run(`CREATE TEMP TABLE leak (x int); PREPARE p AS SELECT 1; LISTEN leak;
            DECLARE c CURSOR WITH HOLD FOR SELECT 1; SELECT ${leaving}; COMMIT`),
        ),
    };
    beforeAll(async () => {
      await world.admin(`
        GRANT pg_monitor TO ${world.role}; GRANT SELECT ON victims TO PUBLIC;
        CREATE FUNCTION trap() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN
          PERFORM pg_advisory_lock(7); PERFORM set_config('work_mem', '7MB', false); PERFORM set_config('statement_timeout', '0', false);
          PERFORM set_config('role', 'pg_monitor', false); EXECUTE 'PREPARE p AS SELECT 1'; RETURN 1;
        END $$;
        CREATE VIEW trap AS SELECT trap(); GRANT SELECT ON trap TO PUBLIC`);
    });
    afterAll(() =>
      world.admin(`DROP VIEW trap; DROP FUNCTION trap(); REVOKE pg_monitor FROM ${world.role}`),
    );

    it("with DISCARD ALL for a role that may not release its advisory locks", async () => {
      const right = "EXECUTE ON FUNCTION pg_catalog.pg_advisory_unlock_all()";
      await world.admin(`REVOKE ${right} FROM PUBLIC`);
      onTestFinished(async () => void (await world.admin(`GRANT ${right} TO PUBLIC`)));
      const database = databaseOn(world.url, { maxConnections: 1 });
      onTestFinished(() => database.close());
      const before = await look(database);
      await works["a read that leaves as much state as possible"]?.(database);
      expect(await look(database)).toEqual(before);
    });

    it.each(Object.keys(works))("%s", async (name) => {
      // The function gate would stop the view's.
      const database = databaseOn(world.url, { maxConnections: 1, allowFunction: ["*"] });
      onTestFinished(() => database.close());
      const before = await look(database);
      const work = async () => works[name]?.(database).catch(() => undefined);
      // In the packet of the next call, which waits for the connection …
      const [, next, limited] = await Promise.all([work(), look(database), look(database, 7_000)]);
      expect(next).toEqual(before);
      expect(limited).not.toEqual(before);
      expect(await look(database)).toEqual(before);
      // … and by itself.
      await work();
      const pid = before?.["pid"];
      const idle = () =>
        world.admin(`SELECT state, query FROM pg_stat_activity WHERE pid = ${pid}`);
      const cleaned = { state: "idle", query: expect.stringMatching(/unlock_all|DISCARD|SET /) };
      await expect.poll(idle).toMatchObject([cleaned]);
      // It is idle between two statements of the cleaning, too.
      const locks = () => world.admin(`SELECT FROM pg_locks WHERE pid = ${pid}`);
      await expect.poll(locks).toEqual([]);
      expect(await look(database)).toEqual(before);
    });
  });

  it("literals mean the same to the gate and to a role with standard_conforming_strings off", async () => {
    await world.admin(`ALTER ROLE ${world.role} SET standard_conforming_strings = off`);
    const other = await talk(["--url", world.url]);
    const tricks = [
      "SELECT '\\' AS a, ' ; DELETE FROM victims; --'",
      "SELECT 'a\\'",
      "SELECT E'\\'' || $$'; x$$",
    ];
    for (const sql of tricks) expect((await other.call("query", { sql })).isError, sql).toBe(false);
    expect(await other.data("query", { sql: "SELECT 'a\\'" })).toMatchObject({ rows: [["a\\"]] });
    expect(await state()).toEqual(UNTOUCHED);
    await other.close();
  });
});
