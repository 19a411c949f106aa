import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { smallDisk } from "@refmcp/sql/testing";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { reachOf } from "../src/database/change/reach.ts";
import { asked, change, rowsIn, rowsOf, undo } from "./asking.ts";
import { enter, type Lab } from "./lab.ts";

/** Everything in a database: definitions, and the rows of each table with their exact bytes. */
function contents(here: Lab): unknown {
  const database = new Sqlite(here.file, { readonly: true });
  const definitions = database
    .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    .raw()
    .all();
  database.close();
  // SQLite quotes a name when it renames something.
  return [rowsIn(here), definitions.map((row) => JSON.stringify(row).replaceAll('\\"', ""))];
}

const never = async (loss: string) => {
  throw new Error(`asked: ${loss}`);
};

const SCHEMA = `
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, born, up GENERATED ALWAYS AS (upper(name)) VIRTUAL);
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 300) INSERT INTO people (id, name, born) SELECT n, 'p' || n, n FROM t;
CREATE TABLE pets (id INTEGER PRIMARY KEY AUTOINCREMENT, owner REFERENCES people ON DELETE CASCADE ON UPDATE SET NULL);
INSERT INTO pets SELECT id, id FROM people WHERE id <= 20;
CREATE TABLE settings (name TEXT COLLATE NOCASE, part, value, PRIMARY KEY (name, part) ON CONFLICT REPLACE) WITHOUT ROWID;
INSERT INTO settings VALUES ('a', 1, 1), ('a', x'01', 2), ('B', 1, 3);
CREATE TABLE plain (x, y); INSERT INTO plain VALUES (1, 'a'), (1, 'a'), (NULL, NULL);
CREATE TABLE folder (rowid TEXT, x); INSERT INTO folder VALUES ('own', 1);
CREATE TABLE odd (id INTEGER PRIMARY KEY, v);
INSERT INTO odd VALUES (1, x'00ff'), (2, 9e999), (3, -9e999), (4, 9223372036854775807), (5, -9223372036854775808),
  (6, CAST(x'66ff6f' AS TEXT)), (7, 'nul' || char(0) || 'end'), (8, 0.1), (9, 1e300), (10, -0.0), (11, 'é\ufffd'), (12, 2.0), (13, ''),
  (9223372036854775807, 'last');
CREATE TABLE badkey (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO badkey VALUES (CAST(x'ff01' AS TEXT), 1), ('ok', 2);
CREATE TABLE parts (a, b, c); CREATE UNIQUE INDEX parts_ab ON parts (a, b) WHERE c > 0; CREATE UNIQUE INDEX parts_low ON parts (lower(c));
INSERT INTO parts VALUES (1, 1, 1), (1, 2, 2), (2, 1, 3);
CREATE TABLE Übung (id INTEGER PRIMARY KEY, x); INSERT INTO Übung VALUES (1, 'a'), (2, 'b');
CREATE TABLE tags (id INTEGER PRIMARY KEY, tag UNIQUE ON CONFLICT REPLACE); INSERT INTO tags VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE tagged (tag REFERENCES tags ON DELETE CASCADE); INSERT INTO tagged VALUES (1), (1), (2), (3);
CREATE TRIGGER untagged AFTER DELETE ON tagged WHEN replace(old.tag, ' ', '') = '2' BEGIN DELETE FROM Übung; END;
CREATE TABLE log (x);
CREATE TRIGGER policy AFTER INSERT ON log WHEN new.x = 'policy' BEGIN INSERT INTO people (id, name) VALUES (9, 'nine'); END;
CREATE TABLE emptied (id INTEGER PRIMARY KEY, x); INSERT INTO emptied SELECT id, 'x' || id FROM people WHERE id <= 50;
CREATE TRIGGER emptying AFTER INSERT ON log WHEN new.x = 'empty' BEGIN DELETE FROM emptied; END;
CREATE TRIGGER itself AFTER INSERT ON log WHEN new.x = 'itself' BEGIN INSERT INTO log VALUES ('more'); DELETE FROM log WHERE x = 'itself'; END;
CREATE TRIGGER replacing BEFORE INSERT ON log WHEN new.x = 'replace' BEGIN REPLACE INTO people (id, name) VALUES (900, 'P7'), (8, 'eight'); END;
CREATE TRIGGER before_own BEFORE UPDATE ON emptied WHEN new.x = 'twice' BEGIN UPDATE emptied SET x = 'once' WHERE id = old.id; END;
CREATE TRIGGER raising BEFORE DELETE ON emptied WHEN old.id = 50 BEGIN SELECT RAISE(IGNORE); END;
CREATE TABLE audit (what); CREATE TRIGGER audited AFTER UPDATE ON people BEGIN INSERT INTO audit VALUES (old.name || new.name); END;
CREATE VIEW shown AS SELECT id, name FROM people; CREATE TRIGGER through INSTEAD OF UPDATE ON shown BEGIN UPDATE people SET name = new.name WHERE id = old.id; END;
CREATE TABLE docs (id INTEGER PRIMARY KEY, body); CREATE VIRTUAL TABLE docs_index USING fts5(body, content = 'docs', content_rowid = 'id');
CREATE TRIGGER docs_a AFTER INSERT ON docs BEGIN INSERT INTO docs_index (rowid, body) VALUES (new.id, new.body); END;
CREATE TRIGGER docs_d AFTER DELETE ON docs BEGIN INSERT INTO docs_index (docs_index, rowid, body) VALUES ('delete', old.id, old.body); END;
CREATE TRIGGER docs_u AFTER UPDATE ON docs BEGIN INSERT INTO docs_index (docs_index, rowid, body) VALUES ('delete', old.id, old.body); INSERT INTO docs_index (rowid, body) VALUES (new.id, new.body); END;
INSERT INTO docs VALUES (1, 'one apple'), (2, 'two pears');`;

