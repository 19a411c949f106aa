import { copyFile, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { talkToProcess } from "./session.ts";

// What the built server promises a client that can't be asked, over stdio.

let folder: string;
let file: string;
let state: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-sqlite-fence-"));
  state = await mkdtemp(join(tmpdir(), "refmcp-sqlite-fence-state-"));
  file = join(folder, "a.db");
  database(file, "('Ada'), ('Mary'), ('Charles')");
});
afterEach(async () => {
  for (const path of [folder, state]) await rm(path, { recursive: true, force: true });
});

function database(path: string, values: string): void {
  const sqlite = new Sqlite(path);
  sqlite.exec(`CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people (name) VALUES ${values};
    CREATE INDEX by_name ON people (name); CREATE VIEW names AS SELECT name FROM people;
    CREATE TRIGGER upper AFTER INSERT ON people BEGIN SELECT 1; END; CREATE TABLE empty (x); CREATE TABLE pets (id, name);`);
  sqlite.close();
}

async function connect(...more: readonly string[]) {
  const args = ["--db-path", file, "--root", folder, "--undo-dir", state];
  const server = await talkToProcess([...args, "--allow-write", "--allow-ddl", ...more]);
  onTestFinished(() => server.close());
  return server;
}

const read = (sql: string) => {
  const opened = new Sqlite(file, { readonly: true });
  const rows = opened.prepare(sql).raw().all();
  opened.close();
  return rows;
};
const schema = () => read("SELECT type, name, sql FROM sqlite_schema ORDER BY name");

describe("a change of the schema", () => {
  it("asks with its text, so nothing happens if nobody can be asked", async () => {
    const before = schema();
    const { call } = await connect();
    for (const query of [
      "DROP INDEX by_name",
      "DROP VIEW names",
      "DROP TRIGGER upper",
      "DROP TABLE empty",
      "DROP TABLE people",
      "ALTER TABLE pets DROP COLUMN name",
      "ALTER TABLE people RENAME TO persons",
      "ALTER TABLE empty RENAME COLUMN x TO y",
    ]) {
      const { text, isError } = await call("write_query", { query });
      expect(isError, text).toBe(true);
      expect(text).toContain("This needs the user's confirmation");
      expect(text).toContain(query);
    }
    expect(schema()).toEqual(before);
  });
});

describe("an undo", () => {
  it("restores rows and does not change tables, views and indexes that others made since", async () => {
    const { data } = await connect();
    const { change_id } = await data("execute", {
      statements: ["CREATE TABLE n (x)", "DELETE FROM people WHERE id = 1"],
    });
    const other = new Sqlite(file);
    other.exec("DROP TABLE n; CREATE TABLE n (y)");
    other.close();
    await data("undo_database_change", { change_id });
    expect(read("SELECT count(*) FROM people")).toEqual([[3]]);
    expect(read("SELECT sql FROM sqlite_schema WHERE name = 'n'")).toEqual([
      ["CREATE TABLE n (y)"],
    ]);
  });

  it.each([
    [
      "a new file",
      async () => {
        await rm(file);
        database(file, "('Someone else')");
      },
    ],
    [
      "new content",
      async () => {
        database(join(folder, "b.db"), "('Someone else')");
        await copyFile(join(folder, "b.db"), file);
      },
    ],
  ])("never writes into another database with the same name: %s", async (_, replace) => {
    const { data, call } = await connect();
    const { change_id } = await data("write_query", { query: "DELETE FROM people WHERE id > 1" });
    await replace();
    const { text, isError } = await call("undo_database_change", { change_id });
    expect(isError, text).toBe(true);
    expect(text).toMatch(/No recorded change|content of another or an older database/);
    expect(read("SELECT name FROM people")).toEqual([["Someone else"]]);
  });
});

describe("the record of changes", () => {
  it("is called a copy, and is gone after a day, also if changes are no longer recorded", async () => {
    const { data } = await connect();
    const { note } = await data("write_query", { query: "DELETE FROM people" });
    expect(note).toMatch(/copy .* 1 day.*--undo-days/);
    const records = async () =>
      (await readdir(state, { recursive: true })).filter((name) => name.endsWith(".change"));
    const [name = ""] = await records();
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(state, name), yesterday, yesterday);
    const later = await connect("--no-undo");
    await later.data("list_tables", {});
    expect(await records()).toEqual([]);
  });
});
