import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { someOf } from "../../../vitest.long.ts";
import { type Talk, talk } from "./session.ts";

/** Two databases that differ only in masked values, of the same length. */
const setup = (one: string, two: string, three: string) => `
  CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, age INT CHECK (age > 0),
    low TEXT GENERATED ALWAYS AS (lower(email)) VIRTUAL, kept TEXT GENERATED ALWAYS AS (upper(email)) STORED);
  CREATE INDEX by_lower ON users (lower(email));
  CREATE INDEX by_some ON users (id) WHERE email LIKE 'a%';
  CREATE INDEX by_age ON users (age);
  INSERT INTO users (id, name, email, age) VALUES (1, 'Ada', '${one}', 36), (2, 'Mary', '${two}', 40), (3, 'Charles', '${three}', 79);
  CREATE TABLE moods (id INTEGER PRIMARY KEY, word TEXT, kind TEXT, n INT);
  WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2000)
  INSERT INTO moods SELECT n, CASE WHEN n % 100 < ${one.startsWith("a") ? 2 : 90} THEN '${one}' ELSE '${two}' END, CASE n % 2 WHEN 0 THEN 'calm' ELSE 'busy' END, n FROM r;
  CREATE INDEX by_word ON moods (word, kind);
  CREATE TABLE tags (id INTEGER PRIMARY KEY, word TEXT, kind TEXT, filler BLOB) WITHOUT ROWID;
  CREATE INDEX tags_word ON tags (word, kind);
  INSERT INTO tags SELECT id, CASE WHEN id <= 1500 THEN 'm' ELSE '${one.charAt(0)}' END || id, CASE WHEN id <= 1500 THEN 'usual' ELSE 'rare' END, hex(zeroblob(200)) FROM moods;
  CREATE TABLE lockers (password TEXT PRIMARY KEY, kind TEXT) WITHOUT ROWID;
  INSERT INTO lockers SELECT CASE WHEN id <= 1500 THEN 'm' ELSE '${one.charAt(0)}' END || id, kind FROM tags;
  CREATE TABLE logins (password TEXT PRIMARY KEY, kind TEXT) WITHOUT ROWID;
  INSERT INTO logins VALUES ('${one}', 'calm'), ('${two}', 'busy'), ('${three}', 'busy'), ('x', 'calm');
  CREATE TABLE notes (id INTEGER PRIMARY KEY, user_id INT REFERENCES users (id), text TEXT);
  CREATE TABLE mails (mail TEXT REFERENCES users (email));
  INSERT INTO notes VALUES (1, 1, 'first'), (2, 3, 'second');
  CREATE TABLE accounts (name TEXT, password TEXT, city TEXT, PRIMARY KEY (name)) WITHOUT ROWID;
  INSERT INTO accounts VALUES ('ada', '${one}', 'London'), ('mary', '${two}', 'Paris');
  CREATE TABLE keyed (password INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO keyed VALUES (${one.length * one.charCodeAt(0)}, 'x'), (900, 'y');
  CREATE INDEX keyed_name ON keyed (name);
  CREATE TABLE many (id INTEGER PRIMARY KEY, password TEXT, kind INT);
  INSERT INTO many WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1000)
    SELECT n, CASE WHEN '${one}' < 'b' THEN n % 7 ELSE n END, n % 5 FROM t;
  CREATE TABLE guesses (email TEXT, n INT);
  INSERT INTO guesses VALUES ('ada@aaaa', 1), ('mary@bbb', 2);
  CREATE VIEW contacts AS SELECT id, name AS who, email AS address FROM users;
  CREATE VIEW outer_view AS SELECT address AS a, id FROM contacts WHERE address IS NOT NULL;
  CREATE VIEW few AS SELECT id FROM main.users WHERE email LIKE 'a%';
  CREATE VIEW ages (one, two) AS SELECT id, age FROM users;
  CREATE VIRTUAL TABLE docs USING fts5(email, content='users', content_rowid='id');
  INSERT INTO docs (docs) VALUES ('rebuild');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab(docs, row);
  CREATE VIRTUAL TABLE own USING fts5(password, text);
  INSERT INTO own VALUES ('${one}', 'hello');
  CREATE VIRTUAL TABLE plain USING fts5(text);
  INSERT INTO plain VALUES ('hello world');
  CREATE TRIGGER spy AFTER UPDATE ON guesses BEGIN INSERT INTO notes (text) SELECT email FROM users; END;
  ANALYZE;`;