const CHANGES: readonly (string | readonly string[])[] = [
  "UPDATE übung SET x = 1",
  "UPDATE Übung SET x = 1 WHERE id = 1",
  "UPDATE \ufeffplain SET x = 5",
  "DELETE FROM tagged WHERE tag = 2",
  "INSERT INTO tags (tag) VALUES ('a')",
  "INSERT OR REPLACE INTO log VALUES ('policy')",
  "UPDATE people SET born = id + 1",
  "DELETE FROM people",
  "UPDATE people SET id = id + 1000",
  [
    "UPDATE people SET name = 't' WHERE id = 1",
    "UPDATE people SET name = 'p1' WHERE id = 2",
    "UPDATE people SET name = 'p2' WHERE id = 1",
  ],
  "REPLACE INTO people (id, name) VALUES (1, 'P2')",
  "INSERT OR REPLACE INTO people (id, name) SELECT id + 1, name FROM people",
  "UPDATE OR REPLACE people SET name = 'p' || (id - 1) WHERE id % 2 = 0",
  "UPDATE OR REPLACE people SET id = 1 WHERE id = 2",
  "INSERT INTO people (id, name) VALUES (1, 'upsert') ON CONFLICT DO UPDATE SET name = excluded.name, id = 5000",
  "INSERT OR IGNORE INTO people (id, name) VALUES (1, 'ignored'), (4000, 'p1'), (4001, 'added')",
  "INSERT INTO settings VALUES ('A', 1, 9), ('c', 1, 1)",
  "UPDATE settings SET name = 'a', part = 1 WHERE name = 'b'",
  "DELETE FROM plain WHERE rowid = 1",
  "UPDATE plain SET rowid = rowid + 10, x = y",
  "UPDATE folder SET rowid = 'other'",
  "DELETE FROM odd",
  "UPDATE odd SET id = id - 100 WHERE id > 5",
  "DELETE FROM badkey",
  "UPDATE badkey SET k = k || 'x'",
  "INSERT OR REPLACE INTO parts VALUES (1, 1, 9), (5, 5, 3)",
  "UPDATE OR REPLACE parts SET c = 1",
  "INSERT INTO log VALUES ('empty')",
  "INSERT INTO log VALUES ('itself')",
  "INSERT INTO log VALUES ('replace')",
  [
    "UPDATE emptied SET x = 'twice' WHERE id = 3",
    "INSERT INTO log VALUES ('empty'), ('itself'), ('replace')",
  ],
  "UPDATE shown SET name = 'v' || id WHERE id < 5",
  "UPDATE docs SET body = 'three plums' WHERE id = 1",
  "DELETE FROM docs",
  ["DELETE FROM plain", "INSERT INTO plain VALUES (1, 'a'), (1, 'a'), (2, 'b')"],
  [
    `CREATE TRIGGER "now" AFTER INSERT ON log BEGIN DELETE FROM pets; END`,
    "INSERT INTO log VALUES (1)",
    'DROP TRIGGER "now"',
  ],
  [
    "CREATE TABLE draft (x)",
    "INSERT INTO draft VALUES (1), (2)",
    "DELETE FROM draft",
    "DROP TABLE draft",
    "DELETE FROM pets",
  ],
];

