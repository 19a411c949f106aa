import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { naive } from "../../../test/lab.ts";
import { labFor, talk, talkFor } from "../../../test/session.ts";

/** A function that uses another connection: what it does stays after a rollback. */
const evil = (url: string) => `
  CREATE EXTENSION dblink; CREATE TABLE witness (n int); CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'a');
  CREATE FUNCTION evil() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER AS $$
    SELECT length(public.dblink_exec('${url}', 'INSERT INTO public.witness VALUES (1)')) $$;
  CREATE FUNCTION evil(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT public.evil() + $1';
  CREATE FUNCTION evil(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN public.evil() + $1; END';`;

/** Code in every part of a body: what it declares, and what it runs. */
const PARTS = [
  ["x int := evil();", ""],
  ["x dom_type := evil()::text;", ""],
  ["", "a[evil()] := 1;"],
  ["", "IF evil() > 0 THEN NULL; END IF;"],
  ["", "CASE evil() WHEN 1 THEN NULL; ELSE NULL; END CASE;"],
  ["", "BEGIN PERFORM 1/0; EXCEPTION WHEN OTHERS THEN PERFORM evil(); END;"],
  ["", "RAISE NOTICE '%', evil();"],
  ["", "FOR i IN 1..evil() LOOP NULL; END LOOP;"],
  ["", "OPEN c FOR SELECT evil(); FETCH c INTO i;"],
  ["", "EXECUTE 'SELECT evil()';"],
  ["", "EXECUTE ('SELECT evil()');"],
  ["", "EXECUTE(format('SELECT %I()', 'evil'));"],
  ["", "EXECUTE 'SELECT e' || 'vil()';"],
  ["", "FOR i IN EXECUTE format('SELECT %I()', 'evil') LOOP NULL; END LOOP;"],
  ["", 'PERFORM U&"e\\0076il"();'],
  ["", "PERFORM/**/evil/**/();"],
] as const;

