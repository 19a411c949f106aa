import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isReading, openReading, openWriting } from "../src/database/driver/handle.ts";
import { passReading, passWriting } from "../src/database/gate/gate.ts";
import { ask, rowsOf } from "./asking.ts";
import { enter, type Lab, lab } from "./lab.ts";

/**
 * What a reading call must not do, and which of its four defenses refuse it alone: `gate` checks the text, `reading` is
 * SQLite's report on the prepared statement, `readonly` is the file handle, `query` is PRAGMA query_only. Each has gaps:
 * ATTACH passes query_only, VACUUM INTO passes a read-only handle, and some PRAGMAs count as read-only. Every write is
 * refused by the first two, and without them by the last two together.
 */
const ATTACKS: readonly (readonly [sql: string, alone: string])[] = [
  ["SELECT 1; DROP TABLE users", "gate reading readonly query"],
  ["SELECT 1;;DELETE FROM users", "gate reading readonly query"],
  ["DROP TABLE users", "gate reading readonly query"],
  ["/* harmless */ DELETE FROM users", "gate reading readonly query"],
  ["-- SELECT\nDELETE FROM users", "gate reading readonly query"],
  ["/* /* SELECT */ DELETE FROM users", "gate reading readonly query"],
  ["\ufeffDELETE FROM users", "gate reading readonly query"],
  ["\u200bDELETE FROM users", "gate reading readonly query"],
  ["(DELETE FROM users)", "gate reading readonly query"],
  ["DELETE FROM users RETURNING *", "gate reading readonly query"],
  ["EXPLAIN QUERY PLAN DELETE FROM users; DELETE FROM users", "gate reading readonly query"],
  ["WITH x AS (SELECT 1) DELETE FROM users", "reading readonly query"],
  [
    "WITH x AS (SELECT 1) INSERT INTO users SELECT 9, 'x', 'y' RETURNING *",
    "reading readonly query",
  ],
  ["INSERT INTO users VALUES (9, 'x', 'y')", "gate reading readonly query"],
  ["REPLACE INTO users VALUES (1, 'x', 'y')", "gate reading readonly query"],
  ["ATTACH 'stolen.db' AS x", "gate reading readonly"],
  ["VACUUM INTO 'stolen.db'", "gate reading query"],
  ["VACUUM", "gate reading readonly query"],
  ["CREATE TEMP TABLE x (a)", "gate reading query"],
  ["BEGIN IMMEDIATE", "gate reading query"],
  ["PRAGMA query_only=0", "gate reading"],
  ["PRAGMA writable_schema=ON", "gate reading"],
  ["PRAGMA journal_mode=WAL", "gate reading readonly"],
  ["PRAGMA journal_mode(WAL)", "gate reading readonly"],
  ["PRAGMA journal_mode /* */ = WAL", "gate reading readonly"],
  ["PRAGMA main.journal_mode = WAL", "gate reading readonly"],
  ["PRAGMA synchronous = 0", "gate reading"],
  ["PRAGMA main.user_version = 7", "gate reading readonly query"],
  ['PRAGMA "user_version" = 7', "gate reading readonly query"],
  ["PRAGMA [application_id](7)", "gate reading readonly query"],
  ["PRAGMA mmap_size = 1000000", "gate"],
  ["PRAGMA trusted_schema = 1", "gate reading"],
  ["PRAGMA wal_checkpoint", "gate reading"],
  ["PRAGMA optimize", "gate"],
  ["EXPLAIN PRAGMA query_only=0", "gate"],
  ["EXPLAIN QUERY PLAN /* */ \ufeffPRAGMA case_sensitive_like = 1", "gate"],
  ["PRAGMA incremental_vacuum", "gate reading readonly query"],
  ["REINDEX", "gate reading readonly query"],
  ["ANALYZE", "gate reading readonly query"],
  ["SAVEPOINT x", "gate reading"],
];

const ALL = ["gate", "reading", "readonly", "query"] as const;
type Defense = (typeof ALL)[number];

let here: Lab;
let folder: string;
const old = process.cwd();
beforeAll(async () => {
  here = await lab();
  // Without a defense, files with relative names must not end up in the repository.
  folder = mkdtempSync(join(tmpdir(), "refmcp-defense-"));
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(old);
  rmSync(folder, { recursive: true, force: true });
  await here.dispose();
});

/** The contents of the database and the names in the folder. */
const state = () =>
  `${createHash("sha256").update(readFileSync(here.file)).digest("hex")} ${readdirSync(folder)}`;