describe("many changes", () => {
  it("are undone one after the other, newest first", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA });
    const done: { id: string; before: unknown }[] = [];
    for (const sql of CHANGES) {
      const before = contents(here);
      // Some no longer work after the others; then nothing is changed.
      const { change_id } = await change(here, sql, { confirm: never }).catch(() => ({
        change_id: undefined,
      }));
      if (change_id === undefined) expect(contents(here), String(sql)).toEqual(before);
      else done.push({ id: change_id, before });
    }
    expect(done.length).toBeGreaterThan(20);
    for (const { id, before } of done.reverse()) {
      await undo(here, id);
      expect(contents(here)).toEqual(before);
    }
  });

  it("keep text exactly in a UTF-16 database", async () => {
    const here = await enter();
    await rm(here.file);
    const database = new Sqlite(here.file);
    database.exec(
      "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x); INSERT INTO t VALUES ('ä€😀'), (CAST(x'00d84100' AS TEXT)), ('a')",
    );
    database.close();
    const before = contents(here);
    const { change_id } = await change(here, "DELETE FROM t");
    expect(contents(here)).not.toEqual(before);
    await undo(here, change_id);
    expect(contents(here)).toEqual(before);
  });
});

it("the function replace() deletes no rows, so the rows in its way are not kept", () => {
  const database = new Sqlite(":memory:");
  database.exec(
    "CREATE TABLE first (x CHECK (replace(x, 'b', '') <> '')); CREATE TABLE second (x UNIQUE ON CONFLICT REPLACE)",
  );
  const replaces = (sql: string) => reachOf(database, [sql]).replaces;
  const changes = [
    "UPDATE first SET x = replace(x, 'a', 'b')",
    "UPDATE OR REPLACE first SET x = 1",
    "REPLACE INTO first VALUES (1)",
    "INSERT INTO second VALUES (1)",
  ];
  expect(changes.map(replaces)).toEqual([false, true, true, true]);
  database.close();
});

describe("an undo", () => {
  it("changes nothing if a row has changed since, and names it", async () => {
    const here = await enter({ sql: SCHEMA });
    const { change_id } = await change(here, "UPDATE people SET born = 0 WHERE id <= 10");
    const other = new Sqlite(here.file);
    other.exec(
      "UPDATE people SET born = 1 WHERE id = 3; DELETE FROM people WHERE id = 4; INSERT INTO people (id) VALUES (1000)",
    );
    const before = contents(here);
    await expect(undo(here, change_id)).rejects.toMatchObject({
      kind: "conflict",
      message: `Change ${change_id} was not undone: 2 of its rows are not as it left them: people 3, people 4.`,
    });
    expect(contents(here)).toEqual(before);
    other.exec(
      "UPDATE people SET born = 0 WHERE id = 3; INSERT INTO people (id, name, born) VALUES (4, 'p4', 0)",
    );
    other.close();
    await undo(here, change_id);
    expect(await rowsOf(here, "SELECT sum(born) FROM people WHERE id <= 10")).toEqual([[55]]);
  });

  it("is refused if it would lose rows, or break foreign keys or constraints, that were added since", async () => {
    const here = await enter({ allowDdl: true, sql: SCHEMA });
    const run = async (sql: string | readonly string[]) =>
      (await change(here, sql, { confirm: never })).change_id;
    const refused = async (id: string | undefined, why: RegExp) => {
      const before = contents(here);
      await expect(undo(here, id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(why),
      });
      expect(contents(here)).toEqual(before);
    };
    const person = await run("INSERT INTO people (id, name) VALUES (700, 'parent')");
    const pet = await run("INSERT INTO pets VALUES (700, 700)");
    await refused(person, /foreign keys refer to nothing/);
    await undo(here, pet);
    await undo(here, person);

    const deleted = await run("DELETE FROM people WHERE id = 200");
    const named = await run("INSERT INTO people (id, name) VALUES (201000, 'P200')");
    await refused(deleted, /^Change \S+ was not undone\. Rows that were added .*UNIQUE/);
    await undo(here, named);
    await undo(here, deleted);

    const dropped = await run(["DELETE FROM emptied WHERE id < 9", "DELETE FROM plain"]);
    const other = new Sqlite(here.file);
    other.exec("DROP TABLE plain");
    other.close();
    await refused(dropped, /The columns of plain have changed since, or it was dropped/);
  });

  it("keeps full-text indexes of other tables in step", async () => {
    const here = await enter({ sql: SCHEMA });
    const { change_id } = await change(here, "UPDATE docs SET body = 'three plums' WHERE id = 1");
    await undo(here, change_id);
    const database = new Sqlite(here.file);
    const search = database
      .prepare("SELECT rowid FROM docs_index WHERE docs_index MATCH ?")
      .pluck();
    expect([search.all("apple"), search.all("plums")]).toEqual([[1], []]);
    database.exec("INSERT INTO docs_index (docs_index, rank) VALUES ('integrity-check', 1)");
    database.close();
  });
});

