import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

let world: Lab;
beforeEach(async () => {
  world = await lab(`
    CREATE TABLE t (id int PRIMARY KEY, x int); INSERT INTO t SELECT n, n FROM generate_series(1, 5000) n;
    CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u SELECT n FROM generate_series(1, 900) n;
    CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p SELECT n FROM generate_series(1, 100) n;
    CREATE TABLE mk (x int); CREATE TABLE later (x int);
    CREATE FUNCTION empty_p() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM p; RETURN NULL; END $$;
    CREATE TRIGGER emptying AFTER INSERT ON mk FOR EACH ROW EXECUTE FUNCTION empty_p();
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION empty_p();
    CREATE FUNCTION truncating() RETURNS int LANGUAGE plpgsql AS $$ BEGIN TRUNCATE p; RETURN 1; END $$;
    CREATE FUNCTION opening() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'GRANT ALL ON p TO PUBLIC'; RETURN 1; END $$;
    CREATE FUNCTION staging() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
      CREATE TEMP TABLE stage (id serial PRIMARY KEY, word text DEFAULT 'x' CHECK (word <> '')) ON COMMIT DROP; INSERT INTO stage (word) VALUES ('a'); RETURN 1; END $$`);
  for (const table of ["t", "u", "p", "mk", "later"])
    await world.admin(`ALTER TABLE ${table} OWNER TO ${world.role}`);
});
afterEach(() => world.dispose());

const execute = (server: Talk, ...statements: string[]) =>
  server.call("pg_execute", { statements });

it("finds a loss among more changed tables than an answer shows", async () => {
  const names = Array.from({ length: 120 }, (_, at) => `a${at}`);
  const tables = names.map((name) => `CREATE TABLE ${name} (x int)`);
  await world.admin(`SET ROLE ${world.role}; ${tables.join("; ")}`);
  const server = await talk(["--url", world.url, "--allow-write", "--no-undo"]);
  const inserts = ["mk", ...names].map((name) => `INSERT INTO ${name} VALUES (1)`);
  expect((await execute(server, ...inserts)).text).toContain("DELETE of 100 rows of p");
  await server.close();
});

it("counts rows of other servers, which have no statistics", async () => {
  const { hostname, port, username, password, pathname } = new URL(world.adminUrl);
  await world.admin(`
    CREATE EXTENSION postgres_fdw; CREATE SCHEMA "far away"; GRANT USAGE ON SCHEMA "far away" TO ${world.role};
    CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}');
    CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (user '${username}', password '${password}', password_required 'false');
    CREATE FOREIGN TABLE "far away".u (id int) SERVER far OPTIONS (schema_name 'public', table_name 'u'); GRANT ALL ON "far away".u TO ${world.role}`);
  const server = await talk(["--url", world.url, "--allow-write"]);
  const { text } = await execute(server, 'DELETE FROM "far away".u WHERE id < 900');
  expect(text).toContain(
    'DELETE of 899 rows of "far away"."u" ("far away"."u": it is on another server).',
  );
  expect(await world.admin("SELECT count(*)::int AS n FROM u")).toEqual([{ n: 900 }]);
  await server.close();
});

/** Statements about who may do what and what is checked: the user must see them. */
const FENCES: readonly string[] = [
  "GRANT ALL ON p TO PUBLIC",
  "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest",
  "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO guest",
  "ALTER TABLE p DISABLE ROW LEVEL SECURITY",
  "ALTER TABLE mk DISABLE TRIGGER emptying",
  "ALTER TABLE p DROP CONSTRAINT p_pkey",
  "ALTER TABLE t ALTER x DROP NOT NULL",
  "ALTER TABLE p OWNER TO guest",
  "ALTER VIEW seen SET (security_invoker = false)",
  "CREATE POLICY everyone ON p USING (true)",
  "DROP TRIGGER emptying ON mk",
  "CREATE FUNCTION d() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
  "ALTER FUNCTION own() SECURITY DEFINER",
  "ALTER TABLE p ENABLE ROW LEVEL SECURITY",
  "CREATE POLICY narrow ON p AS RESTRICTIVE USING (id < 9)",
];
/** Functions that weaken a protection. */
const OPENING = ["SELECT opening()", "SELECT truncating()"];

describe("what changes a protection", () => {
  beforeEach(async () => {
    await world.admin(`
      CREATE ROLE guest; GRANT guest TO ${world.role}; CREATE POLICY mine ON p USING (id = 1);
      GRANT CREATE ON SCHEMA public TO guest;
      CREATE VIEW seen WITH (security_invoker = true, security_barrier = true) AS SELECT * FROM p; ALTER VIEW seen OWNER TO ${world.role};
      CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION own() OWNER TO ${world.role};
      ALTER FUNCTION opening() OWNER TO ${world.role}; ALTER TABLE p ENABLE ROW LEVEL SECURITY`);
  });
  afterEach(() =>
    world.admin(`DROP OWNED BY guest; REVOKE guest FROM ${world.role}; DROP ROLE guest`),
  );

  it("is refused if nobody can be asked, and done if the user agrees", async () => {
    const server = await talk(["--url", world.url, "--allow-write"]);
    for (const sql of [...FENCES, ...OPENING]) {
      const { text, isError } = await execute(server, sql);
      expect(isError, sql).toBe(true);
      expect(text).toMatch(
        /This needs the user's confirmation.*(weakens protection|cannot be undone): .*--confirm never/s,
      );
      expect(text).toContain(OPENING.includes(sql) ? "by a function or trigger" : sql);
    }
    // Hidden among changes of the schema, too.
    const mixed = await execute(
      server,
      "CREATE TABLE draft (x text)",
      "SELECT opening()",
      "DROP TABLE draft",
    );
    expect(mixed.text).toMatch(/This weakens protection: .* by a function or trigger/);
    await server.close();
    const asked: string[] = [];
    const agreeing = await talk(["--url", world.url, "--allow-write"], {
      elicit({ message }) {
        asked.push(message);
        return { action: "accept", content: { confirm: true } };
      },
    });
    expect((await execute(agreeing, "GRANT ALL ON p TO PUBLIC")).isError).toBe(false);
    expect(asked).toEqual([
      expect.stringContaining("This cannot be undone: GRANT ALL ON p TO PUBLIC."),
    ]);
    await agreeing.close();
  });
});
