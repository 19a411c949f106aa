import { type Dialect, subjectOf, testChanges } from "@refmcp/sql/testing";
import type { ConnectOptions } from "@refmcp/testing";
import { onTestFinished } from "vitest";
import { rowsIn } from "./asking.ts";
import { enter } from "./lab.ts";
import { talk } from "./session.ts";

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

testChanges(
  dialect,
  new URL("../README.md", import.meta.url),
  async (setup) => {
    const here = await enter({ sql: setup.join(";\n") });
    const args = ["--db-path", here.file, "--allow-write", "--allow-ddl"];
    const connect = async (elicit: ConnectOptions["elicit"]) => {
      const server = await talk(args, { ...(elicit && { elicit }) });
      onTestFinished(() => server.close());
      return server;
    };
    return await subjectOf(connect, ["execute", "undo_database_change"], async () => rowsIn(here));
  },
  15,
);
