import { expect, it, onTestFinished } from "vitest";
import { lab } from "../../../test/lab.ts";
import { talk } from "../../../test/session.ts";

const SETUP = `
  CREATE TABLE t AS SELECT 1 AS n; CREATE TABLE witness (n int);
  CREATE FUNCTION evil() RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM pg_advisory_lock(1) $$;
  CREATE FUNCTION wreck() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE 'DEALLOCATE ALL'; FOR i IN 0..3 LOOP
      EXECUTE format('PREPARE refmcp_%s (name[], name[], name[], name[], name[]) AS SELECT ''''::text AS mention WHERE false', i);
    END LOOP; RETURN 1; END $$`;

const READ = "SELECT n FROM t";

async function world(...args: string[]) {
  const database = await lab(SETUP);
  onTestFinished(() => database.dispose());
  const server = await talk(["--url", database.url, "--max-connections", "1", ...args]);
  onTestFinished(() => server.close());
  const sessions = async () =>
    await database.admin(
      `SELECT pid, query LIKE '-- W%' AS looks FROM pg_stat_activity WHERE usename = '${database.role}' ORDER BY 2`,
    );
  /** Reads twice: the first read of a new session looks up names itself. */
  const works = async () => {
    for (let count = 0; count < 2; count++) {
      expect(await server.data("query", { sql: READ })).toMatchObject({ rows: [[1]] });
      const { text } = await server.call("query", { sql: `${READ} WHERE evil() = n` });
      expect(text).toMatch(/function evil\(\) is blocked: it calls pg_advisory_lock/);
    }
  };
  return { database, server, sessions, works };
}

it("looks up names in a session that runs nothing else", async () => {
  const { sessions, works } = await world();
  await works();
  expect(await sessions()).toMatchObject([{ looks: false }, { looks: true }]);
});

it("is not blinded by code that replaces the prepared statements of its session", async () => {
  const { server, works } = await world("--allow-function", "wreck");
  await works();
  for (let count = 0; count < 2; count++)
    expect(await server.data("query", { sql: "SELECT wreck()" })).toMatchObject({ rows: [[1]] });
  await works();
});

it("sees a function that another session makes between two reads", async () => {
  const { database, server, works } = await world();
  await works();
  await database.admin(
    "CREATE VIEW later AS SELECT evil() AS n; GRANT SELECT ON later TO PUBLIC; ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (evil() > 0)",
  );
  for (const sql of [READ, "SELECT n FROM later"])
    expect((await server.call("query", { sql })).text).toContain("is blocked");
});

it.each(["--confirm", "--allow-write"])("runs no operator of the search path, %s", async (flag) => {
  const { database, server } = await world(flag, ...(flag === "--confirm" ? ["never"] : []));
  await database.admin(`
    CREATE FUNCTION trap(oid, oid) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$caught$$; END';
    CREATE OPERATOR public.= (FUNCTION = trap, LEFTARG = oid, RIGHTARG = oid);
    CREATE VIEW v AS SELECT n FROM t; GRANT SELECT ON v TO PUBLIC; ALTER ROLE ${database.role} SET search_path = public, pg_catalog`);
  for (let count = 0; count < 3; count++)
    expect(await server.data("query", { sql: "SELECT n FROM v" })).toMatchObject({ rows: [[1]] });
  const { text } = await server.call("pg_describe_tables", { table: "v", detail: "full" });
  expect(text).toContain("FROM public.t");
  if (flag === "--allow-write") {
    const statements = ["INSERT INTO witness SELECT n FROM v"];
    expect(await server.data("pg_execute", { statements })).toMatchObject({ committed: true });
  }
});

it("does without it where the role may have one connection", async () => {
  const { database, sessions, works } = await world();
  await database.admin(`ALTER ROLE ${database.role} CONNECTION LIMIT 1`);
  await works();
  expect(await sessions()).toHaveLength(1);
});

it("opens another one after it was lost", async () => {
  const { database, sessions, works } = await world();
  await works();
  const lost = await sessions();
  await database.admin(`SELECT pg_terminate_backend(${lost.at(-1)?.pid})`);
  await works();
  expect(await sessions()).toHaveLength(2);
  expect((await sessions()).at(-1)).toMatchObject({ looks: true });
  expect((await sessions()).at(-1)?.pid).not.toBe(lost.at(-1)?.pid);
});