/** Ways to reach it, each as what it needs and the statements that use it. */
const WAYS: Readonly<Record<string, readonly [setup: string, ...statements: string[]]>> = {
  call: [
    "CREATE SCHEMA ext; CREATE FUNCTION ext.evil(text) RETURNS int LANGUAGE sql AS 'SELECT evil()'; GRANT USAGE ON SCHEMA ext TO PUBLIC",
    "SELECT evil()",
    "SELECT ext.evil('x')",
    "SELECT * FROM evil(1)",
    'SELECT "evil"(id) FROM t',
    "SELECT U&\"e!0076il\" UESCAPE '!' (1)",
    "SELECT (1).evil",
    "SELECT x.evil FROM generate_series(1, 1) x",
    "SELECT 1 WHERE EXISTS (SELECT FROM LATERAL evil(1) WHERE evil > 0)",
    "VALUES (evil())",
  ],
  "functions, three deep": [
    `CREATE FUNCTION third() RETURNS int LANGUAGE sql AS 'SELECT evil(1, 1)';
     CREATE FUNCTION second() RETURNS int LANGUAGE plpgsql STABLE AS 'DECLARE x record; BEGIN FOR x IN SELECT third() AS n LOOP RETURN x.n; END LOOP; END';
     CREATE FUNCTION first() RETURNS int LANGUAGE sql IMMUTABLE AS 'WITH w AS (SELECT second()) SELECT * FROM w'`,
    "SELECT first()",
  ],
  "code in every part of PL/pgSQL": [
    `CREATE DOMAIN dom_type AS text; ${PARTS.map(
      ([declared, part], at) =>
        `CREATE FUNCTION part${at}() RETURNS int LANGUAGE plpgsql AS $f$ DECLARE a int[]; i int; c refcursor; ${declared} BEGIN ${part} RETURN 1; END $f$`,
    ).join(";")}`,
    ...PARTS.map((_, at) => `SELECT part${at}()`),
  ],
  "a default of an argument": [
    "CREATE FUNCTION defaulted(int DEFAULT evil()) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "SELECT defaulted()",
  ],
  "a body that is parsed already": [
    "CREATE FUNCTION atomic() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT evil(); END",
    "SELECT atomic()",
  ],
  operator: [
    `CREATE OPERATOR ## (FUNCTION = evil, LEFTARG = int, RIGHTARG = int);
     CREATE FUNCTION quiet(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
     CREATE FUNCTION loud(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT evil() > 0';
     CREATE OPERATOR ### (FUNCTION = loud, LEFTARG = int, RIGHTARG = int, NEGATOR = ####);
     CREATE OPERATOR #### (FUNCTION = quiet, LEFTARG = int, RIGHTARG = int, NEGATOR = ###);
     CREATE FUNCTION with_operator() RETURNS int LANGUAGE sql AS 'SELECT 1 OPERATOR(public.##) 2'`,
    "SELECT 1 ## 2",
    "SELECT 1 OPERATOR(public.##) 2",
    "SELECT 1 WHERE 1 ### ANY (SELECT 2)",
    "SELECT NOT (id #### 2) FROM t",
    "SELECT with_operator()",
  ],
  aggregate: [
    `CREATE AGGREGATE summed(int) (SFUNC = evil, STYPE = int, INITCOND = '0'); CREATE AGGREGATE ended(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', FINALFUNC = evil)`,
    "SELECT summed(id) FROM t",
    "SELECT ended(id) OVER () FROM t",
  ],
  "a domain's check": [
    `CREATE DOMAIN checked AS int CHECK (evil() + VALUE > 0); CREATE TYPE pair AS (a checked); CREATE TABLE holder (id int, a checked); INSERT INTO holder VALUES (1);
     CREATE DOMAIN over AS checked; CREATE FUNCTION returned() RETURNS checked LANGUAGE sql AS 'SELECT 1'`,
    "SELECT 1::checked",
    "SELECT CAST('1' AS public.over)",
    "SELECT '{1}'::checked[]",
    "SELECT '(1)'::pair",
    "SELECT checked('1')",
    "SELECT returned()",
    "SELECT x FROM jsonb_to_record('{\"a\": 1}') AS x (a checked)",
    "SELECT jsonb_populate_record(NULL::holder, '{\"a\": 1}')",
    "SELECT jsonb_populate_record(h, '{\"a\": 1}') FROM holder h",
    "SELECT domain_in('1', (SELECT oid FROM pg_type WHERE typname LIKE 'chec_ed'), -1)",
  ],
  cast: [
    `CREATE TYPE mood AS ENUM ('calm'); CREATE TABLE moods (m mood, id int); INSERT INTO moods VALUES ('calm', 1);
     CREATE FUNCTION of_mood(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT evil()'; CREATE CAST (mood AS int) WITH FUNCTION of_mood(mood);
     CREATE FUNCTION is_mood(mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT evil() > 0'; CREATE CAST (mood AS boolean) WITH FUNCTION is_mood(mood) AS IMPLICIT`,
    "SELECT 'calm'::mood::int",
    "SELECT m::int FROM moods",
    "SELECT id FROM moods WHERE m",
  ],
  view: [
    "CREATE VIEW seen AS SELECT evil() AS n; CREATE VIEW above AS SELECT * FROM seen; CREATE FUNCTION viewing() RETURNS int LANGUAGE sql AS 'SELECT n FROM above'",
    "SELECT * FROM seen",
    "TABLE above",
    "SELECT viewing()",
  ],
  policy: [
    `CREATE TABLE guarded (id int); INSERT INTO guarded VALUES (1); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; GRANT SELECT ON guarded TO PUBLIC;
     CREATE POLICY trap ON guarded USING (evil() > 0); CREATE VIEW on_guarded WITH (security_invoker = true) AS SELECT * FROM guarded`,
    "SELECT * FROM guarded",
    "SELECT * FROM on_guarded",
  ],
  "an index, at planning": [
    "CREATE TABLE indexed (id int); CREATE TABLE child () INHERITS (indexed); CREATE INDEX ON child (id) WHERE false AND evil() > 0 OR id > evil(1)",
    "SELECT * FROM indexed WHERE id = 1",
  ],
  "the range of a multirange": [
    `CREATE FUNCTION diff(int, int) RETURNS float LANGUAGE sql IMMUTABLE AS 'SELECT evil()::float';
     CREATE TYPE gap AS RANGE (subtype = int, subtype_diff = diff); CREATE TABLE gaps (g gap_multirange);
     INSERT INTO gaps SELECT gap_multirange(gap(n, n + 2)) FROM generate_series(1, 200) n; ANALYZE gaps`,
    "SELECT count(*) FROM gaps WHERE g && '{[5,7)}'",
  ],
  "an operator class": [
    `CREATE TYPE point2 AS (x int); CREATE TABLE points (p point2); INSERT INTO points VALUES ('(1)'), ('(2)');
     CREATE FUNCTION less(point2, point2) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT ($1).x < ($2).x';
     CREATE FUNCTION compared(point2, point2) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT evil()';
     CREATE OPERATOR <<< (FUNCTION = less, LEFTARG = point2, RIGHTARG = point2);
     CREATE FUNCTION same(point2, point2) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT ($1).x = ($2).x';
     CREATE OPERATOR === (FUNCTION = same, LEFTARG = point2, RIGHTARG = point2);
     CREATE OPERATOR CLASS trap DEFAULT FOR TYPE point2 USING btree AS OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 compared(point2, point2)`,
    "SELECT p FROM points ORDER BY p",
  ],
};

