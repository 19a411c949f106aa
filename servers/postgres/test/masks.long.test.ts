import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { someOf } from "../../../vitest.long.ts";
import { type Lab, lab, naive } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

/** Two databases that differ only in masked values, of the same length. */
const setup = (one: string, two: string, three: string) => `
  CREATE SCHEMA crm;
  CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL, email text UNIQUE, age int CHECK (age > 0), low text GENERATED ALWAYS AS (lower(email)) STORED);
  CREATE INDEX ON users (lower(email));
  CREATE INDEX ON users ((length(email))) WHERE email LIKE 'a%';
  INSERT INTO users (id, name, email, age) VALUES (1, 'Ada', '${one}', 36), (2, 'Mary', '${two}', 40), (3, 'Charles', '${three}', 79);
  CREATE TABLE wide (id int, email text, bio text, kind int);
  INSERT INTO wide SELECT n, md5('${one}' || n), repeat(md5(n::text), 60), n % 500 FROM generate_series(1, 2000) n;
  CREATE INDEX ON wide (email, id);
  CREATE INDEX ON wide (kind, email);
  CREATE VIEW narrow AS SELECT id FROM wide;
  CREATE TABLE ruled (id int, password text);
  CREATE RULE also AS ON UPDATE TO ruled DO ALSO SELECT password FROM ruled;
  CREATE TABLE moods (id int PRIMARY KEY, word text, kind text, n int);
  INSERT INTO moods SELECT n, CASE WHEN n % 100 < ${one.startsWith("a") ? 2 : 90} THEN '${one}' ELSE '${two}' END, CASE n % 2 WHEN 0 THEN 'calm' ELSE 'busy' END, n FROM generate_series(1, 4000) n;
  CREATE INDEX ON moods (kind, (left(word, 1)));
  CREATE MATERIALIZED VIEW mood_copy AS SELECT id, word AS said, kind FROM moods;
  CREATE TABLE logins (password text PRIMARY KEY, n int);
  INSERT INTO logins VALUES ('${one}', 1), ('${two}', 2);
  CREATE TABLE notes (id int PRIMARY KEY, user_id int REFERENCES users (id), text text);
  INSERT INTO notes VALUES (1, 1, 'first'), (2, 3, 'second');
  CREATE TABLE crm.people (id int PRIMARY KEY, password text, city text) PARTITION BY RANGE (id);
  CREATE TABLE crm.people_low PARTITION OF crm.people FOR VALUES FROM (0) TO (10);
  INSERT INTO crm.people VALUES (1, '${one}', 'London'), (2, '${two}', 'Paris');
  CREATE TABLE guesses (email text, password text, n int);
  INSERT INTO guesses VALUES ('ada@aaaa', 'ada@aaaa', 1), ('mary@bbb', 'mary@bbb', 2);
  CREATE VIEW contacts AS SELECT id, name AS who, email AS address FROM users;
  CREATE VIEW sorted AS SELECT row_number() OVER (ORDER BY email) AS place, id FROM users;
  CREATE VIEW whole AS SELECT u AS person FROM users u;
  CREATE VIEW ages AS SELECT id, age FROM users;
  CREATE VIEW outer_view AS SELECT address AS a, id FROM contacts WHERE address IS NOT NULL;
  CREATE MATERIALIZED VIEW stored AS SELECT id, lower(email) AS mail FROM users;
  CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM users;
  CREATE MATERIALIZED VIEW stored_rows AS SELECT u::text AS line FROM users u;
  CREATE VIEW samples AS SELECT tablename, most_common_vals::text AS v FROM pg_stats;
  CREATE FUNCTION mail_of(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT email FROM users WHERE id = $1';
  CREATE FUNCTION mail_std(i int) RETURNS text LANGUAGE sql STABLE BEGIN ATOMIC SELECT email FROM users WHERE id = i; END;
  CREATE FUNCTION indirect(int) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN mail_of($1); END $$;
  CREATE FUNCTION dynamic(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE r text; BEGIN EXECUTE $1 INTO r; RETURN r; END $$;
  CREATE FUNCTION by_view(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT a FROM outer_view WHERE id = $1';
  CREATE FUNCTION mail(users) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1.email';
  CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
  CREATE FUNCTION is_user(text, text) RETURNS bool LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT FROM users WHERE email = $1)';
  CREATE OPERATOR <?> (LEFTARG = text, RIGHTARG = text, FUNCTION = is_user);
  CREATE FUNCTION state(int, int) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1 + (SELECT count(*)::int FROM users WHERE email < ''m'')';
  CREATE AGGREGATE spying(int) (SFUNC = state, STYPE = int, INITCOND = '0');
  CREATE FUNCTION check_mail(text) RETURNS bool LANGUAGE sql STABLE AS 'SELECT $1 IN (SELECT email FROM users)';
  CREATE DOMAIN known_mail AS text CHECK (check_mail(VALUE));
  CREATE RULE spy AS ON UPDATE TO guesses DO ALSO SELECT email FROM users;
  ANALYZE;
`;

