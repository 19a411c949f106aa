import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

/** Two databases that differ only in masked values, of the same length. */
const setup = (one: string, two: string, three: string) => `
  CREATE SCHEMA crm;
  CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL, email text UNIQUE, age int CHECK (age > 0), low text GENERATED ALWAYS AS (lower(email)) STORED);
  CREATE INDEX ON users (lower(email));
  CREATE INDEX ON users ((length(email))) WHERE email LIKE 'a%';
  INSERT INTO users (id, name, email, age) VALUES (1, 'Ada', '${one}', 36), (2, 'Mary', '${two}', 40), (3, 'Charles', '${three}', 79);
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

const MASKS = ["--mask", "users.email,*.password"];

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
         SELECT pg_stat_reset(); SELECT count(*) FROM pg_class`,
      );
      return {
        lab: own,
        reader: await talk(["--url", own.url, "--toolsets", "data,dba", "--allow-function", "*", ...MASKS]),
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
    .replace(/\b1[6-9]\d{3}\b/g, "oid")
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
      expect(text).not.toMatch(/aaaa|@bbb|zzzz|@yyy|@ccc|@xxx/);
      return { text: stable(text, side), isError };
    }),
  );
  expect(second).toEqual(first);
  return first ?? { text: "", isError: true };
}

const ATTACKS = [
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
  "SELECT id FROM users ORDER BY 3, 1",
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
  "SELECT email FROM ONLY (users)",
  "SELECT email FROM users *",
  "SELECT email FROM users TABLESAMPLE SYSTEM (100)",
  'SELECT "email" FROM "users"',
  'SELECT U&"em\\0061il" FROM U&"us\\0065rs"',
  "SELECT /* x */ email FROM /* TABLE */ public . /* y */ users -- z",
  "SELECT public.users.email FROM public.users",
  "WITH users AS (SELECT * FROM users) SELECT * FROM users",
  "WITH users AS (SELECT 1) SELECT (SELECT max(email) FROM public.users) FROM users",
  "SELECT * FROM users, (WITH users AS (SELECT 1) SELECT * FROM users) x",
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
  "SELECT * FROM stored ORDER BY id",
  "SELECT line FROM stored_rows",
  "SELECT id FROM stored WHERE mail LIKE 'a%'",
  "SELECT password FROM crm.people ORDER BY id",
  "SELECT * FROM crm.people_low ORDER BY id",
  "SELECT id FROM crm.people WHERE password < 'm'",
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
  "SELECT tableoid::regclass FROM users",
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

describe("two databases that differ only in masked values answer alike", () => {
  it.each(ATTACKS)("%s", async (sql) => {
    await same("reader", "query", { sql });
    if (!sql.startsWith("EXPLAIN")) await same("reader", "pg_explain", { sql, analyze: true });
    await same("superuser", "query", { sql });
  });
});