describe.each(Object.keys(WAYS))("%s", (way) => {
  const [setup = "", ...statements] = WAYS[way] ?? [];
  const world = labFor();
  const server = talkFor(() => ["--url", world.url]);
  const unguarded = talkFor(() => ["--url", world.url, "--allow-function", "*"]);
  beforeAll(async () => {
    await world.admin(evil(world.adminUrl));
    await world.admin(`${setup}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC`);
    await world.admin("DELETE FROM witness");
  });
  const witnesses = async () => (await world.admin("SELECT count(*)::int AS n FROM witness"))[0]?.n;

  it.each(statements)("%s", async (sql) => {
    for (const [name, args] of [
      ["query", { sql }],
      ["pg_explain", { sql, analyze: true }],
    ] as const) {
      const { text, isError } = await server.call(name, args);
      expect([isError, text]).toEqual([true, expect.stringMatching(/ is blocked: /)]);
    }
    expect(await witnesses()).toBe(0);
  });

  it("does harm without the gate", async () => {
    for (const sql of statements) await unguarded.call("query", { sql });
    expect(await witnesses()).toBeGreaterThan(0);
    await world.admin("DELETE FROM witness");
  });

  it("leaves other statements alone", async () => {
    expect(
      await server.call("query", { sql: "SELECT id, name || 'x' FROM t WHERE id IN (1, 2)" }),
    ).toMatchObject({ isError: false });
  });
});

