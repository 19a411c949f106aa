import { describe, expect, it } from "vitest";
import { ask, asked, change, rowsOf } from "./asking.ts";
import { enter } from "./lab.ts";

const SCHEMA = `
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2500) INSERT INTO people SELECT n, 'p' || n FROM t;
CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES people ON DELETE CASCADE);
INSERT INTO pets SELECT id, id FROM people WHERE id <= 20;
CREATE VIEW names AS SELECT name FROM people;
CREATE TABLE settings (name TEXT PRIMARY KEY ON CONFLICT REPLACE, value) WITHOUT ROWID;
INSERT INTO settings VALUES ('a', 1), ('b', 2);
CREATE TABLE log (x);
CREATE VIRTUAL TABLE notes USING fts5(note); INSERT INTO notes VALUES ('one'), ('two'), ('three');
CREATE TRIGGER purge AFTER INSERT ON log WHEN new.x = 'purge' BEGIN DELETE FROM people WHERE id > 100; END;
CREATE TRIGGER again AFTER INSERT ON log WHEN new.x = 'again' BEGIN REPLACE INTO settings SELECT name, 0 FROM settings; END;
CREATE TRIGGER noting AFTER INSERT ON log WHEN new.x = 'notes' BEGIN DELETE FROM notes; END;
CREATE TABLE "odd ""table""" (x); INSERT INTO "odd ""table""" SELECT id FROM people LIMIT 30;
CREATE TABLE words (word); INSERT INTO words VALUES ('a'), ('b'), ('c');
CREATE VIEW words_view AS SELECT rowid AS id, word FROM words;
CREATE TRIGGER through INSTEAD OF UPDATE ON words_view BEGIN UPDATE words SET word = new.word WHERE rowid = old.id; END;
CREATE TABLE audit (what); INSERT INTO audit SELECT id FROM people;
CREATE TRIGGER audited AFTER UPDATE ON words BEGIN INSERT INTO audit VALUES (new.word); END;`;

type Loss = readonly [sql: string | readonly string[], loss: RegExp];