// The partition of people is not named.
const MASKS = [
  "--mask",
  "users.email,wide.email,crm.people.p*,ruled.password,moods.word,logins.password,Fresh.password",
];

interface Side {
  readonly lab: Lab;
  readonly reader: Talk;
  readonly writer: Talk;
  readonly superuser: Talk;
}
let sides: Side[] = [];

beforeAll(async () => {
  const values = [
    ["ada@aaaa", "mary@bbb", "char@ccc"],
    ["zoe@zzzz", "mary@yyy", "bert@xxx"],
  ] as const;
  sides = await Promise.all(
    values.map(async ([one, two, three]): Promise<Side> => {
      const own = await lab(setup(one, two, three));
      await own.admin(
        `GRANT USAGE ON SCHEMA crm TO ${own.role}; GRANT ALL ON ALL TABLES IN SCHEMA public, crm TO ${own.role};
         ANALYZE`,
      );
      await own.admin("VACUUM ANALYZE wide");
      return {
        lab: own,
        reader: await talk([
          "--url",
          own.url,
          "--toolsets",
          "data,dba",
          "--allow-function",
          "*",
          ...MASKS,
        ]),
        writer: await talk(["--url", own.url, "--allow-write", "--confirm", "never", ...MASKS]),
        superuser: await talk(["--url", own.adminUrl, "--allow-privileged-role", ...MASKS]),
      };
    }),
  );
});
afterAll(async () => {
  for (const { lab: own, ...talks } of sides) {
    for (const one of Object.values(talks)) await one.close();
    await own.dispose();
  }
});

/** What differs between two servers anyway. */
const stable = (text: string, { lab: own }: Side) =>
  text
    .replaceAll(own.role, "role")
    .replaceAll(new URL(own.url).pathname.slice(1), "database")
    .replace(/("?(elapsed|planning|execution)_ms"?: ?)[\d.]+/g, "$11")
    .replace(/"next_cursor":"[^"]*"/, "")
    .replace(/\b1[6-9]\d{3}\b/g, "oid")
    .replace(/("(change_id|undone|undone_by|undoes|time)": ?)"[^"]*"/g, "$1id")
    .replace(/\bChange \S+/g, "Change id")
    .replace(/actual ([\d.]+) rows, [\d.]+ ms/g, "actual $1 rows");

/** The answer, if it is the same on both sides. */
async function same(
  by: "reader" | "writer" | "superuser",
  tool: string,
  args: Record<string, unknown>,
): Promise<{ text: string; isError: boolean }> {
  const [first, second] = await Promise.all(
    sides.map(async (side) => {
      const { text, isError } = await side[by].call(tool, args);
      expect(text).not.toMatch(/zzzz|@yyy|@ccc|@xxx/);
      return { text: stable(text, side), isError };
    }),
  );
  expect(second).toEqual(first);
  return first ?? { text: "", isError: true };
}

