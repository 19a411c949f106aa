import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Dialect, outcomesOf, type Subject, withOutcomes } from "@refmcp/sql/testing";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { itLong } from "../../../vitest.long.ts";
import { change, undo } from "./asking.ts";
import { enter, type Lab } from "./lab.ts";

const dialect: Dialect = {
  types: {
    INTEGER: ["0", "-1", "9223372036854775807", "NULL"],
    TEXT: ["'a'", "''", "'it''s'", "CAST(x'ff00' AS TEXT)", "NULL"],
    REAL: ["0.1", "-0.0", "9e999", "1e300", "NULL"],
    BLOB: ["x''", "x'00ff'", "'text'", "NULL"],
    ANY: ["1", "1.0", "'1'", "x'31'", "NULL"],
  },
  logging: (table) =>
    `CREATE TRIGGER ${table}_u AFTER UPDATE ON ${table} BEGIN INSERT INTO log (what) VALUES (old.k); END;
     CREATE TRIGGER ${table}_d AFTER DELETE ON ${table} BEGIN INSERT INTO log (what) VALUES (old.k); END`,
  kinds: {
    "REPLACE INTO": (world) => {
      const table = world.one(world.tables);
      return { table, statements: [world.insert(table).replace("INSERT", "REPLACE")] };
    },
    "DELETE of all rows": (world) => {
      const table = world.one(world.tables);
      return { table, statements: [`DELETE FROM ${table.name}`, world.copied(table)] };
    },
  },
};

/** The rows of all tables that have some, byte by byte. */
function content({ file }: Lab): unknown {
  const database = new Sqlite(file, { readonly: true });
  try {
    const names = database
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck();
    const columns = database
      .prepare<[string], string>("SELECT name FROM pragma_table_info(?)")
      .pluck();
    return names
      .all()
      .map((name) => {
        const values = columns.all(name).map((column) => `typeof(${column}), quote(${column})`);
        const sql = `SELECT rowid, ${values.join(", ")} FROM ${name} ORDER BY rowid`;
        return [name, database.prepare(sql).raw().safeIntegers().all().map(String)] as const;
      })
      .filter(([, rows]) => rows.length > 0);
  } finally {
    database.close();
  }
}

const subjectOf = (here: Lab): Subject => ({
  content: async () => content(here),
  async run(statements, agrees) {
    let asked = false;
    const confirm = async () => {
      asked = true;
      if (!agrees) throw new Error("declined");
    };
    try {
      const { change_id } = await change(here, statements, { confirm });
      return { asked, ...(change_id === undefined ? {} : { changeId: change_id }) };
    } catch (error) {
      return { asked, error: String(error) };
    }
  },
  async undo(id) {
    const { change_id } = await undo(here, id);
    return String(change_id);
  },
});

const enterWith = async (setup: readonly string[]) =>
  subjectOf(await enter({ allowDdl: true, sql: setup.join(";\n") }));

it("what passes can be undone, whatever the schema; the README says what asks", async () => {
  const readme = fileURLToPath(new URL("../README.md", import.meta.url));
  const outcomes = await outcomesOf(dialect, [1, 2, 3], enterWith);
  const table = withOutcomes(await readFile(readme, "utf8"), dialect, outcomes);
  await expect(table).toMatchFileSnapshot(readme);
});

itLong("the same with many schemas", async () => {
  const seeds = Array.from({ length: 15 }, (_, at) => 4 + at);
  expect((await outcomesOf(dialect, seeds, enterWith)).size).toBeGreaterThan(10);
});
