import pg from "pg";
import { expect, it } from "vitest";
import { lab } from "../../test/lab.ts";
import { talk } from "../../test/session.ts";
import { shop } from "../../test/shop.ts";

const at = shop();

it("runs every check independently, and exists only with the dba toolset", async () => {
  const { findings } = await at().data("pg_health");
  const list = findings as { check: string; status: string; summary: string }[];
  expect(new Set(list.map(({ check }) => check)).size).toBeGreaterThanOrEqual(7);
  for (const { status, summary } of list) {
    expect(["ok", "warning", "note"]).toContain(status);
    expect(summary.length).toBeGreaterThan(5);
  }
});

it("finds a sequence that is running out", async () => {
  await at().sql("CREATE TABLE narrow (id smallserial PRIMARY KEY); SELECT setval('narrow_id_seq', 32000)");
  expect(await at().data("pg_health", { checks: ["sequences"] })).toMatchObject({
    findings: [{ check: "sequences", status: "warning", details: [expect.objectContaining({})] }],
  });
});

it("names unvalidated constraints, open tables, blocked sessions with both statements, and old transactions", async () => {
  const world = await lab(`
    CREATE TABLE open_to_all (id int); GRANT SELECT ON open_to_all TO PUBLIC;
    CREATE TABLE guarded (id int CHECK (id > 0)); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
    ALTER TABLE guarded ADD CONSTRAINT later CHECK (id < 9) NOT VALID;
    CREATE TABLE closed (id int PRIMARY KEY); ALTER TABLE closed ENABLE ROW LEVEL SECURITY;
    CREATE TABLE sealed (id int PRIMARY KEY); ALTER TABLE sealed ENABLE ROW LEVEL SECURITY;
    CREATE POLICY one ON guarded USING (id = 1); CREATE POLICY two ON guarded USING (id = 2);
    CREATE TABLE holes (id int PRIMARY KEY, text text);
    INSERT INTO holes SELECT n, repeat('x', 200) FROM generate_series(1, 100000) n; DELETE FROM holes WHERE id % 20 <> 0;
    CREATE VIEW leaks AS SELECT * FROM guarded; CREATE VIEW safe WITH (security_invoker = true) AS SELECT * FROM guarded;
    CREATE FUNCTION definer() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
    CREATE FUNCTION fixed() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS 'SELECT 1';
    REVOKE EXECUTE ON FUNCTION definer() FROM PUBLIC;
    CREATE MATERIALIZED VIEW sums AS SELECT 1 AS n; CREATE MATERIALIZED VIEW hidden AS SELECT 1 AS n;
    CREATE ROLE anon; GRANT SELECT ON sums TO anon;
    CREATE SCHEMA private; CREATE MATERIALIZED VIEW private.unreachable AS SELECT 1 AS n; GRANT SELECT ON private.unreachable TO anon;
    CREATE TABLE overlapping (id int PRIMARY KEY); ALTER TABLE overlapping ENABLE ROW LEVEL SECURITY;
    CREATE POLICY every_command ON overlapping USING (id = 1); CREATE POLICY reading ON overlapping FOR SELECT TO anon USING (id = 2);
    CREATE POLICY writing ON closed FOR INSERT WITH CHECK (id = 1); CREATE POLICY reading ON closed FOR SELECT USING (id = 1)`);
  const server = await talk(["--url", world.adminUrl, "--allow-privileged-role", "--toolsets", "dba"]);
  const holder = new pg.Client({ connectionString: world.adminUrl });
  const waiter = new pg.Client({ connectionString: world.adminUrl });
  await holder.connect();
  await waiter.connect();
  await holder.query("BEGIN; LOCK TABLE guarded");
  const waiting = waiter.query("SELECT count(*) FROM guarded");
  const check = async (name: string) => {
    const { findings } = await server.data("pg_health", { checks: [name] });
    return Object(findings)[0];
  };
  await expect
    .poll(async () => (await check("locks")).details)
    .toMatchObject([{ query: "SELECT count(*) FROM guarded", blocker_query: "BEGIN; LOCK TABLE guarded" }]);
  await holder.query("ROLLBACK");
  await waiting;
  await Promise.all([holder.end(), waiter.end()]);
  expect(await check("constraints")).toMatchObject({
    status: "warning",
    details: [{ table: "guarded", constraint: "later" }],
  });
  expect((await check("security")).details).toEqual([
    { object: "definer()", problem: "SECURITY DEFINER without a fixed search_path" },
    { object: "fixed()", problem: "SECURITY DEFINER function can be called by the API role anon" },
    { object: "leaks", problem: expect.stringContaining("view reads guarded as its owner") },
    { object: "open_to_all", problem: "PUBLIC has privileges, and row security is off" },
    { object: "sums", problem: expect.stringContaining("is readable by the API role anon") },
  ]);
  const schema = (await check("schema")).details.map((one: object) => Object.values(one).join(": "));
  for (const problem of [
    /^sealed: row security is on/,
    /^guarded: 2 permissive policies/,
    /^overlapping: 2 permissive policies/,
    /^open_to_all: no primary key/,
  ])
    expect(schema).toContainEqual(expect.stringMatching(problem));
  expect(schema).not.toContainEqual(expect.stringMatching(/^closed/));
  expect((await check("bloat")).status).toBe("ok");
  await world.admin("VACUUM ANALYZE holes");
  expect((await check("bloat")).details).toEqual([
    { object: "holes", kind: "table", bytes: expect.any(Number), wasted_bytes: expect.any(Number) },
  ]);
  for (const name of ["wraparound", "transactions", "replication"])
    expect(await check(name)).toMatchObject({ check: name, status: "ok" });
  await server.close();
  await world.admin("DROP OWNED BY anon; DROP ROLE anon");
  await world.dispose();
});
