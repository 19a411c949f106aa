import type { Era } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { ask, change, labs } from "./asking.ts";
import type { Lab } from "./lab.ts";
import { talk } from "./session.ts";

const enter = labs();
const SCHEMA = `
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2500) INSERT INTO people SELECT n, 'p' || n FROM t;
CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES people ON DELETE CASCADE);
INSERT INTO pets SELECT id, id FROM people WHERE id <= 20;
CREATE VIEW names AS SELECT name FROM people;
CREATE TABLE settings (name TEXT PRIMARY KEY ON CONFLICT REPLACE, value) WITHOUT ROWID;
INSERT INTO settings VALUES ('a', 1), ('b', 2);
CREATE TABLE log (x);
CREATE TRIGGER purge AFTER INSERT ON log WHEN new.x = 'purge' BEGIN DELETE FROM people WHERE id > 100; END;
CREATE TRIGGER again AFTER INSERT ON log WHEN new.x = 'again' BEGIN REPLACE INTO settings SELECT name, 0 FROM settings; END;
CREATE TABLE "odd ""table""" (x); INSERT INTO "odd ""table""" SELECT id FROM people LIMIT 30;
CREATE TABLE words (word); INSERT INTO words VALUES ('a'), ('b'), ('c');
CREATE VIEW words_view AS SELECT rowid AS id, word FROM words;
CREATE TRIGGER through INSTEAD OF UPDATE ON words_view BEGIN UPDATE words SET word = new.word WHERE rowid = old.id; END;
CREATE VIRTUAL TABLE notes USING fts5(note); INSERT INTO notes VALUES ('one'), ('two'), ('three');
CREATE TABLE audit (what); INSERT INTO audit SELECT id FROM people;
CREATE TRIGGER audited AFTER UPDATE ON words BEGIN INSERT INTO audit VALUES (new.word); END;`;

/** Statements that lose data, and what the user is shown. */
const LOSSES: readonly (readonly [sql: string | readonly string[], loss: RegExp])[] = [
  ["DELETE FROM pets", /DELETE of every row of pets \(20 rows\)/],
  ["DELETE FROM pets WHERE true", /DELETE of every row of pets \(20 rows\)/],
  ["DELETE FROM pets WHERE id = id", /DELETE of every row of pets \(20 rows\)/],
  ["WITH x AS (SELECT 1) DELETE FROM main.pets WHERE id IN (SELECT id FROM pets)", /every row of main\.pets/],
  [["DELETE FROM pets WHERE id < 20", "DELETE FROM pets WHERE id = 20"], /every row of pets/],
  ["UPDATE people SET name = id", /UPDATE of every row of people \(2,500 rows\)/],
  ["UPDATE pets SET owner = 1 WHERE id > 0", /UPDATE of every row of pets \(20 rows\)/],
  ["DELETE FROM people WHERE id > 1000", /DELETE of 1,500 of the 2,500 rows of people/],
  [
    "/* INSERT */ UPDATE people SET name = -id WHERE id > 1000",
    /UPDATE of 1,500 of the 2,500 rows of people/,
  ],
  [
    "DELETE FROM people WHERE id = id RETURNING id",
    /every row of people \(2,500 rows\).*every row of pets \(20 rows\)/,
  ],
  ["DROP TABLE people", /DROP TABLE people \(2,500 rows; 20 rows by cascades and triggers\)/],
  ['DROP TABLE main."pets"', /DROP TABLE main\."pets" \(20 rows\)/],
  ["ALTER TABLE pets DROP COLUMN owner", /DROP COLUMN owner of pets with its contents \(20 rows\)/],
  ["INSERT OR REPLACE INTO pets SELECT id, NULL FROM pets", /replacement of every row of pets \(20 rows\)/],
  ["REPLACE INTO pets SELECT id, NULL FROM pets", /replacement of every row of pets \(20 rows\)/],
  [
    "INSERT INTO pets SELECT id, 1 FROM pets WHERE true ON CONFLICT DO UPDATE SET owner = 1",
    /replacement of every row of pets \(20 rows\)/,
  ],
  ["INSERT INTO settings SELECT name, 0 FROM settings", /replacement of every row of settings \(2 rows\)/],
  ["INSERT INTO log VALUES ('purge')", /DELETE of 2,400 of the 2,500 rows of people/],
  [
    ["DELETE FROM people WHERE id BETWEEN 1 AND 900", "DELETE FROM people WHERE id BETWEEN 901 AND 1800"],
    /DELETE of 1,800 of the 2,500 rows of people.*every row of pets/,
  ],
  [
    [
      "UPDATE people SET name = 'x' || id WHERE id <= 1250",
      "UPDATE people SET name = 'y' || id WHERE id > 1250",
    ],
    /UPDATE of every row of people \(2,500 rows\)/,
  ],
  ["DELETE FROM people WHERE id BETWEEN 11 AND 900", /DELETE of 10 of the 20 rows of pets/],
  ["UPDATE OR REPLACE people SET name = 'p' || (id - 1) WHERE id % 2 = 0", /of people/],
  // Deleted and written again by a trigger: nothing is left of the rows, though there are as many.
  ["INSERT INTO log VALUES ('again')", /every row of settings \(2 rows\)/],
  // Through a trigger that the same transaction creates, on a table whose name has to be quoted.
  [
    [
      `CREATE TRIGGER "now" AFTER INSERT ON log BEGIN DELETE FROM "odd ""table"""; END`,
      "INSERT INTO log VALUES (1)",
    ],
    /DELETE of every row of "odd ""table""" \(30 rows\)/,
  ],
  ["UPDATE words_view SET word = 'x'", /UPDATE of every row of words \(3 rows\)/],
];