const MASKS = ["--mask", "users.email,*.word,*.password"];

interface Side {
  readonly file: string;
  readonly folder: string;
  readonly reader: Talk;
  readonly writer: Talk;
}
let sides: Side[] = [];

beforeAll(async () => {
  const values = [
    ["ada@aaaa", "mary@bbb", "char@ccc"],
    ["zoe@zzzz", "mary@yyy", "bert@xxx"],
  ] as const;
  sides = await Promise.all(
    values.map(async ([one, two, three]): Promise<Side> => {
      const folder = await mkdtemp(join(tmpdir(), "refmcp-masks-"));
      const file = join(folder, "shop.db");
      const made = new Sqlite(file);
      made.exec(setup(one, two, three));
      made.close();
      const args = ["--db-path", file, "--root", folder, ...MASKS];
      return {
        file,
        folder,
        reader: await talk(args),
        writer: await talk([...args, "--allow-write", "--allow-ddl", "--confirm", "never"]),
      };
    }),
  );
});
afterAll(async () => {
  for (const { folder, reader, writer } of sides) {
    await reader.close();
    await writer.close();
    await rm(folder, { recursive: true, force: true });
  }
});

/** What differs anyway. */
const stable = (text: string, { folder }: Side) =>
  text
    .replaceAll(folder, "")
    .replace(/"elapsed_ms":[\d.]+/, "")
    .replace(/"(change_id|undone|undone_by|undoes|time)":"[^"]*"/g, '"$1":id')
    .replace(/\bChange \S+/g, "Change id");