/** Answered with NULL instead of masked values. */
const ANSWERED = [
  "SELECT * FROM users ORDER BY id",
  "SELECT email FROM users",
  "SELECT low FROM users",
  "TABLE users",
  "TABLE users ORDER BY 1",
  "SELECT users FROM users ORDER BY id",
  "SELECT u::text FROM users u ORDER BY u.id",
  "SELECT to_jsonb(u) FROM users u ORDER BY id",
  "SELECT row_to_json(users.*) FROM users ORDER BY id",
  "SELECT (u).email FROM users u",
  "SELECT u.mail FROM users u",
  "SELECT mail(u) FROM users u",
  "SELECT json_agg(users ORDER BY id) FROM users",
  "SELECT md5(string_agg(email, ',' ORDER BY id)) FROM users",
  "SELECT id FROM users WHERE email LIKE 'a%'",
  "SELECT id FROM users WHERE lower(email) = 'ada@aaaa'",
  "SELECT id FROM users WHERE length(email) = 8 AND email LIKE 'a%'",
  "SELECT id FROM users ORDER BY email",
  "SELECT id FROM users ORDER BY users",
  "SELECT id, rank() OVER (ORDER BY email) FROM users",
  "SELECT count(*) FROM users GROUP BY substr(email, 1, 1)",
  "SELECT min(email), max(email) FROM users",
  "SELECT count(DISTINCT left(email, 1)) FROM users",
  "SELECT CASE WHEN email > 'm' THEN 1 / 0 END FROM users",
  "SELECT email::int FROM users",
  "SELECT id FROM users NATURAL JOIN guesses",
  "SELECT id FROM users JOIN guesses USING (email)",
  "SELECT u.id FROM users u, guesses g WHERE g.email = u.email",
  "SELECT id FROM users WHERE (id, email) IN (SELECT n, email FROM guesses)",
  "SELECT g.n FROM guesses g WHERE EXISTS (SELECT FROM users WHERE email = g.email)",
  "SELECT g.n, l.* FROM guesses g, LATERAL (SELECT id FROM users WHERE email = g.email) l",
  "SELECT email FROM guesses INTERSECT SELECT email FROM users",
  "SELECT email FROM guesses EXCEPT SELECT users.email FROM ONLY users",
  "SELECT email FROM ONLY users",
  'SELECT "email" FROM "users"',
  'SELECT U&"em\\0061il" FROM U&"us\\0065rs"',
  "SELECT /* x */ email FROM /* TABLE */ public . /* y */ users -- z",
  "WITH RECURSIVE t AS (SELECT email, 1 AS n FROM users UNION ALL SELECT email, n + 1 FROM t WHERE n < 2) SELECT * FROM t",
  "WITH a(id, b, c, d, e) AS (SELECT * FROM users) SELECT c FROM a",
  "SELECT c FROM users AS u(a, b, c, d, e) ORDER BY a",
  "SELECT (SELECT email FROM users LIMIT 1)",
  "SELECT ARRAY(SELECT email FROM users)",
  "VALUES ((SELECT email FROM users LIMIT 1))",
  "SELECT * FROM contacts ORDER BY id",
  "SELECT a FROM outer_view",
  "SELECT id FROM outer_view WHERE a LIKE 'a%'",
  "SELECT * FROM sorted ORDER BY id",
  "SELECT * FROM whole",
  "SELECT (person).email FROM whole",
  "SELECT password FROM crm.people ORDER BY id",
  "SELECT * FROM crm.people_low ORDER BY id",
  "SELECT id FROM crm.people WHERE password < 'm'",
  "SELECT pg_column_size(u) FROM users u",
  "SELECT pg_column_size(email) FROM users",
  "SELECT json_populate_record(NULL::users, to_json(u)) FROM users u",
  "SELECT * FROM ROWS FROM (unnest(ARRAY(SELECT email FROM users)), generate_series(1, 2))",
  "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY email) FROM users",
  "SELECT count(*) FILTER (WHERE email LIKE 'z%') FROM users",
  "SELECT id FROM users GROUP BY GROUPING SETS ((id, email), ()) ORDER BY 1",
  "SELECT DISTINCT ON (email) id FROM users",
  "SELECT id FROM users ORDER BY id FETCH FIRST (SELECT count(*) FROM users WHERE email < 'm') ROWS ONLY",
  "SELECT * FROM notes n JOIN users u ON u.id = n.user_id AND u.email > 'm' ORDER BY 1",
  "SELECT n.text FROM notes n WHERE user_id = (SELECT id FROM users ORDER BY email LIMIT 1)",
  "EXPLAIN SELECT * FROM users WHERE email = 'ada@aaaa'",
  "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) SELECT * FROM users WHERE email > 'm'",
  "EXPLAIN (VERBOSE) SELECT low FROM users WHERE lower(email) = 'x'",
  "SELECT format('%s', users) FROM users",
  "SELECT hashtext(email) FROM users",
  "SELECT nullif(email, 'ada@aaaa') FROM users",
  "SELECT email IS NULL, count(*) FROM users GROUP BY 1",
  "SELECT xmlforest(email) FROM users",
  "SELECT xmlelement(name x, users) FROM users",
];

