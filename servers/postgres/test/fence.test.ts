import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labFor, type Talk, talkToProcess } from "./session.ts";

// What the built server promises a client that can't be asked, over stdio.

const SETUP = `
  CREATE TABLE t (id int PRIMARY KEY, x text); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
  CREATE TABLE witness (n int); INSERT INTO witness VALUES (1);
  CREATE SEQUENCE sq; SELECT setval('sq', 5);
  CREATE FUNCTION seqback() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN setval('sq', 1); END $$;
  CREATE FUNCTION outer_seqback() RETURNS bigint LANGUAGE sql AS 'SELECT seqback() AS "${"ж".repeat(40)}"';
  CREATE FUNCTION far() RETURNS text LANGUAGE sql AS $$ SELECT dblink_exec('dbname=' || current_database(), 'DELETE FROM witness') $$;
  CREATE FUNCTION built() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SELECT set' || 'val(''sq'', 1)'; END $$;
  CREATE FUNCTION on_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM setval('sq', 1); RETURN NEW; END $$;
  CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.x := upper(NEW.x); RETURN NEW; END $$;
  CREATE TABLE triggered (id int); CREATE TRIGGER tr BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION on_row();
  CREATE TABLE defaulted (id bigint DEFAULT seqback(), x int);
  CREATE TABLE ruled (id int); CREATE RULE ru AS ON INSERT TO ruled DO ALSO SELECT seqback();
  CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1);
  CREATE TABLE child (id int REFERENCES parent ON DELETE CASCADE); INSERT INTO child VALUES (1);
  CREATE TRIGGER tr BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION on_row();
  CREATE TABLE tidy (id int GENERATED ALWAYS AS IDENTITY, x text); CREATE TRIGGER tr BEFORE INSERT ON tidy FOR EACH ROW EXECUTE FUNCTION stamp();
  CREATE PROCEDURE walk() LANGUAGE plpgsql AS $$ BEGIN PERFORM seqback(); END $$;`;