describe("what a function does", () => {
  const world = labFor(`
      CREATE TABLE stock (id int PRIMARY KEY, film int, copies int); INSERT INTO stock VALUES (1, 7, 2), (2, 7, 0);
      CREATE DOMAIN year AS int CHECK (VALUE BETWEEN 1901 AND 2155);
      CREATE FUNCTION in_stock(p_id int) RETURNS boolean LANGUAGE plpgsql AS $$
        DECLARE v_copies int := 0; BEGIN
          SELECT copies INTO v_copies FROM stock WHERE id = p_id; -- call
          IF v_copies = 0 THEN RETURN false; ELSIF v_copies IS NULL THEN RAISE EXCEPTION 'no film %', p_id; END IF;
          RETURN true; EXCEPTION WHEN no_data_found THEN RETURN NULL; END $$;
      CREATE FUNCTION films(p_film int) RETURNS SETOF int LANGUAGE sql AS 'SELECT id AS "${"ж".repeat(40)}" FROM stock WHERE film = $1 AND in_stock(id)';
      CREATE VIEW shelf AS SELECT pg_try_advisory_lock(1); CREATE TABLE rack (shelf int); INSERT INTO rack VALUES (77);
      CREATE FUNCTION constant() RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; y year := 2000; BEGIN EXECUTE 'SELECT max(id) FROM stock' INTO n; RETURN n; END $$;
      CREATE AGGREGATE joined(text) (SFUNC = textcat, STYPE = text, INITCOND = '');
      CREATE TYPE span AS RANGE (subtype = int);
      CREATE FUNCTION writes() RETURNS void LANGUAGE sql AS 'DELETE FROM stock';
      CREATE FUNCTION notifies() RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('x', 'y') $$;
      CREATE FUNCTION locks() RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(1); END';
      CREATE FUNCTION sets() RETURNS void LANGUAGE plpgsql AS 'BEGIN SET work_mem = 64; END';
      CREATE FUNCTION copies() RETURNS void LANGUAGE plpgsql AS $$ BEGIN COPY stock TO PROGRAM 'false'; END $$;
      CREATE FUNCTION secrets() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT rolpassword FROM pg_authid';
      CREATE FUNCTION dynamic(text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE $1; END';
      CREATE FUNCTION renamed(bigint) RETURNS void LANGUAGE internal IMMUTABLE AS 'pg_advisory_lock_int8';
      CREATE FUNCTION honest(text) RETURNS text LANGUAGE internal IMMUTABLE AS 'lower';
      CREATE FUNCTION twisted() RETURNS text LANGUAGE sql SET standard_conforming_strings = off AS $$ SELECT '\\\\' $$;
      CREATE FUNCTION compiled(internal) RETURNS internal LANGUAGE c AS '$libdir/dict_snowball', 'dsnowball_init';
      CREATE EXTENSION tablefunc`);
  const server = talkFor(() => ["--url", world.url]);

  it.each([
    ["SELECT in_stock(1), in_stock(2)", [[true, false]]],
    ["SELECT * FROM films(7)", [[1]]],
    ["SELECT constant()", [[2]]],
    ["SELECT joined(r.shelf::text) FROM rack r", [["77"]]],
    ["SELECT 2001::year, upper(span(1, 5)), honest('A')", [[2001, 5, "a"]]],
    ["SELECT count(*) FROM normal_rand(3, 0, 1)", [[3]]],
  ])("runs %s", async (sql, rows) => {
    expect(await server.data("query", { sql })).toMatchObject({ rows });
  });

  it.each([
    ["SELECT writes()", /cannot execute DELETE in a read-only transaction/],
    [
      "SELECT notifies()",
      /The function notifies\(\) is blocked: it calls pg_notify\..*--allow-function notifies/s,
    ],
    ["SELECT locks()", /locks\(\) is blocked: it calls pg_advisory_lock\./],
    ["SELECT sets()", /it runs SET\./],
    ["SELECT copies()", /it runs COPY\./],
    ["SELECT secrets()", /it reads pg_authid\./],
    ["SELECT dynamic('SELECT 1')", /it runs SQL that it builds at run time\./],
    ["SELECT renamed(1)", /it calls pg_advisory_lock\./],
    ["SELECT twisted()", /it changes how its own text is read\./],
    ["SELECT compiled(NULL)", /compiled\(internal\) is blocked: it is written in C\./],
    ["SELECT * FROM crosstab('SELECT 1, 2, 3') AS (a int, b int)", /crosstab\(text\) is blocked/],
    [
      "SELECT dblink_exec('host=x', 'DROP TABLE stock')",
      /function dblink_exec\(unknown, unknown\) does not exist/,
    ],
    [
      "SELECT * FROM crosstab9('SELECT 1') AS (a int)",
      /function crosstab9\(unknown\) does not exist/,
    ],
  ])("%s: %s", async (sql, message) => {
    expect(await server.refused("query", { sql })).toMatch(message);
  });

  it("is judged again when it is redeclared, and PostgreSQL's names too", async () => {
    const changes: readonly (readonly [evil: string, sql: string, honest: string])[] = [
      [
        "CREATE FUNCTION lower(stock) RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('x', 'y') $$",
        "SELECT lower('A')",
        "DROP FUNCTION lower(stock)",
      ],
      [
        "CREATE OPERATOR || (FUNCTION = pg_advisory_lock, LEFTARG = int, RIGHTARG = int)",
        "SELECT 1 || 'a'",
        "DROP OPERATOR || (int, int)",
      ],
      [
        "CREATE CAST (span AS int) WITH FUNCTION to_int(span)",
        "SELECT '[1,2)'::span::int",
        "DROP CAST (span AS int)",
      ],
    ];
    await world.admin(
      `CREATE FUNCTION to_int(span) RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM pg_advisory_lock(1) $$;
       CREATE FUNCTION trapped(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT 1 FROM pg_advisory_lock(1) $$`,
    );
    const isRefused = async (sql: string) =>
      (await server.call("query", { sql })).text.includes(" is blocked: ");
    for (const [evil, sql, honest] of changes) {
      if (!sql.includes("seen") && !sql.includes("::int"))
        expect(await isRefused(sql), sql).toBe(false);
      await world.admin(evil);
      if (!sql.includes("seen")) expect(await isRefused(sql), evil).toBe(true);
      else expect(await isRefused("SELECT * FROM seen"), evil).toBe(true);
      await world.admin(honest);
      if (!sql.includes("::int")) expect(await isRefused(sql), honest).toBe(false);
    }
  });
});

const world = labFor();
it("refuses a name that a database in another encoding may read as a longer or a folded one", async () => {
  const latin = new URL(world.adminUrl);
  latin.pathname = `${latin.pathname}_latin`;
  const name = latin.pathname.slice(1);
  await world.admin(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  onTestFinished(async () => void (await world.admin(`DROP DATABASE ${name} WITH (FORCE)`)));
  const long = "é".repeat(60);
  await naive(
    latin.href,
    `CREATE FUNCTION "${long}"() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_advisory_lock(1)';
     CREATE TABLE größe AS SELECT 1 AS länge; GRANT SELECT ON größe TO PUBLIC`,
  );
  const url = new URL(world.url);
  url.pathname = latin.pathname;
  const server = await talk(["--url", url.href]);
  onTestFinished(() => server.close());
  const { text } = await server.call("query", { sql: `SELECT "${long}"()` });
  expect(text).toContain("may mean another name in this encoding");
  expect(await server.data("query", { sql: "SELECT länge FROM größe" })).toMatchObject({
    rows: [[1]],
  });
});