describe("a change that can't be recorded", () => {
  it("is not one that only reads a virtual table", async () => {
    const notes = "CREATE VIRTUAL TABLE notes USING fts5(note); INSERT INTO notes VALUES ('one');";
    const here = await enter({ sql: SCHEMA + notes });
    const sql = "DELETE FROM main.plain WHERE x IN (SELECT rowid FROM notes)";
    const { change_id } = await change(here, sql, { confirm: never });
    expect(await rowsOf(here, "SELECT count(*) FROM plain")).toEqual([[1]]);
    await undo(here, change_id);
    expect(await rowsOf(here, "SELECT count(*) FROM plain")).toEqual([[3]]);
  });

  it("is asked about if it is too large", async () => {
    const here = await enter({
      timeoutMs: 120_000,
      sql: "CREATE TABLE big (x); WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 80) INSERT INTO big SELECT zeroblob(1000000) FROM t",
    });
    expect(await asked(here, "DELETE FROM big")).toEqual([
      "This cannot be undone: DELETE of 80 rows of big (it is larger than a recorded change can be).",
    ]);
    const unasked = await change(here, "INSERT INTO big SELECT * FROM big", { confirm: never });
    expect(unasked).not.toHaveProperty("change_id");
  });

  it("is asked about if the directory can't be used", async () => {
    const here = await enter({ state: "/dev/null" });
    expect(await asked(here, "DELETE FROM orders")).toEqual([
      expect.stringMatching(/DELETE of 3 rows of orders \(there is no record of changes: .*\)\.$/),
    ]);
  });

  it.runIf(process.platform === "linux")("is asked about if the disk is full", async (ctx) => {
    const here = await enter({ sql: SCHEMA });
    await smallDisk(ctx, here.state);
    const first = await change(here, "DELETE FROM plain", { confirm: never });
    const { bavail, bsize } = await statfs(here.state);
    await writeFile(join(here.state, "foreign"), Buffer.alloc(bavail * bsize));
    const before = contents(here);
    expect(await asked(here, "DELETE FROM emptied")).toEqual([
      "This cannot be undone: DELETE of 49 rows of emptied (the change could not be recorded: ENOSPC).",
    ]);
    const refused = { kind: "unavailable", message: expect.stringContaining("ENOSPC") };
    await expect(undo(here, first.change_id)).rejects.toMatchObject(refused);
    expect(contents(here)).toEqual(before);
    await rm(join(here.state, "foreign"));
    await undo(here, first.change_id);
    const { change_id } = await change(here, "DELETE FROM emptied", { confirm: never });
    expect(await undo(here, change_id)).toMatchObject({
      tables: [{ table: "emptied", inserted: 49 }],
    });
  });
});