const world = labFor();
let server: Talk;
let folder: string;
beforeAll(async () => {
  await world.admin(`GRANT CREATE ON DATABASE ${new URL(world.adminUrl).pathname.slice(1)} TO ${world.role};
    CREATE EXTENSION dblink; SET ROLE ${world.role}; ${SETUP}`);
  folder = await mkdtemp(join(tmpdir(), "refmcp-postgres-fence-"));
  await writeFile(join(folder, "rows.csv"), "id\n1\n");
  server = await talkToProcess(["--url", world.url, "--allow-write", "--root", folder]);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const execute = (statements: readonly string[], dry_run = false) =>
  server.call("pg_execute", { statements, dry_run });
const state = () =>
  world.admin(
    "SELECT (SELECT last_value FROM sq)::int AS sq, (SELECT count(*) FROM witness)::int AS witness, (SELECT count(*) FROM t)::int AS t",
  );
const UNCHANGED = [{ sq: 5, witness: 1, t: 3 }];

describe("a dry run", () => {
  it.each([
    ["a function", ["SELECT seqback()"]],
    ["a function of a function", ["SELECT outer_seqback()"]],
    ["another connection", ["SELECT far()"]],
    ["SQL that a function builds", ["SELECT built()"]],
    ["a procedure", ["CALL walk()"]],
    ["a trigger", ["INSERT INTO triggered VALUES (1)"]],
    ["a trigger behind a cascade", ["DELETE FROM parent"]],
    ["a default", ["INSERT INTO defaulted (x) VALUES (1)"]],
    ["a rule", ["INSERT INTO ruled VALUES (1)"]],
    ["a block", ["DO $$ BEGIN PERFORM seqback(); END $$"]],
    [
      "a function of the same call",
      [
        "CREATE FUNCTION fresh() RETURNS bigint LANGUAGE sql AS 'SELECT setval(''sq'', 1)'",
        "SELECT fresh()",
      ],
    ],
    [
      "a trigger of the same call",
      [
        "CREATE TRIGGER later BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION on_row()",
        "INSERT INTO t VALUES (9, 'z')",
      ],
    ],
  ])("changes nothing through %s: it is refused and says what it would reach", async (_, args) => {
    const { text } = await execute(args, true);
    expect(await state()).toEqual(UNCHANGED);
    expect(text).toMatch(/is blocked: it .*(setval|dblink|builds at run time)/s);
  });

  it("of an import changes nothing through a trigger", async () => {
    const args = { path: "rows.csv", table: "triggered", dry_run: true };
    expect(await server.refused("pg_import_csv", args)).toContain("setval");
    expect(await state()).toEqual(UNCHANGED);
  });

  it("of what a rollback undoes still runs and reports", async () => {
    for (const statements of [
      ["INSERT INTO tidy (x) VALUES ('a') RETURNING x"],
      [
        "UPDATE t SET x = 'z' FROM (SELECT 1 AS triggered) f WHERE f.triggered = 1",
        "DELETE FROM t",
        "CREATE TABLE more (x serial)",
      ],
      ["DROP TABLE parent CASCADE"],
    ]) {
      const { text, isError } = await execute(statements, true);
      expect({ isError, text }).toMatchObject({ isError: false });
      expect(JSON.parse(text)).toMatchObject({ committed: false });
    }
    expect(await state()).toEqual(UNCHANGED);
  });
});

it.each([
  "SELECT outer_seqback()",
  "INSERT INTO triggered VALUES (1)",
  "DO $$ BEGIN EXECUTE 'SELECT set' || 'val(''sq'', 1)'; END $$",
])("a change that is refused has changed nothing before: %s", async (sql) => {
  expect(await execute([sql])).toMatchObject({ isError: true });
  expect(await state()).toEqual(UNCHANGED);
});

const DEFINED = `
  CREATE FUNCTION price() RETURNS int LANGUAGE sql AS 'SELECT 1';
  CREATE VIEW seen AS SELECT id, x FROM t; COMMENT ON TABLE t IS 'kept';
  CREATE TABLE d (id int GENERATED BY DEFAULT AS IDENTITY, n int DEFAULT 5 NOT NULL);
  CREATE TYPE mood AS ENUM ('calm'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
  CREATE INDEX by_x ON t (x); CREATE MATERIALIZED VIEW sums AS SELECT count(*) FROM t; GRANT SELECT ON t TO PUBLIC;
  CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
  CREATE TRIGGER trig BEFORE UPDATE ON d FOR EACH ROW EXECUTE FUNCTION tf();`;

describe("a change of the schema", () => {
  beforeAll(() => world.admin(`SET ROLE ${world.role}; ${DEFINED}`));

  it.each([
    "CREATE OR REPLACE FUNCTION price() RETURNS int LANGUAGE sql AS 'SELECT 2'",
    "CREATE OR REPLACE VIEW seen AS SELECT id, x FROM t WHERE id > 1",
    "CREATE OR REPLACE TRIGGER trig BEFORE INSERT ON d FOR EACH ROW EXECUTE FUNCTION tf()",
    "COMMENT ON TABLE t IS NULL",
    "ALTER TABLE d ALTER n DROP DEFAULT",
    "ALTER TABLE d ALTER id DROP IDENTITY",
    "ALTER TABLE d ALTER id RESTART WITH 1",
    "ALTER TABLE t SET UNLOGGED",
    "REVOKE SELECT ON t FROM PUBLIC",
    "REFRESH MATERIALIZED VIEW sums",
    "ALTER TABLE t RENAME TO t2",
    "ALTER TABLE t RENAME x TO y",
    "CREATE RULE nodel AS ON DELETE TO t DO INSTEAD NOTHING",
    "CREATE SCHEMA s CREATE TABLE x (y int) GRANT ALL ON x TO PUBLIC",
    "DROP INDEX by_x",
    "DROP INDEX CONCURRENTLY by_x",
    "DROP VIEW seen",
    "ALTER TYPE mood RENAME VALUE 'calm' TO 'busy'",
    "ALTER INDEX by_x SET (fillfactor = 50)",
  ])("asks with its text, so nothing happens if nobody can be asked: %s", async (sql) => {
    const before = await schema();
    const { text, isError } = await execute([sql]);
    expect(isError, text).toBe(true);
    expect(text).toContain("This needs the user's confirmation");
    expect(text).toContain(sql);
    expect(await schema()).toEqual(before);
  });

  it("that takes a free name or adds something does not ask", async () => {
    for (const sql of [
      "CREATE TABLE a1 (id int PRIMARY KEY, x text UNIQUE)",
      "CREATE TABLE a2 AS SELECT * FROM t",
      "CREATE VIEW a3 AS SELECT 1 AS one",
      "CREATE OR REPLACE VIEW a4 AS SELECT 1 AS one",
      "CREATE MATERIALIZED VIEW a5 AS SELECT 1 AS one",
      "CREATE OR REPLACE FUNCTION a6() RETURNS int LANGUAGE sql AS 'SELECT 1'",
      "CREATE SEQUENCE a7",
      "CREATE TYPE a8 AS ENUM ('x')",
      "CREATE TYPE a9 AS (x int)",
      "CREATE DOMAIN a10 AS int",
      "CREATE SCHEMA a11 CREATE TABLE x (y int)",
      "CREATE UNIQUE INDEX a12 ON a1 (x)",
      "CREATE INDEX CONCURRENTLY a13 ON a1 (x)",
      "CREATE TRIGGER a14 BEFORE UPDATE ON a1 FOR EACH ROW EXECUTE FUNCTION tf()",
      "CREATE STATISTICS a15 ON id, x FROM a1",
      "ALTER TABLE a1 ADD COLUMN y int, ADD CHECK (y > 0)",
      "ALTER TYPE a8 ADD VALUE 'y'",
      "ALTER DOMAIN a10 ADD CHECK (VALUE > 0)",
      "ANALYZE a1",
      "REINDEX TABLE a1",
      "DROP TABLE IF EXISTS nowhere",
    ])
      expect(await execute([sql]), sql).toMatchObject({ isError: false });
    expect(
      await execute(["CREATE TABLE b1 (x int)", "ALTER TABLE b1 ADD y int", "DROP TABLE b1"]),
    ).toMatchObject({ isError: false });
  });
});

describe("an undo", () => {
  it("restores rows and does not change tables, views and indexes that others made since", async () => {
    const change = await server.data("pg_execute", {
      statements: [
        "CREATE TABLE n (x int)",
        "CREATE VIEW v AS SELECT 1 AS one",
        "CREATE INDEX zi ON witness (n)",
        "UPDATE t SET x = 'changed' WHERE id = 1",
      ],
    });
    // What others made of it since.
    await world.admin(`SET ROLE ${world.role}; DROP TABLE n; CREATE TABLE n (y int);
      DROP VIEW v; CREATE VIEW v AS SELECT 2 AS two; DROP INDEX zi; CREATE UNIQUE INDEX zi ON t (x)`);
    const { text } = await server.call("pg_undo_change", { change_id: change.change_id });
    expect(JSON.parse(text)).toMatchObject({ committed: true });
    expect(
      await world.admin(
        "SELECT x, to_regclass('n')::text AS n, to_regclass('v')::text AS v, (SELECT indisunique FROM pg_index WHERE indexrelid = to_regclass('zi')) AS zi FROM t WHERE id = 1",
      ),
    ).toEqual([{ x: "a", n: "n", v: "v", zi: true }]);
    expect(
      await server.data("pg_execute", { statements: ["CREATE TABLE lonely (x int)"] }),
    ).toEqual(expect.not.objectContaining({ change_id: expect.anything() }));
  });
});

it("a recorded change says that a copy of its rows is kept for a day", async () => {
  const { note } = await server.data("pg_execute", {
    statements: ["UPDATE t SET x = 'once more' WHERE id = 2"],
  });
  expect(note).toMatch(/copy .* 1 day.*--undo-days/);
});

/** What the schema says, and who may do what. */
async function schema() {
  return await world.admin(`SELECT md5(string_agg(line, E'\\n' ORDER BY line)) AS schema FROM (
    SELECT concat_ws(' ', oid, relname, relpersistence, relacl, reloptions, pg_get_viewdef(oid)) AS line FROM pg_class WHERE relkind IN ('r', 'v', 'i', 'm') AND oid > 16384
    UNION ALL SELECT concat(relname, relfilenode) FROM pg_class WHERE relkind = 'm'
    UNION ALL SELECT concat(attrelid, attname, attidentity, atthasdef) FROM pg_attribute WHERE attrelid > 16384
    UNION ALL SELECT concat(rulename, ev_class) FROM pg_rewrite WHERE oid > 16384 UNION ALL SELECT concat(oid, prosrc) FROM pg_proc WHERE oid > 16384
    UNION ALL SELECT enumlabel FROM pg_enum UNION ALL SELECT description FROM pg_description WHERE objoid > 16384
    UNION ALL SELECT concat(tgname, tgtype) FROM pg_trigger UNION ALL SELECT concat(sequencename, last_value) FROM pg_sequences) lines`);
}