const HARMLESS: readonly (string | readonly string[])[] = [
  "INSERT INTO people (name) VALUES ('new')",
  "DELETE FROM pets WHERE id = 1",
  "DELETE FROM pets WHERE id > 1000",
  "DELETE FROM log",
  "/* x */ INSERT INTO log SELECT id FROM people",
  "UPDATE people SET name = 'x' WHERE id = 7",
  "INSERT OR REPLACE INTO settings VALUES ('a', 3)",
  "DROP TABLE IF EXISTS missing",
  "DROP VIEW IF EXISTS missing",
  "CREATE TABLE more (x)",
  "INSERT INTO notes VALUES ('four')",
  "DELETE FROM notes WHERE note = 'one'",
  "UPDATE words SET word = 'd' WHERE word = 'a'",
  ["CREATE TABLE draft (x)", "INSERT INTO draft VALUES (1), (2)", "DELETE FROM draft", "DROP TABLE draft"],
  "ALTER TABLE pets ADD COLUMN age",
];

describe("what a change loses", () => {
  it("is shown with its row count for confirmation; nothing is changed before the user confirms", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA });
    const rows = () =>
      ask(
        here,
        "SELECT (SELECT sum(id) FROM people), (SELECT sum(id + owner) FROM pets), sum(value) FROM settings",
      );
    const before = (await rows()).rows;
    for (const [sql, loss] of LOSSES) {
      const asked: string[] = [];
      const refusing = async (message: string) => {
        asked.push(message);
        throw new Error("no");
      };
      await expect(change(here, sql, { confirm: refusing }), String(sql)).rejects.toThrow("no");
      expect(asked, String(sql)).toEqual([expect.stringMatching(loss)]);
      expect(asked[0]).toMatch(/^This cannot be undone: /);
      expect((await rows()).rows, String(sql)).toEqual(before);
    }
  });

  it("needs no confirmation if nothing is lost, or in a dry run, which reports it", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA });
    const confirm = async (loss: string) => {
      throw new Error(`asked: ${loss}`);
    };
    for (const [sql, loss] of LOSSES) {
      const told = await change(here, sql, { confirm, dryRun: true });
      expect(told).toMatchObject({ committed: false, loss: expect.stringMatching(loss) });
    }
    for (const sql of HARMLESS)
      expect(await change(here, sql, { confirm }), String(sql)).toMatchObject({ committed: true });
  });

  it("does not include views and indexes, whose definitions are returned instead", async () => {
    const here = await enter({ allowDdl: true, sql: `${SCHEMA} CREATE INDEX "pets owner" ON pets (owner);` });
    const confirm = async (loss: string) => {
      throw new Error(`asked: ${loss}`);
    };
    const schema = async () => (await ask(here, "SELECT sql FROM sqlite_schema ORDER BY name")).rows;
    const before = await schema();
    const { undo } = await change(
      here,
      ["DROP VIEW main.names", 'DROP INDEX IF EXISTS "pets owner"', "DROP TRIGGER purge"],
      {
        confirm,
      },
    );
    expect(undo).toHaveLength(3);
    await change(here, undo ?? []);
    expect(await schema()).toEqual(before);
  });

  it("is a conflict if it changed while the user was asked", async () => {
    const here = await enter({ allowDdl: true });
    const confirm = async () => void (await change(here, "INSERT INTO orders VALUES (9, 1, 1)"));
    await expect(change(here, "DROP TABLE orders", { confirm })).rejects.toMatchObject({ kind: "conflict" });
    expect((await ask(here, "SELECT count(*) FROM orders")).rows).toEqual([[4]]);
  });
});