/** What the record does not cover, and what the user is shown. */
const UNCOVERED: readonly Loss[] = [
  [
    "DROP TABLE people",
    /DROP TABLE people \(2,500 rows\); DELETE of 20 rows of pets \(the same transaction/,
  ],
  ['DROP TABLE main."pets"', /DROP TABLE main\."pets" \(20 rows\)/],
  ["ALTER TABLE pets DROP COLUMN owner", /ALTER TABLE pets DROP COLUMN owner \(20 rows\)/],
  [
    ["DELETE FROM pets WHERE id < 5", "DROP TABLE audit"],
    /DROP TABLE audit \(2,500 rows\); DELETE of 4 rows of pets/,
  ],
  [["DELETE FROM pets", "DROP TABLE pets"], /DELETE of 20 rows of pets \(the same transaction/],
  [
    ["UPDATE pets SET owner = 1 WHERE id < 5", "DROP TABLE audit"],
    /DROP TABLE audit \(2,500 rows\); UPDATE of 4 rows of pets/,
  ],
  [
    ["UPDATE pets SET owner = 1", "ALTER TABLE pets ADD COLUMN age"],
    /UPDATE of 20 rows of pets \(the same transaction changed the definition of pets\)/,
  ],
  [
    "DELETE FROM notes",
    /DELETE of 3 rows of notes \(changes of the virtual table notes are not recorded\)/,
  ],
  ["UPDATE main.[notes] SET note = 'x' WHERE note = 'one'", /UPDATE of 1 row of notes/],
  ["INSERT INTO log VALUES ('notes')", /possible changes of rows of notes by triggers/],
];

/** What is lost without a record. */
const LOSSES: readonly Loss[] = [
  ["DELETE FROM pets", /DELETE of 20 rows of pets \(the record of changes is off \(--no-undo\)\)/],
  ["DELETE FROM pets WHERE id = 1", /DELETE of 1 row of pets/],
  [
    "WITH x AS (SELECT 1) DELETE FROM main.pets WHERE id IN (SELECT id FROM pets)",
    /DELETE of 20 rows of pets/,
  ],
  [
    ["DELETE FROM pets WHERE id < 20", "DELETE FROM pets WHERE id = 20"],
    /DELETE of 20 rows of pets/,
  ],
  ["UPDATE people SET name = id", /UPDATE of 2,500 rows of people/],
  ["/* INSERT */ UPDATE people SET name = -id WHERE id > 1000", /UPDATE of 1,500 rows of people/],
  [
    "DELETE FROM people WHERE id = id RETURNING id",
    /DELETE of 2,500 rows of people; DELETE of 20 rows of pets/,
  ],
  ["INSERT OR REPLACE INTO pets SELECT id, NULL FROM pets", /UPDATE of 20 rows of pets/],
  ["REPLACE INTO pets SELECT id, NULL FROM pets", /UPDATE of 20 rows of pets/],
  [
    "INSERT INTO pets SELECT id, 1 FROM pets WHERE true ON CONFLICT DO UPDATE SET owner = 1",
    /UPDATE of 20 rows of pets/,
  ],
  ["INSERT INTO settings SELECT name, 0 FROM settings", /UPDATE of 2 rows of settings/],
  ["INSERT INTO log VALUES ('purge')", /DELETE of 2,400 rows of people/],
  [
    "UPDATE OR REPLACE people SET name = 'p' || (id - 1) WHERE id % 2 = 0",
    /DELETE of 1,250 rows of people; UPDATE of 1,250 rows/,
  ],
  // Deleted and written again by a trigger: nothing is left of the rows, though there are as many.
  ["INSERT INTO log VALUES ('again')", /UPDATE of 2 rows of settings/],
  // Through a trigger that the same transaction creates, on a table whose name has to be quoted.
  [
    [
      `CREATE TRIGGER "now" AFTER INSERT ON log BEGIN DELETE FROM "odd ""table"""; END`,
      "INSERT INTO log VALUES (1)",
    ],
    /DELETE of 30 rows of odd "table"/,
  ],
  ["UPDATE words_view SET word = 'x'", /UPDATE of 3 rows of words/],
  ["DROP TABLE people", /DROP TABLE people \(2,500 rows\)/],
];

const HARMLESS: readonly (string | readonly string[])[] = [
  "INSERT INTO people (name) VALUES ('new')",
  "DELETE FROM pets WHERE id > 1000",
  "DELETE FROM log",
  "/* x */ INSERT INTO audit SELECT id FROM people",
  "DROP TABLE IF EXISTS missing",
  "DROP VIEW IF EXISTS missing",
  "CREATE TABLE more (x)",
  "INSERT INTO notes VALUES ('four')",
  ["CREATE TABLE draft (x)", "INSERT INTO draft VALUES (1), (2)", "DROP TABLE draft"],
  "ALTER TABLE pets ADD COLUMN age",
  "ANALYZE",
  "REINDEX",
];

describe.each([
  { undo: true, losses: UNCOVERED },
  { undo: false, losses: LOSSES },
])("what a change loses, with --undo $undo", ({ undo, losses }) => {
  const confirm = async (loss: string) => {
    throw new Error(`asked: ${loss}`);
  };

  it("is shown with its row count for confirmation; nothing is changed before the user confirms", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA, undo });
    const rows = () =>
      ask(
        here,
        "SELECT (SELECT sum(id) FROM people), (SELECT sum(id + owner) FROM pets), (SELECT count(*) FROM notes), sum(value) FROM settings",
      );
    const before = (await rows()).rows;
    for (const [sql, loss] of losses) {
      expect(await asked(here, sql), String(sql)).toEqual([
        expect.stringMatching(new RegExp(`^This cannot be undone: .*${loss.source}`)),
      ]);
      expect((await rows()).rows, String(sql)).toEqual(before);
      expect(await change(here, sql, { confirm, dryRun: true })).toMatchObject({
        committed: false,
        loss: expect.stringMatching(loss),
      });
    }
  });

  it("needs no confirmation if nothing is lost", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA, undo });
    for (const sql of HARMLESS)
      expect(await change(here, sql, { confirm }), String(sql)).toMatchObject({ committed: true });
  });

  it("is a conflict if it changed while the user was asked", async () => {
    const here = await enter({ allowDdl: true, undo });
    const inserting = async () => void (await change(here, "INSERT INTO orders VALUES (9, 1, 1)"));
    const changed = change(here, "DROP TABLE orders", { confirm: inserting });
    await expect(changed).rejects.toMatchObject({ kind: "conflict" });
    expect(await rowsOf(here, "SELECT count(*) FROM orders")).toEqual([[4]]);
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
      const failing = change(here, ["INSERT INTO t VALUES (2)", "CREATE TABLE made (x)", sql]);
      await expect(failing, sql).rejects.toThrow(why);
      expect(await rowsOf(here, "SELECT group_concat(x) FROM t"), sql).toEqual([["1"]]);
      expect(await rowsOf(here, "SELECT name FROM sqlite_schema WHERE name = 'made'")).toEqual([]);
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
    const two = "INSERT INTO t (y) VALUES ('a'), ('b') RETURNING x AS id";
    expect(await change(here, [two, "UPDATE t SET y = 'c' WHERE x = 2"])).toMatchObject({
      results: [{ command: "INSERT", row_count: 2, rows: [[1], [2]] }, { row_count: 1 }],
      last_insert_rowid: "2",
      truncated: false,
    });
    const long =
      "INSERT INTO t VALUES (1, 1) ON CONFLICT DO UPDATE SET y = hex(zeroblob(999)) RETURNING y";
    const cut = await change(here, long);
    expect(cut).toMatchObject({ truncated: true, truncated_by: "cell" });
    expect(cut).not.toHaveProperty("last_insert_rowid");
    const { results, truncated } = await change(here, many);
    const [{ row_count, rows = [] } = { row_count: 0 }] = results;
    expect({ row_count, truncated }).toEqual({ row_count: 50_000, truncated: true });
    expect(rows.length).toBeGreaterThan(100);
    expect(JSON.stringify(rows).length).toBeLessThan(20_000);
  });
});
