import pg from "pg";
import { expect, it } from "vitest";
import { lab } from "../../test/lab.ts";
import { talk } from "../../test/session.ts";
import { shop } from "../../test/shop.ts";

const at = shop();

it("finds a sequence that is running out", async () => {
  await at.sql(
    "CREATE TABLE narrow (id smallserial PRIMARY KEY); SELECT setval('narrow_id_seq', 32000)",
  );
  expect(await at.data("pg_health", { checks: ["sequences"] })).toMatchObject({
    findings: [{ check: "sequences", status: "warning", details: [expect.objectContaining({})] }],
  });
});

it("names unvalidated constraints, blocked sessions with both statements, and old transactions", async () => {
  const world = await lab(`
    CREATE TABLE guarded (id int CHECK (id > 0)); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
    ALTER TABLE guarded ADD CONSTRAINT later CHECK (id < 9) NOT VALID;
    CREATE TABLE holes (id int PRIMARY KEY, text text);
    INSERT INTO holes SELECT n, repeat('x', 200) FROM generate_series(1, 100000) n; DELETE FROM holes WHERE id % 20 <> 0;
    CREATE MATERIALIZED VIEW sums AS SELECT 1 AS n; CREATE ROLE anon; GRANT SELECT ON sums TO anon`);
  const dba = ["--allow-privileged-role", "--toolsets", "dba"];
  const server = await talk(["--url", world.adminUrl, ...dba]);
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
    .toMatchObject([
      { query: "SELECT count(*) FROM guarded", blocker_query: "BEGIN; LOCK TABLE guarded" },
    ]);
  await holder.query("ROLLBACK");
  await waiting;
  await Promise.all([holder.end(), waiter.end()]);
  const constraint = { table: "guarded", constraint: "later" };
  expect(await check("constraints")).toMatchObject({ status: "warning", details: [constraint] });
  for (const [name, status, summary] of [
    ["security", "warning", /^Problems found: \d+\. Checked: .*API roles \(anon\).*not what other/],
    // Without statistics it can't know, and says so.
    ["bloat", "note", /Not seen: .*need ANALYZE: 1 \(holes\)\.$/],
  ] as const)
    expect(await check(name)).toMatchObject({ status, summary: expect.stringMatching(summary) });
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

it("is never ok about what the role could not see, and names the role", async () => {
  const world = await lab(`
    CREATE TABLE large AS SELECT n, repeat('x', 200) AS text FROM generate_series(1, 60000) n;
    CREATE SEQUENCE hidden; CREATE SCHEMA storage; CREATE TABLE storage.buckets (id text, public boolean);`);
  await world.admin(
    `ANALYZE large; REVOKE ALL ON large FROM ${world.role}; REVOKE ALL ON SEQUENCE hidden FROM ${world.role}`,
  );
  const all =
    "connections bloat transactions sequences locks replication security constraints".split(" ");
  const asked = async (url: string, ...flags: string[]) => {
    const server = await talk(["--url", url, "--toolsets", "dba", ...flags]);
    const { role, findings } = await server.data("pg_health", { checks: all });
    await server.close();
    const list = findings as { check: string; status: string; summary: string }[];
    return { role, of: new Map(list.map((finding) => [finding.check, finding])) };
  };
  const { role, of } = await asked(world.url);
  expect(role).toBe(`${world.role} (neither superuser nor pg_read_all_stats)`);
  for (const [check, unseen] of [
    ["connections", /Not seen: sessions of other roles, which need pg_read_all_stats\.$/],
    ["transactions", /Not seen: sessions of other roles/],
    ["locks", /Not seen: sessions of other roles/],
    ["replication", /Not seen: sessions of other roles/],
    ["bloat", /Not seen: tables over 10 MB that this role may not read: 1 \(large\)\.$/],
    ["sequences", /Not seen: sequences that this role may not read: 1 \(hidden\)\.$/],
    ["security", /Not seen: storage\.buckets, which this role may not read entirely\.$/],
  ] as const)
    expect(of.get(check), check).toMatchObject({
      status: "note",
      summary: expect.stringMatching(unseen),
    });
  expect(of.get("constraints")).toMatchObject({ status: "ok" });
  const superuser = await asked(world.adminUrl, "--allow-privileged-role");
  expect(superuser.role).toMatch(/^\w+ \(superuser\)$/);
  for (const { check, status, summary } of superuser.of.values())
    expect([check, status, summary]).toEqual([
      check,
      expect.stringMatching(/^(ok|warning)$/),
      expect.not.stringMatching("Not seen"),
    ]);
  await world.dispose();
});