describe("many small losses", () => {
  const MANY = `CREATE TABLE t (id INTEGER PRIMARY KEY, x);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, i FROM n;
    CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p SELECT id FROM t WHERE id <= 100;
    CREATE TABLE mk (x); CREATE TRIGGER emptying AFTER INSERT ON mk BEGIN DELETE FROM p; END;
    CREATE TABLE u (id INTEGER PRIMARY KEY); INSERT INTO u SELECT id FROM t WHERE id <= 900`;
  const left = async (here: Lab, table = "t") => (await ask(here, `SELECT count(*) FROM ${table}`)).rows;

  it.each<Era>(["legacy", "modern"])("are refused in a session that can't ask, %s era", async (era) => {
    const here = await enter({ sql: MANY });
    const server = await talk(["--db-path", here.file, "--allow-write"], { era });
    const write = (query: string) => server.call("write_query", { query });
    expect((await write("DELETE FROM t WHERE id <= 999")).isError).toBe(false);
    for (const query of ["DELETE FROM t WHERE id <= 1998", "DELETE FROM main.T WHERE id IN (1000, 1001)"])
      expect((await write(query)).text).toMatch(
        /of (main\.T|t), which makes 1,\d{3} in this session.*--confirm never/s,
      );
    expect((await write("DELETE FROM u WHERE id < 900")).text).toContain(
      "DELETE of 899 of the 900 rows of u",
    );
    expect((await write("INSERT INTO mk VALUES (1)")).text).toContain("DELETE of every row of p (100 rows)");
    const halves = ["UPDATE u SET id = -id WHERE id <= 450", "UPDATE u SET id = -id WHERE id > 450"];
    const both = await server.call("run_transaction", { statements: halves });
    expect(both.text).toContain("UPDATE of every row of u (900 rows)");
    expect((await write("UPDATE t SET x = 0 WHERE id = 4000")).isError).toBe(false);
    expect(await left(here)).toEqual([[4001]]);
    expect([await left(here, "u"), await left(here, "p")]).toEqual([[[900]], [[100]]]);
    // Another session counts for itself.
    const other = await talk(["--db-path", here.file, "--allow-write"], { era });
    expect((await other.call("write_query", { query: "DELETE FROM t WHERE id <= 1500" })).isError).toBe(
      false,
    );
    await other.close();
    await server.close();
  });

  it("ask once, and then count from the start", async () => {
    const here = await enter({ sql: MANY });
    const asked: string[] = [];
    const confirm = async (loss: string) => void asked.push(loss);
    for (let last = 1_000; last <= 4_000; last += 1_000)
      await change(here, `DELETE FROM t WHERE id <= ${last}`, { confirm });
    await change(here, "DELETE FROM t WHERE id < 5000", { confirm });
    await change(here, "DELETE FROM t", { confirm });
    expect(asked).toEqual(
      [
        "DELETE of 1,000 rows of t, which makes 2,000 in this session.",
        "DELETE of 1,000 rows of t, which makes 2,000 of its 3,000 rows in this session.",
        "DELETE of 999 of the 1,000 rows of t.",
        "DELETE of every row of t (1 row).",
      ].map((loss) => `This cannot be undone: ${loss}`),
    );
  });

  it("count together if they happen at the same time", async () => {
    const here = await enter({ sql: MANY });
    const server = await talk(["--db-path", here.file, "--allow-write"]);
    const deletes = Array.from({ length: 10 }, (_, at) =>
      server.call("write_query", { query: `DELETE FROM u WHERE id % 10 = ${at}` }),
    );
    const refused = (await Promise.all(deletes)).filter(({ isError }) => isError);
    expect(refused.length).toBe(6);
    expect(await left(here, "u")).toEqual([[540]]);
    await server.close();
  });
});