/** The answer, which must be the same on both sides. */
async function same(by: "reader" | "writer", tool: string, args: Record<string, unknown>) {
  const [first, second] = await Promise.all(
    sides.map(async (side) => {
      const { text, isError } = await side[by].call(tool, args);
      expect(text).not.toMatch(/zzzz|@yyy|@ccc|@xxx/i);
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
  "SELECT kept FROM users",
  "SELECT id FROM users",
  "SELECT count(*) FROM users",
  "SELECT name, age FROM users",
  'SELECT "email" FROM "users"',
  "SELECT [email] FROM [users]",
  "SELECT `email` FROM `users`",
  "SELECT users.'email' FROM 'users'",
  "SELECT EMAIL FROM USERS",
  "SELECT id FROM users WHERE email LIKE 'a%'",
  "SELECT id FROM users WHERE lower(email) = 'ada@aaaa'",
  "SELECT id FROM users ORDER BY email",
  "SELECT id FROM users ORDER BY lower(email), id",
  "SELECT id, rank() OVER (ORDER BY email) FROM users",
  "SELECT count(*) FROM users GROUP BY substr(email, 1, 1)",
  "SELECT min(email), max(email) FROM users",
  "SELECT count(DISTINCT substr(email, 1, 1)) FROM users",
  "SELECT group_concat(email) FROM users",
  "SELECT length(email), typeof(email), unicode(email) FROM users",
  "SELECT json_group_array(email) FROM users",
  "SELECT json_object('x', email) FROM users",
  "SELECT value FROM users, json_each(json_array(email))",
  "SELECT id FROM users NATURAL JOIN guesses",
  "SELECT id FROM users JOIN guesses USING (email)",
  "SELECT u.id FROM users u, guesses g WHERE g.email = u.email",
  "SELECT id FROM users WHERE (id, email) IN (SELECT n, email FROM guesses)",
  "SELECT g.n FROM guesses g WHERE EXISTS (SELECT 1 FROM users WHERE email = g.email)",
  "SELECT email FROM guesses INTERSECT SELECT email FROM users",
  "SELECT u.email FROM users u",
  "WITH u AS (SELECT * FROM users) SELECT email FROM u",
  "WITH a (id, b, c) AS (SELECT id, name, email FROM users) SELECT c FROM a",
  "WITH RECURSIVE t AS (SELECT email, 1 AS n FROM users UNION ALL SELECT email, n + 1 FROM t WHERE n < 2) SELECT * FROM t",
  "SELECT (SELECT email FROM users LIMIT 1)",
  "SELECT * FROM contacts ORDER BY id",
  "SELECT a FROM outer_view",
  "SELECT count(*) FROM outer_view",
  "SELECT id FROM outer_view WHERE a LIKE 'a%'",
  "SELECT * FROM ages WHERE two > 1",
  "SELECT * FROM accounts ORDER BY name",
  "SELECT name FROM accounts WHERE password < 'm'",
  "SELECT city FROM accounts ORDER BY password, name",
  "SELECT CASE WHEN email > 'm' THEN abs(-9223372036854775808) END FROM users",
  "SELECT id FROM users LIMIT (SELECT count(*) FROM users WHERE email < 'm')",
  "SELECT DISTINCT email IS NULL FROM users",
  "SELECT age FROM main.users INDEXED BY by_age WHERE age = 36",
  "SELECT coalesce(email, name) FROM users",
  "EXPLAIN QUERY PLAN SELECT * FROM users WHERE email = 'x'",
  "EXPLAIN SELECT * FROM users WHERE email = 'x'",
  "/* x */ EXPLAIN /* EXPLAIN */ SELECT email FROM users",
];

const REFUSED = [
  "SELECT email FROM main.users",
  "SELECT * FROM main.users",
  "SELECT main.users.email FROM main.users",
  "SELECT low FROM main.users",
  "SELECT kept FROM main.users",
  "SELECT id FROM main.users ORDER BY email",
  "SELECT id FROM main.users ORDER BY lower(email)",
  "SELECT id FROM main.users WHERE email LIKE 'a%'",
  "SELECT id FROM main.users INDEXED BY by_some WHERE email LIKE 'a%'",
  "SELECT id FROM main.users INDEXED BY sqlite_autoindex_users_1",
  "SELECT count(*) FROM main.users WHERE email < 'm'",
  "SELECT max(email) FROM main.users",
  "SELECT lower(email) FROM main.users INDEXED BY by_lower",
  "SELECT g.n FROM guesses g WHERE g.email IN (SELECT email FROM main.users)",
  "SELECT u.id FROM main.users u NATURAL JOIN guesses",
  "SELECT length(email) FROM main.users",
  "SELECT 1 FROM main.users WHERE email IS NOT NULL AND email > 'm'",
  "WITH users AS (SELECT * FROM main.users) SELECT email FROM users",
  "SELECT * FROM few",
  "SELECT count(*) FROM few",
  "SELECT * FROM main.contacts",
  "SELECT id FROM main.outer_view",
  "SELECT password FROM main.accounts",
  "SELECT name FROM main.accounts WHERE password > 'm'",
  "SELECT * FROM keyed",
  "SELECT name FROM keyed",
  "SELECT name FROM main.keyed ORDER BY rowid",
  "SELECT name FROM main.keyed WHERE rowid > 100",
  "SELECT count(*) FROM keyed",
  "SELECT rowid FROM main.keyed INDEXED BY keyed_name",
  "SELECT name, password FROM main.keyed WHERE name > 'a'",
  "/* explain SELECT 1; -- */ EXPLAIN QUERY PLAN SELECT email FROM main.users",
  "SELECT * FROM docs",
  "SELECT rowid FROM docs WHERE docs MATCH 'ada'",
  "SELECT rowid FROM docs('ada')",
  "SELECT highlight(docs, 0, '<', '>') FROM docs",
  "SELECT term FROM vocabulary",
  "SELECT * FROM docs_data",
  "SELECT hex(block) FROM docs_data",
  "SELECT * FROM own",
  "SELECT text FROM own",
  "SELECT * FROM own_content",
  "SELECT c0 FROM own_content",
  "SELECT stat FROM sqlite_stat1",
  "SELECT * FROM sqlite_stat4",
  "PRAGMA integrity_check",
  "PRAGMA main.quick_check",
  "PRAGMA foreign_key_check(users)",
  "SELECT * FROM pragma_integrity_check",
  "SELECT * FROM pragma_foreign_key_check('notes')",
  "SELECT * FROM sqlite_dbpage",
  "SELECT data FROM sqlite_dbpage('main')",
  "SELECT * FROM dbstat WHERE name = 'users'",
  "EXPLAIN SELECT email FROM main.users",
  "EXPLAIN QUERY PLAN SELECT id FROM main.users WHERE email = 'x'",
];

describe("two databases that differ only in masked values give the same answers", () => {
  it.each(someOf(8, ANSWERED))("%s", async (sql) => {
    const { text, isError } = await same("reader", "read_query", { query: sql });
    expect(isError, text).toBe(false);
    expect(text).toContain("Masked by this server, so always NULL");
    if (!/EXPLAIN/.test(sql))
      expect((await same("reader", "explain", { sql })).isError).toBe(false);
  });

  it.each(someOf(8, REFUSED))("and refuse: %s", async (sql) => {
    const { text, isError } = await same("reader", "read_query", { query: sql });
    expect(isError, text).toBe(true);
    if (!sql.startsWith("PRAGMA") && !sql.startsWith("EXPLAIN"))
      expect((await same("reader", "explain", { sql })).isError).toBe(true);
    await same("reader", "export", { sql, path: `refused-${sql.length}.csv` });
  });

  it("while without masks most of these statements show them", () => {
    const [one = [], two = []] = sides.map(({ file }) => {
      const database = new Sqlite(file, { readonly: true });
      const answers = [...ANSWERED, ...REFUSED].map((sql) => {
        try {
          return JSON.stringify(database.prepare(sql).all());
        } catch {
          return "error";
        }
      });
      database.close();
      return answers;
    });
    expect(one.filter((answer, at) => answer !== two[at]).length).toBeGreaterThan(60);
  });

  const CLAUSES: readonly ((from: string, column: string) => string)[] = [
    (from, column) =>
      `SELECT ${column}, count(*) FROM ${from} GROUP BY ${column} ORDER BY ${column}`,
    (from, column) => `SELECT count(*) FROM ${from} WHERE ${column} < 'm'`,
    (from, column) => `SELECT rowid FROM (SELECT * FROM ${from}) ORDER BY ${column} DESC`,
    (from, column) =>
      `WITH c AS (SELECT ${column} AS v FROM ${from}) SELECT count(*) FROM c WHERE v BETWEEN 'a' AND 'm'`,
    (from, column) =>
      `SELECT count(*) FROM ${from} AS a JOIN ${from} AS b ON a.${column} < b.${column}`,
    (from, column) => `SELECT lead(${column}) OVER (ORDER BY ${column}) IS NOT NULL FROM ${from}`,
    (from, column) =>
      `SELECT (SELECT y FROM (SELECT ${column} AS y FROM ${from} ORDER BY 1 LIMIT 1))`,
    (from, column) => `SELECT 1 UNION SELECT length(${column}) FROM ${from}`,
    (from, column) =>
      `SELECT EXISTS (SELECT 1 FROM ${from} WHERE ${column} IN (SELECT email FROM guesses))`,
    (from) => `SELECT * FROM ${from} LIMIT 1`,
  ];
  it.each(
    someOf(4, [
      ["users", "email"],
      ["main.users", "email"],
      ["main.users", "kept"],
      ["contacts", "address"],
      ["main.contacts", "address"],
      ["outer_view", "a"],
      ["accounts", "password"],
      ["main.accounts", "password"],
      ["keyed", "password"],
      ["docs", "email"],
      ["own", "password"],
      ["(SELECT * FROM users WHERE age > 1)", "email"],
    ] as const),
  )("in every clause: %s", async (from, column) => {
    for (const clause of CLAUSES)
      await same("reader", "read_query", { query: clause(from, column) });
  });
});

describe("masks", () => {
  it("do not change what other columns and tables answer", async () => {
    for (const [query, rows] of [
      ["SELECT name FROM users WHERE id = 2", [["Mary"]]],
      ["SELECT one FROM ages WHERE two > 50", [[3]]],
      [
        "SELECT u.name, n.text FROM users u JOIN notes n ON n.user_id = u.id ORDER BY 1",
        [
          ["Ada", "first"],
          ["Charles", "second"],
        ],
      ],
      ["SELECT text FROM plain WHERE plain MATCH 'hello'", [["hello world"]]],
      ["SELECT value FROM json_each('[7]')", [[7]]],
      ["SELECT count(*) FROM main.notes", [[2]]],
      ["SELECT name FROM pragma_table_info('users') LIMIT 1", [["id"]]],
    ] as const)
      for (const { reader } of sides)
        expect(await reader.data("read_query", { query })).toMatchObject({ rows });
  });

  it("still use the other indexes", async () => {
    const [side] = sides;
    const { plan } =
      (await side?.reader.data("explain", { sql: "SELECT name FROM users WHERE age = 36" })) ?? {};
    expect(JSON.stringify(plan)).toMatch(/by_age/);
  });

  it("apply to samples, resources, exports and advice", async () => {
    for (const table_name of [
      "moods",
      "tags",
      "lockers",
      "logins",
      "users",
      "contacts",
      "accounts",
      "keyed",
      "few",
      "docs",
      "own",
    ])
      await same("reader", "describe_table", { table_name });
    await same("reader", "describe_tables", { detail: "full" });
    for (const uri of [
      "rows://main/users",
      "rows://main/contacts",
      "rows://main/own",
      "blob://main/users/email/1",
      "blob://main/users/name/1",
      "schema://main/users",
      "rows://main/few",
    ]) {
      const [one, two] = await Promise.all(
        sides.map(async ({ reader }) =>
          JSON.stringify(
            await reader.connected.client.readResource({ uri }).catch(({ message }) => message),
          ).replace(/elapsed_ms[\\": ]+[\d.]+/, ""),
        ),
      );
      expect(one).not.toMatch(/@/);
      expect(two).toBe(one);
    }
    for (const { reader, folder } of sides) {
      await reader.data("export", { sql: "SELECT * FROM users ORDER BY id", path: "users.csv" });
      const written = await readFile(join(folder, "users.csv"), "utf8");
      expect(written).toMatch(/Mary/);
      expect(written).not.toMatch(/@/);
    }
    for (const sql of [
      "SELECT * FROM users WHERE email = ?",
      "SELECT name FROM users WHERE age = ?",
      "SELECT * FROM contacts WHERE address = 'ada@aaaa'",
      "SELECT id AS word FROM moods WHERE n = ?",
      "SELECT id AS word FROM moods WHERE kind = ? ORDER BY n",
    ])
      await same("reader", "suggest_indexes", { queries: [sql] });
    // How many different values there are would show in the advice.
    const queries = ["SELECT id FROM many WHERE password = ?"];
    expect((await same("reader", "suggest_indexes", { queries })).text).toMatch(
      /masked columns of many/,
    );
  });

  it("follow a schema that changes, and cover new tables", async () => {
    for (const { file } of sides) {
      const database = new Sqlite(file);
      database.exec(
        "CREATE TABLE IF NOT EXISTS late (id INTEGER PRIMARY KEY, Password TEXT); INSERT INTO late VALUES (NULL, hex(randomblob(4)))",
      );
      database.close();
    }
    const { text } = await same("reader", "read_query", { query: "SELECT * FROM late" });
    expect(text).toMatch(/late\.Password/);
    expect((await same("reader", "read_query", { query: "SELECT * FROM main.late" })).isError).toBe(
      true,
    );
  });
});

describe("values in descriptions", () => {
  it("are those of other columns", async () => {
    for (const { file } of sides) {
      const [masked, plain] = [
        await talk(["--db-path", file, ...MASKS]),
        await talk(["--db-path", file]),
      ];
      const of = async (by: Talk) =>
        (await by.call("describe_table", { table_name: "moods" })).text;
      expect(await of(masked)).toMatch(/"seen":"'busy', 'calm'"/);
      expect(await of(masked)).not.toMatch(/@/);
      expect(await of(plain)).toMatch(/@/);
      await masked.close();
      await plain.close();
    }
  });
});

describe("advice", () => {
  it("does not depend on how many values masked columns have", async () => {
    const folder = await mkdtemp(join(tmpdir(), "refmcp-masks-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const answers = [2, 50].map(async (distinct) => {
      const file = join(folder, `${distinct}.db`);
      const database = new Sqlite(file);
      // Without ANALYZE, so that only the copy of the schema has statistics.
      database.exec(
        `CREATE TABLE moods (id INTEGER PRIMARY KEY, word TEXT, kind TEXT, n INT, more TEXT);
         CREATE INDEX by_word ON moods (word, kind);
         WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4000)
         INSERT INTO moods SELECT n, n % ${distinct}, n / 100, n, hex(zeroblob(200)) FROM r`,
      );
      database.close();
      const reader = await talk(["--db-path", file, ...MASKS]);
      const { text } = await reader.call("suggest_indexes", {
        queries: ["SELECT more FROM moods WHERE kind = ? AND n = ?"],
      });
      await reader.close();
      return text;
    });
    const [one, two] = await Promise.all(answers);
    expect(one).toMatch(/rows_read_before/);
    expect(two).toBe(one);
  });
});

describe("changes that are undone", () => {
  const commit = async (...statements: string[]) => {
    const changes = await Promise.all(
      sides.map(async (side) => {
        const { text } = await side.writer.call("execute", { statements });
        expect(text).toContain("change_id");
        return { text: stable(text, side), id: String(JSON.parse(text).change_id) };
      }),
    );
    expect(changes[1]?.text).toBe(changes[0]?.text);
    const { text } = await same("writer", "list_database_changes", {});
    expect(text).not.toMatch(/UPDATE|REPLACE|INSERT/);
    return changes;
  };
  const undo = async (ids: readonly { readonly id: string }[]) => {
    const answers = await Promise.all(
      sides.map(async (side, at) =>
        stable(
          (await side.writer.call("undo_database_change", { change_id: ids[at]?.id })).text,
          side,
        ),
      ),
    );
    expect(answers[1]).toBe(answers[0]);
    return answers[0];
  };
  const emails = () =>
    sides.map(({ file }) => {
      const database = new Sqlite(file, { readonly: true });
      const found = database
        .prepare("SELECT group_concat(email) FROM (SELECT email FROM users ORDER BY id)")
        .pluck()
        .get();
      database.close();
      return found;
    });

  it.each([
    ["UPDATE users SET email = 'ada@aaaa' WHERE id = 1"],
    ["REPLACE INTO users (id, name, email, age) VALUES (1, 'Ada', 'ada@aaaa', 36)"],
    [
      "UPDATE users SET email = NULL WHERE id = 1",
      "UPDATE users SET email = 'ada@aaaa' WHERE id = 1",
    ],
    [
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET email = 'ada@aaaa'",
    ],
  ])("do not show whether a value was guessed: %s", async (...statements) => {
    const before = emails();
    const changes = await commit(...statements);
    expect(changes[0]?.text).toMatch(/"updated":1/);
    expect(emails()).toEqual([before[0], before[1]?.toString().replace("zoe@zzzz", "ada@aaaa")]);
    expect(await undo(changes)).toMatch(/"updated":1/);
    expect(emails()).toEqual(before);
    await same("writer", "list_database_changes", {});
  });

  it("do not show masked keys of rows that were changed since", async () => {
    const changes = await commit("UPDATE logins SET kind = 'other'");
    for (const { file } of sides) {
      const database = new Sqlite(file);
      database.exec("UPDATE logins SET kind = 'again'");
      database.close();
    }
    const text = await undo(changes);
    expect(text).toMatch(/4 of its rows are not as it left them\./);
    expect(text).not.toMatch(/@/);
  });

  it("do not run a trigger that copies masked values, even if it is named like ours", async () => {
    for (const { file } of sides) {
      const database = new Sqlite(file);
      database.exec(
        "CREATE TRIGGER refmcp_0000000000000000_0_0 AFTER INSERT ON guesses BEGIN INSERT INTO notes (text) SELECT email FROM users; END",
      );
      database.close();
    }
    const { text, isError } = await write("INSERT INTO guesses VALUES ('x', 1)");
    expect(isError, text).toBe(true);
    expect(text).toMatch(/masked/);
    for (const { folder } of sides) await writeFile(join(folder, "guesses.csv"), "email,n\nx,1\n");
    const imported = await same("writer", "import_csv", {
      path: "guesses.csv",
      table_name: "guesses",
    });
    expect(imported.text).toMatch(/masked/);
  });
});

/** Runs changes and rolls them back. */
const write = (...statements: string[]) => same("writer", "execute", { statements, dry_run: true });

describe("changes", () => {
  it.each(
    someOf(8, [
      "UPDATE users SET name = email",
      "UPDATE users SET name = 'x' WHERE email LIKE 'a%'",
      "UPDATE users SET name = 'x', age = 2 WHERE id IN (1, email = 'x')",
      "UPDATE users SET name = low",
      "UPDATE users SET name = users.'email'",
      "UPDATE users SET name = 'x' RETURNING *",
      "UPDATE users SET name = 'x' RETURNING email",
      "UPDATE users SET name = 'x' RETURNING id, email = 'ada@aaaa'",
      "UPDATE users SET name = 'x' RETURNING (email)",
      "UPDATE users SET (name, age) = (email, 1)",
      "UPDATE notes SET text = (SELECT max(email) FROM users)",
      "UPDATE notes SET text = u.email FROM users u WHERE u.id = user_id",
      "UPDATE notes SET text = (SELECT address FROM contacts)",
      "UPDATE notes SET text = 'x' FROM users NATURAL JOIN guesses",
      "UPDATE guesses SET n = 2",
      "DELETE FROM users WHERE email < 'm'",
      "DELETE FROM users RETURNING *",
      "DELETE FROM users RETURNING [email]",
      "DELETE FROM notes WHERE user_id IN (SELECT id FROM users WHERE email < 'm')",
      "DELETE FROM notes WHERE user_id = (SELECT id FROM users ORDER BY email LIMIT 1)",
      "DELETE FROM keyed WHERE rowid > 100",
      "DELETE FROM keyed RETURNING rowid",
      "INSERT INTO notes (text) SELECT email FROM users",
      "INSERT INTO notes (user_id) SELECT id FROM users ORDER BY email",
      "INSERT INTO notes (text) SELECT password FROM own",
      "INSERT INTO mails (mail) VALUES ('ada@aaaa')",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = email",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y' WHERE email < 'm'",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y' RETURNING email",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y' RETURNING *",
      "REPLACE INTO users SELECT id, name, email, age FROM users",
      "CREATE TABLE copied AS SELECT * FROM users",
      "CREATE TABLE copied AS SELECT id FROM contacts WHERE address < 'm'",
      "CREATE TABLE referring (e TEXT REFERENCES users (email))",
      "CREATE INDEX i ON users (abs(length(email)))",
      "CREATE UNIQUE INDEX i ON users (substr(email, 1, 1))",
      "CREATE TRIGGER t AFTER UPDATE ON guesses BEGIN INSERT INTO notes (text) SELECT address FROM made_later; END",
      "CREATE TRIGGER t AFTER UPDATE ON users BEGIN INSERT INTO notes (text) VALUES (OLD.email); END",
      "CREATE VIRTUAL TABLE f USING fts5(email, content='users')",
      "ALTER TABLE users RENAME COLUMN email TO visible",
      "ALTER TABLE users RENAME TO visible",
      "ALTER TABLE 'users' ADD COLUMN more TEXT AS (email)",
      "ALTER TABLE docs RENAME TO visible",
    ]),
  )("that could read masked values are refused: %s", async (sql) => {
    const { text, isError } = await write(sql);
    expect(isError, text).toBe(true);
    expect(text).toMatch(/masked/i);
  });

  it.each(
    someOf(8, [
      "UPDATE users SET email = 'new@new' WHERE id = 2 RETURNING id, name",
      "UPDATE users SET name = name || '!', email = NULL WHERE age > 1",
      "UPDATE users SET age = age + 1",
      "INSERT INTO users (id, name, email, age) VALUES (9, 'Grace', 'new@new', 85) RETURNING id",
      "INSERT INTO main.users AS u (name, email) VALUES ('Grace', 'new@new')",
      "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = 'new@new'",
      "INSERT INTO accounts (name, password) VALUES ('new', 'x')",
      "UPDATE accounts SET city = 'Rome'",
      "DELETE FROM notes",
      "DELETE FROM notes WHERE user_id IN (SELECT id FROM users WHERE age > 50)",
      "INSERT INTO notes (text) SELECT name FROM users WHERE age > 1",
      "CREATE TABLE copied AS SELECT id, name FROM users WHERE age > 1",
      "CREATE VIEW way AS SELECT email FROM users",
      "REPLACE INTO users (id, name, age) VALUES (1, 'Ada', 36)",
      "UPDATE OR REPLACE users SET age = 1, email = 'new@new' WHERE id = 2",
      "DELETE FROM users WHERE age = 40",
      "UPDATE keyed SET name = 'x'",
      "UPDATE logins SET kind = 'x' WHERE kind = 'calm'",
      "ANALYZE",
      "DROP TABLE notes",
    ]),
  )("that don't read them run: %s", async (sql) => {
    const { text, isError } = await write(sql);
    expect(isError, text).toBe(false);
  });
});