const REFUSED = [
  "SELECT id FROM users ORDER BY 3, 1",
  "SELECT email FROM ONLY (users)",
  "SELECT email FROM users *",
  "SELECT email FROM users TABLESAMPLE SYSTEM (100)",
  "SELECT public.users.email FROM public.users",
  "WITH users AS (SELECT * FROM users) SELECT * FROM users",
  "WITH users AS (SELECT 1) SELECT (SELECT max(email) FROM public.users) FROM users",
  "SELECT * FROM users, (WITH users AS (SELECT 1) SELECT * FROM users) x",
  "SELECT * FROM stored ORDER BY id",
  "SELECT line FROM stored_rows",
  "SELECT id FROM stored WHERE mail LIKE 'a%'",
  "SELECT mail_of(1)",
  "SELECT mail_std(1)",
  "SELECT indirect(1)",
  "SELECT public.indirect(id) FROM notes",
  "SELECT * FROM by_view(1)",
  "SELECT dynamic('SELECT email FROM users')",
  "SELECT 'ada@aaaa' <?> ''",
  "SELECT 'ada@aaaa' OPERATOR(public.<?>) ''",
  "SELECT spying(1)",
  "SELECT 'ada@aaaa'::known_mail",
  "SELECT CAST('ada@aaaa' AS known_mail)",
  "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'users'",
  "SELECT * FROM pg_catalog.pg_stats_ext",
  "SELECT * FROM samples",
  "SELECT query FROM pg_stat_activity",
  "SELECT pg_stat_get_backend_activity(1)",
  "SELECT * FROM pg_stat_get_activity(NULL)",
  "SELECT query_to_xml('SELECT email FROM users', true, true, '')",
  "SELECT table_to_xml('users', true, true, '')",
  "SELECT ts_stat('SELECT to_tsvector(email) FROM users')",
  "SELECT ctid, xmin FROM users",
  "SELECT relname, n_tup_hot_upd FROM pg_stat_user_tables",
  "SELECT n_tup_hot_upd FROM pg_stat_xact_all_tables",
  "SELECT pg_stat_get_tuples_hot_updated('users'::regclass)",
  "SELECT tableoid::regclass FROM users",
];

describe("two databases that differ only in masked values give the same answers", () => {
  it.each(someOf(8, ANSWERED))("%s", async (sql) => {
    const { text, isError } = await same("reader", "query", { sql });
    expect(isError, text).toBe(false);
    expect(text).toContain("Masked by this server, so always NULL");
    if (!sql.startsWith("EXPLAIN"))
      expect((await same("reader", "pg_explain", { sql, analyze: true })).isError).toBe(false);
    await same("superuser", "query", { sql });
  });

  it.each(someOf(8, REFUSED))("and refuse: %s", async (sql) => {
    for (const by of ["reader", "superuser"] as const)
      expect((await same(by, "query", { sql })).isError, sql).toBe(true);
    expect((await same("reader", "pg_explain", { sql, analyze: true })).isError).toBe(true);
  });

  it("in the same order, whatever index they could use", async () => {
    for (const from of ["wide", "narrow", "(SELECT id FROM wide) w"]) {
      const { text } = await same("reader", "query", {
        sql: `SELECT id FROM ${from}`,
        max_rows: 30,
      });
      expect(text).toContain("[[1],[2],[3]");
    }
    for (const rest of ["WHERE kind = 3", "WHERE kind < 2 ORDER BY kind", "ORDER BY kind LIMIT 40"])
      await same("reader", "query", { sql: `SELECT id, kind FROM wide ${rest}` });
  });

  it("while without masks most of these statements show them", async () => {
    const [one, two] = await Promise.all(
      sides.map(async ({ lab: { adminUrl } }) => {
        const answers: string[] = [];
        for (const sql of [...ANSWERED, ...REFUSED])
          answers.push(
            await naive(adminUrl, sql).then(JSON.stringify, (error) => String(error.detail)),
          );
        return answers;
      }),
    );
    const isSame = (answer: string, at: number) => answer === two?.[at];
    expect(one?.filter((answer, at) => !isSame(answer, at)).length).toBeGreaterThan(70);
  });

  const CLAUSES: readonly ((from: string, column: string) => string)[] = [
    (from, column) =>
      `SELECT ${column}, count(*) FROM ${from} GROUP BY ${column} ORDER BY ${column}`,
    (from, column) => `SELECT count(*) FROM ${from} WHERE ${column} < 'm'`,
    (from, column) => `SELECT x.id FROM (SELECT * FROM ${from}) x ORDER BY x.${column} DESC`,
    (from, column) =>
      `WITH c AS (SELECT id, ${column} AS v FROM ${from}) SELECT id FROM c WHERE v BETWEEN 'a' AND 'm'`,
    (from, column) =>
      `SELECT a.id FROM ${from} AS a JOIN ${from} AS b ON a.${column} < b.${column}`,
    (from, column) =>
      `SELECT lead(${column}) OVER w IS NOT NULL FROM ${from} WINDOW w AS (ORDER BY ${column})`,
    (from, column) =>
      `SELECT (SELECT y FROM (SELECT ${column} AS y FROM ${from} ORDER BY 1 LIMIT 1) z)`,
    (from, column) => `SELECT id FROM ${from} UNION SELECT length(${column}) FROM ${from}`,
    (from, column) => `SELECT array_agg(t) FROM (SELECT ${column} FROM ${from}) t`,
    (from, column) =>
      `SELECT EXISTS (SELECT FROM ${from} WHERE ${column} IN (SELECT email FROM guesses))`,
  ];
  const SOURCES = [
    ["users", "email"],
    ["public.users", "low"],
    ["ONLY users", "email"],
    ["contacts", "address"],
    ["outer_view", "a"],
    ["crm.people", "password"],
    ["crm.people_low", "password"],
    ["(SELECT * FROM users WHERE age > 1) q", "email"],
    ["(users CROSS JOIN (SELECT 1 AS one) r)", "email"],
  ] as const;
  it.each(someOf(4, SOURCES))("in every clause: %s", async (from, column) => {
    for (const clause of CLAUSES) {
      const sql = clause(from, column);
      const { text, isError } = await same("reader", "query", { sql });
      if (isError) expect(text).not.toMatch(/internal/i);
      await same("reader", "query", { sql: `EXPLAIN ${sql}` });
    }
  });
});