describe("a transaction", () => {
  it("is all or nothing, however it ends", async () => {
    const here = await enter({
      allowDdl: true,
      sql: `CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1);
        CREATE TABLE bad (x); CREATE TRIGGER stop BEFORE INSERT ON bad BEGIN SELECT RAISE(ROLLBACK, 'stopped'); END;`,
    });
    for (const [sql, why] of [
      ["INSERT INTO t VALUES (1)", /UNIQUE/],
      ["INSERT OR ROLLBACK INTO t VALUES (1)", /UNIQUE/],
      ["INSERT OR FAIL INTO t VALUES (3), (1)", /UNIQUE/],
      ["INSERT INTO bad VALUES (1)", /stopped/],
      ["INSERT INTO missing VALUES (1)", /no such table/],
      ["INSERT INTO orders VALUES (10, 99, 1)", /FOREIGN KEY/],
      ["ALTER TABLE t ADD COLUMN x", /duplicate column/],
    ] as const) {
      await expect(
        change(here, ["INSERT INTO t VALUES (2)", "CREATE TABLE made (x)", sql]),
        sql,
      ).rejects.toThrow(why);
      expect((await ask(here, "SELECT group_concat(x) FROM t")).rows, sql).toEqual([["1"]]);
      expect((await ask(here, "SELECT name FROM sqlite_schema WHERE name = 'made'")).rows).toEqual([]);
    }
    // A deferred foreign key is checked at commit.
    await change(here, "CREATE TABLE child (p REFERENCES t (x) DEFERRABLE INITIALLY DEFERRED)");
    await change(here, ["INSERT INTO child VALUES (5)", "INSERT INTO t VALUES (5)"]);
    await expect(change(here, ["INSERT INTO child VALUES (6)"])).rejects.toThrow(/FOREIGN KEY/);
  });

  it("returns the rows of RETURNING, bounded, and the counts of each statement", async () => {
    const here = await enter({ sql: "CREATE TABLE t (x INTEGER PRIMARY KEY, y);" });
    const many =
      "INSERT INTO t (y) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i FROM n RETURNING x, y";
    expect(
      await change(here, [
        "INSERT INTO t (y) VALUES ('a'), ('b') RETURNING x AS id",
        "UPDATE t SET y = 'c' WHERE x = 2",
      ]),
    ).toMatchObject({
      committed: true,
      results: [
        { command: "INSERT", row_count: 2, columns: [{ name: "id", type: "INTEGER" }], rows: [[1], [2]] },
        { row_count: 1 },
      ],
      last_insert_rowid: "2",
      truncated: false,
    });
    const { results, truncated } = await change(here, many);
    const [{ row_count, rows = [] } = { row_count: 0 }] = results;
    expect({ row_count, truncated }).toEqual({ row_count: 50_000, truncated: true });
    expect(rows.length).toBeGreaterThan(100);
    expect(JSON.stringify(rows).length).toBeLessThan(20_000);
  });
});