/** Whether a defense alone refuses a statement. Statements that pass are actually run. */
function refuses(defense: Defense, sql: string): boolean {
  if (defense === "gate") {
    try {
      passReading(sql);
      return false;
    } catch {
      return true;
    }
  }
  const copy = join(folder, "copy.db");
  const source = new Sqlite(here.file, { readonly: true });
  source.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  source.close();
  const handle = new Sqlite(copy, { readonly: defense === "readonly" });
  try {
    if (defense === "query") handle.pragma("query_only=ON");
    const statement = handle.prepare(sql);
    if (defense === "reading") return !isReading(statement);
    if (statement.reader) statement.all();
    else statement.run();
    // A BEGIN that passed must not have locked anything.
    return sql.startsWith("BEGIN") ? !handle.inTransaction : false;
  } catch {
    return true;
  } finally {
    handle.close();
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  }
}

describe("a reading statement", () => {
  it.each(ATTACKS)(
    "%j is refused by all defenses together, and by each of: %s",
    async (sql, alone) => {
      const before = state();
      const kind = expect.stringMatching(/denied|invalid|not_found/);
      await expect(ask(here, sql)).rejects.toMatchObject({ kind });
      expect(state()).toBe(before);
      const holding = ALL.filter((defense) => refuses(defense, sql));
      expect(holding).toEqual(expect.arrayContaining(alone.split(" ")));
    },
  );

  it("can't reach other files or code, whichever defense is removed", async () => {
    for (const sql of [
      "SELECT load_extension('/tmp/x.so')",
      "SELECT readfile('/etc/passwd')",
      "SELECT writefile('stolen', 'x')",
      "SELECT fts3_tokenizer('simple', x'4141414141414141')",
      "SELECT * FROM pragma_journal_mode('wal')",
      "SELECT * FROM sqlite_dbpage",
    ]) {
      await expect(ask(here, sql), sql).rejects.toThrow();
      const handle = openReading(Sqlite, here.place);
      expect(() => handle.prepare(sql).all(), sql).toThrow(
        /not authorized|no such|disabled|unknown database|may not be used/,
      );
      handle.close();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that only reports something passes every defense", async () => {
    for (const sql of [
      "SELECT 1",
      "VALUES (1)",
      "WITH x AS (SELECT 1) SELECT * FROM x",
      "PRAGMA table_info(users)",
      "EXPLAIN PRAGMA table_info(users)",
    ])
      expect((await ask(here, sql)).row_count, sql).toBeGreaterThan(0);
    expect((await ask(here, "EXPLAIN SELECT 1")).row_count).toBeGreaterThan(0);
    expect(await rowsOf(here, "\n /* a */ -- b\n SELECT 1 ; -- c\n")).toEqual([[1]]);
  });
});

describe("a changing statement", () => {
  it("can't reach another file, end the transaction or change a setting: refused by its text", () => {
    for (const sql of [
      "ATTACH 'x' AS x",
      "DETACH main",
      "VACUUM INTO 'x'",
      "COMMIT",
      "ROLLBACK",
      "SAVEPOINT x",
      "PRAGMA writable_schema=1",
      "SELECT 1; DELETE FROM users",
      "EXPLAIN DELETE FROM users",
      "",
      "-- nothing",
    ])
      expect(() => passWriting(sql, true), sql).toThrow();
    for (const sql of [
      "DROP TABLE users",
      "CREATE TABLE x (a)",
      "ALTER TABLE users ADD x",
      "REINDEX",
    ])
      expect(() => passWriting(sql, false), sql).toThrow(/schema/);
  });

  it("can't change sqlite_schema or shadow tables: SQLite's defensive mode", async () => {
    const { place } = await enter({
      sql: "CREATE VIRTUAL TABLE words USING fts5(body); INSERT INTO words VALUES ('here'); CREATE VIRTUAL TABLE boxes USING rtree(id, a, b);",
    });
    const handle = openWriting(Sqlite, place);
    for (const sql of [
      "UPDATE words_data SET block = NULL",
      "DELETE FROM words_content",
      "DELETE FROM boxes_node",
      "DELETE FROM sqlite_schema",
      "UPDATE sqlite_master SET sql = 'x'",
    ])
      expect(() => handle.prepare(sql).run(), sql).toThrow(/may not be modified/);
    handle.close();
  });

  it("can't run a function through the schema of an untrusted file", async () => {
    const { file, place } = await enter();
    const maker = new Sqlite(file);
    maker.function("harm", () => 1);
    maker.exec("CREATE VIEW bait AS SELECT load_extension('/tmp/x.so') AS x, * FROM users");
    maker.close();
    const handle = openReading(Sqlite, place);
    expect(() => handle.prepare("SELECT * FROM bait").all()).toThrow(/unsafe use|not authorized/);
    expect(handle.pragma("trusted_schema", { simple: true })).toEqual(0n);
    expect(handle.pragma("cell_size_check", { simple: true })).toEqual(1n);
    handle.close();
    expect(existsSync("/tmp/x.so")).toBe(false);
  });
});