describe("masks", () => {
  it("do not change what other columns, views and functions answer", async () => {
    for (const [sql, rows] of [
      ["SELECT name FROM users WHERE id = 2", [["Mary"]]],
      ["SELECT * FROM ages WHERE age > 50", [[3, 79]]],
      ["SELECT n FROM counted", [[3]]],
      ["SELECT twice(21)", [[42]]],
      [
        "SELECT u.name, n.text FROM users u JOIN notes n ON n.user_id = u.id ORDER BY 1",
        [
          ["Ada", "first"],
          ["Charles", "second"],
        ],
      ],
    ] as const)
      for (const { reader } of sides)
        expect(await reader.data("query", { sql })).toMatchObject({ rows });
  });

  it("say which columns they hide, and what to do", async () => {
    const [side] = sides;
    expect(await side?.reader.data("query", { sql: "SELECT * FROM crm.people" })).toMatchObject({
      notices: ["Masked by this server, so always NULL: crm.people.password."],
    });
    const { text } = (await side?.reader.call("query", { sql: "SELECT indirect(1)" })) ?? {};
    expect(text).toMatch(/indirect is blocked.*--mask/s);
  });

  it("hide statements of other sessions from health and expensive queries", async () => {
    const [side] = sides;
    if (side === undefined) return;
    const { lab: own, reader } = side;
    onTestFinished(async () => {
      await own.admin("DROP SCHEMA extended CASCADE; DELETE FROM pg_extension WHERE oid = 99990");
    });
    await own.admin(
      `CREATE SCHEMA extended; GRANT USAGE ON SCHEMA extended TO PUBLIC;
       INSERT INTO pg_extension SELECT 99990, 'pg_stat_statements', 10, 'extended'::regnamespace, false, '1';
       CREATE VIEW extended.pg_stat_statements AS SELECT query, place AS queryid, d.oid AS dbid, 1::bigint AS calls, 2::bigint AS rows,
         3::float8 AS total_exec_time, 4::float8 AS mean_exec_time, 5::bigint AS shared_blks_hit, 6::bigint AS shared_blks_read, 7::bigint AS temp_blks_written
         FROM pg_database d, unnest(ARRAY['SELECT id FROM users WHERE email = ''zoe@zzzz''', 'CREATE ROLE r PASSWORD ''zoe@zzzz''']) WITH ORDINALITY q (query, place);
       GRANT SELECT ON extended.pg_stat_statements TO PUBLIC`,
    );
    expect(await reader.data("pg_top_queries")).toMatchObject({
      queries: [{ query: "SELECT id FROM users WHERE email = $1" }],
    });
    const [holder, waiter] = [new pg.Client(own.url), new pg.Client(own.url)];
    onTestFinished(async () => {
      await Promise.all([holder.end(), waiter.end()]);
    });
    await Promise.all([holder.connect(), waiter.connect()]);
    await holder.query("BEGIN; UPDATE users SET age = 1 WHERE email <> 'zoe@zzzz'");
    const waiting = waiter.query(
      "BEGIN; UPDATE users SET age = 2 WHERE email <> 'zoe@zzzz'; ROLLBACK",
    );
    const locks = () => reader.call("pg_health", { checks: ["locks"] });
    await expect.poll(async () => (await locks()).text).toMatch(/blocked_by/);
    expect((await locks()).text).not.toMatch(/zoe/);
    await holder.query("ROLLBACK");
    await waiting;
  });

  it("apply to tools of a file", async () => {
    const [side] = sides;
    const folder = await mkdtemp(join(tmpdir(), "refmcp-masks-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "tools.json");
    const statement = "SELECT email FROM users WHERE id = $1";
    const parameters = [{ name: "id", type: "integer", description: "Id." }];
    const tool = {
      name: "mail_of_user",
      description: "Get the mail of a user.",
      statement,
      parameters,
    };
    await writeFile(file, JSON.stringify({ tools: [tool] }));
    const own = await talk(["--url", side?.lab.url ?? "", "--tools-file", file, ...MASKS]);
    expect(await own.data("mail_of_user", { id: 1 })).toMatchObject({ rows: [[null]] });
    await own.close();
  });

  it("apply to exports, advice, health and expensive queries", async () => {
    for (const [at, { lab: own }] of sides.entries()) {
      const folder = await mkdtemp(join(tmpdir(), "refmcp-masks-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const exporter = await talk(["--url", own.url, "--root", folder, ...MASKS]);
      for (const format of ["csv", "jsonl"]) {
        const path = `users-${at}.${format}`;
        await exporter.data("pg_export", { sql: "SELECT * FROM users ORDER BY id", path, format });
        const written = await readFile(join(folder, path), "utf8");
        expect(written).toMatch(/Mary/);
        expect(written).not.toMatch(/@/);
      }
      expect(
        (await exporter.call("pg_export", { sql: "SELECT * FROM stored", path: "x.csv" })).isError,
      ).toBe(true);
      await exporter.close();
    }
    await same("reader", "pg_health", { checks: ["locks", "transactions", "security", "schema"] });
    await same("reader", "pg_describe_table", { table: "crm.people" });
  });
});

describe("what is known about values", () => {
  /** How a server without masks answers. */
  const plainly = async (work: (plain: Talk) => Promise<string>) =>
    await Promise.all(
      sides.map(async (side) => {
        const plain = await talk(["--url", side.lab.url, "--toolsets", "data,dba"]);
        return stable(await work(plain).finally(() => plain.close()), side);
      }),
    );

  it.each(["moods", "mood_copy"])("is hidden in descriptions: %s", async (table) => {
    for (const [tool, args] of [
      ["pg_describe_table", { table }],
      ["pg_describe_tables", { query: table, detail: "full" }],
    ] as const) {
      const { text } = await same("reader", tool, args);
      // Any column of a materialized view may be made of masked ones.
      expect(/seen.*busy/.test(text)).toBe(table === "moods");
      const [one, two] = await plainly(async (plain) => (await plain.call(tool, args)).text);
      expect(one).toMatch(/@aaaa/);
      expect(two).toMatch(/@zzzz/);
    }
  });

  it("is hidden in rows as resources, and in their keys", async () => {
    for (const uri of ["rows://public/users/1", "rows://public/logins/ada%40aaaa"]) {
      const answers = await Promise.all(
        sides.map(async ({ reader }) =>
          JSON.stringify(
            await reader.connected.client.readResource({ uri }).catch(({ message }) => message),
          ).replace(/elapsed_ms[\\": ]+[\d.]+/, ""),
        ),
      );
      expect(answers[1]).toBe(answers[0]);
    }
    for (const { reader } of sides) {
      const ref = { type: "ref/resource", uri: "rows://{schema}/{table}/{key}" } as const;
      const context = { arguments: { schema: "public", table: "logins" } };
      const argument = { name: "key", value: "" };
      const { completion } = await reader.connected.client.complete({ ref, argument, context });
      expect(completion.values).toEqual([]);
    }
  });
});

describe("changes that are undone", () => {
  /** Ids of the changes of both sides. */
  const commit = async (sql: string) => {
    expect((await same("writer", "pg_list_changes", {})).isError).toBe(false);
    return await Promise.all(
      sides.map(async (side) => {
        const { text } = await side.writer.call("pg_execute", { statements: [sql] });
        return { text: stable(text, side), id: String(JSON.parse(text).change_id) };
      }),
    );
  };
  const undo = async (ids: readonly { readonly id: string }[], dry_run = false) => {
    const answers = await Promise.all(
      sides.map(async (side, at) => {
        const { text } = await side.writer.call("pg_undo_change", {
          change_id: ids[at]?.id,
          dry_run,
        });
        return stable(text, side);
      }),
    );
    expect(answers[1]).toBe(answers[0]);
    return answers[0];
  };

  it("do not show whether a value was guessed", async () => {
    const changes = await commit("UPDATE users SET email = 'ada@aaaa' WHERE id = 1");
    expect(changes[1]?.text).toBe(changes[0]?.text);
    expect(changes[0]?.text).toMatch(/"change_id":id/);
    const { text } = await same("writer", "pg_list_changes", {});
    expect(text).toMatch(/"updated":1/);
    expect(text).not.toMatch(/UPDATE users/);
    expect(await undo(changes, true)).toMatch(/"updated":1/);
    expect(await undo(changes)).toMatch(/"updated":1/);
    await same("writer", "pg_list_changes", {});
    for (const [at, first] of ["ada@aaaa", "zoe@zzzz"].entries())
      expect(
        await naive(sides[at]?.lab.adminUrl ?? "", "SELECT email FROM users WHERE id = 1"),
      ).toEqual([{ email: first }]);
  });

  it("do not show masked keys of rows that were changed since", async () => {
    const changes = await commit("UPDATE logins SET n = n + 1");
    for (const { lab: own } of sides) await own.admin("UPDATE logins SET n = 9");
    const text = await undo(changes);
    expect(text).toMatch(/2 of its rows are not as it left them\./);
    expect(text).not.toMatch(/@/);
  });

  it("do not show values that PostgreSQL refuses", async () => {
    const changes = await commit("UPDATE logins SET n = 1");
    for (const { lab: own } of sides)
      await own.admin("ALTER TABLE logins ALTER password TYPE int USING ascii(password)");
    const text = await undo(changes);
    expect(text).toMatch(/recorded rows.*not shown.*22P02/);
    expect(text).not.toMatch(/@/);
  });
});

/** Writes to a rolled-back transaction. */
const write = (...statements: string[]) =>
  same("writer", "pg_execute", { statements: statements.map((sql) => ({ sql })), dry_run: true });

describe("changes", () => {
  it.each(
    someOf(8, [
      "UPDATE users SET name = email",
      "UPDATE users SET name = upper(users.email) WHERE id = 1",
      "UPDATE users SET name = 'x' WHERE email LIKE 'a%'",
      "UPDATE users AS u SET name = (SELECT u.email)",
      "UPDATE users SET name = users::text",
      "UPDATE users SET name = to_json(users)::text",
      "UPDATE users SET name = users.mail",
      "UPDATE users SET name = 'x' RETURNING *",
      "UPDATE users SET name = 'x' RETURNING email",
      "UPDATE users SET name = 'x' RETURNING users",
      "UPDATE users SET name = 'x' RETURNING users.row_to_json",
      "UPDATE users SET name = low",
      "UPDATE users SET name = 'x' RETURNING old.email",
      "UPDATE users SET name = 'x' RETURNING old",
      "UPDATE users SET name = 'x' RETURNING WITH (OLD AS before) before",
      "UPDATE users SET email[1] = 'x'",
      "UPDATE notes SET text = u.email FROM users u WHERE u.id = user_id",
      "UPDATE notes SET text = (SELECT max(address) FROM contacts)",
      "UPDATE notes SET text = c FROM users AS u(a, b, c, d, e)",
      "UPDATE notes SET text = 'x' FROM users JOIN guesses USING (email)",
      "UPDATE notes SET text = 'x' FROM users NATURAL JOIN guesses",
      "UPDATE guesses SET n = 2",
      "UPDATE ruled SET id = 2",
      "DELETE FROM users WHERE email < 'm'",
      "DELETE FROM users WHERE users > ROW(1, 'a', 'm', 1, 'x')::users",
      "DELETE FROM users RETURNING email",
      "DELETE FROM notes USING users WHERE email < 'm'",
      "INSERT INTO notes (id, text) SELECT id + 100, email FROM users",
      "INSERT INTO guesses (email) SELECT * FROM (TABLE users) x",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = users.email",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y' WHERE users.email < 'm'",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y' RETURNING email",
      "WITH d AS (DELETE FROM users RETURNING *) SELECT * FROM d",
      "MERGE INTO users u USING guesses g ON u.email = g.email WHEN MATCHED THEN UPDATE SET name = 'hit'",
      "MERGE INTO notes n USING users u ON n.user_id = u.id WHEN MATCHED THEN UPDATE SET text = u.email",
      "CREATE TABLE copied AS SELECT * FROM users",
      "SELECT * INTO copied FROM users",
      "CREATE TABLE children () INHERITS (users)",
      "CREATE TABLE likewise (LIKE users INCLUDING ALL)",
      "CREATE TABLE referring (e text REFERENCES users (email))",
      "CREATE VIEW way AS SELECT email FROM users",
      "CREATE FUNCTION way() RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM users'",
      "CREATE INDEX ON users ((1 / (length(email) - 8)))",
      "CREATE UNIQUE INDEX ON users ((left(email, 1)))",
      "CREATE TRIGGER t AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION f()",
      "CREATE RULE r AS ON UPDATE TO notes DO ALSO SELECT email FROM users",
      "ALTER TABLE users RENAME COLUMN email TO visible",
      "ALTER TABLE users RENAME TO visible",
      "ALTER TABLE users SET SCHEMA crm",
      "ALTER TABLE users ADD CHECK (email < 'm')",
      "ALTER TABLE users ADD COLUMN copied text GENERATED ALWAYS AS (email) STORED",
      "ALTER TABLE users ALTER COLUMN email TYPE int USING email::int",
      "ALTER TABLE crm.people DETACH PARTITION crm.people_low",
      "ALTER SCHEMA crm RENAME TO visible",
      "CREATE POLICY p ON users USING (email < 'm')",
      "DO $$ BEGIN RAISE NOTICE '%', (SELECT max(email) FROM users); END $$",
      "REFRESH MATERIALIZED VIEW stored",
      "CREATE MATERIALIZED VIEW m AS SELECT email FROM users",
      "EXPLAIN ANALYZE UPDATE users SET name = 'x' WHERE email < 'm'",
      "EXPLAIN (ANALYZE) DELETE FROM notes USING contacts WHERE address < 'm'",
      "SELECT mail_of(1)",
    ]),
  )("that could read masked values are refused: %s", async (sql) => {
    const { text, isError } = await write(sql);
    expect(isError, text).toBe(true);
    expect(text).not.toMatch(/does not exist|internal|syntax/i);
  });

  it.each(
    someOf(4, [
      "UPDATE users SET email = 'new@new' WHERE id = 2 RETURNING id, name",
      "UPDATE users SET name = name || '!', email = NULL",
      "INSERT INTO users (id, name, email, age) VALUES (9, 'Grace', 'new@new', 85) RETURNING id",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = 'new@new'",
      "DELETE FROM notes USING users u WHERE u.id = notes.user_id AND u.age > 50",
      "UPDATE notes SET text = u.name FROM users u WHERE u.id = user_id RETURNING text",
      "INSERT INTO notes (id, text) SELECT id + 100, name FROM users",
      "CREATE TABLE copied AS SELECT id, name FROM users",
      "SELECT * FROM users",
      "DELETE FROM notes",
    ]),
  )("that don't read them run: %s", async (sql) => {
    const { text, isError } = await write(sql);
    expect(isError, text).toBe(false);
  });

  it("see tables of the same transaction", async () => {
    const { text } = await write(
      "CREATE TABLE fresh (id int, password text)",
      "INSERT INTO fresh VALUES (1, 'own@zzzz')",
      "SELECT * FROM fresh",
    );
    expect(text).toMatch(/fresh\.password/);
  });

  it("don't show other rows in errors", async () => {
    for (const { lab: own } of sides)
      await own.admin(
        `CREATE UNIQUE INDEX IF NOT EXISTS one_old ON users ((age > 30), email) WHERE age > 30;
         CREATE OR REPLACE FUNCTION loud() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'mail %', OLD.email;
           IF NEW.age = 99 THEN RAISE EXCEPTION 'bad mail %', OLD.email; END IF; RETURN NEW; END $$;
         CREATE OR REPLACE TRIGGER loud BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION loud()`,
      );
    for (const sql of [
      "UPDATE users SET age = -1",
      "UPDATE users SET age = 99",
      "UPDATE users SET name = NULL WHERE id = 1",
    ]) {
      const { text, isError } = await write(sql);
      expect(isError, text).toBe(true);
      expect(text).not.toMatch(/aaaa|bbb/);
    }
    const { text, isError } = await write("UPDATE users SET age = age + 1");
    expect(isError, text).toBe(false);
    expect(text).not.toMatch(/aaaa|bbb/);
  });
});
