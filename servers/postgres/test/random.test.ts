import { type Dialect, subjectOf, testChanges } from "@refmcp/sql/testing";
import type { ConnectOptions } from "@refmcp/testing";
import { onTestFinished } from "vitest";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

const dialect: Dialect = {
  types: {
    bigint: ["0", "-9223372036854775808", "9007199254740993", "NULL"],
    text: ["'a'", "''", "'it''s'", "E'a\\nb\\\\'", "NULL"],
    numeric: ["0.10", "1.50", "'NaN'", "1e40", "NULL"],
    float8: ["0.1", "'-0'", "'Infinity'", "NULL"],
    timestamptz: ["'2026-03-29 02:30+01'", "'infinity'", "'0044-03-15 BC'", "NULL"],
    jsonb: ["'{\"a\": [1, null]}'", "'null'", "NULL"],
    json: ['\'{"a":1,  "a":2}\'', "NULL"],
    "text[]": ["ARRAY['a', NULL, '{}']", "'{}'", "'[2:3]={a,b}'", "NULL"],
    bytea: ["'\\x00ff'", "''", "NULL"],
    int4range: ["'[1,5)'", "'empty'", "NULL"],
  },
  logging: (table) =>
    `CREATE FUNCTION ${table}_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       UPDATE log SET what = what || TG_OP WHERE k = 7; RETURN NULL; END $$;
     CREATE TRIGGER logged AFTER UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_log()`,
  kinds: {
    "UPDATE of a partitioned table": (world) => ({
      statements: [`UPDATE parted SET v = v || 'x' WHERE k % 3 = ${world.below(3)}`],
    }),
    "UPDATE that moves rows to another partition": (world) => ({
      statements: [`UPDATE parted SET part = 1 - part WHERE k = ${1 + world.below(20)}`],
    }),
    MERGE: (world) => {
      const { name } = world.one(world.tables);
      const sql = `MERGE INTO ${name} USING log ON log.k = ${name}.k WHEN MATCHED THEN UPDATE SET n = 3`;
      return { statements: [sql] };
    },
    "WITH … DELETE": (world) => {
      const sql = `WITH gone AS (DELETE FROM ${world.another("(1, 2)")} RETURNING x) INSERT INTO log SELECT max(k) + 1, 'gone' FROM log`;
      return { statements: [sql] };
    },
    TRUNCATE: (world) => ({ statements: [`TRUNCATE ${world.another("(1, 2)")}`] }),
    DO: () => ({ statements: ["DO $$ BEGIN DELETE FROM log WHERE k > 20; END $$"] }),
  },
};

/** More tables, which only some kinds use. */
const MORE = `CREATE TABLE parted (part int, k int, v text, PRIMARY KEY (part, k)) PARTITION BY LIST (part);
  CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
  INSERT INTO parted SELECT n % 2, n, 'v' FROM generate_series(1, 20) n`;

testChanges(
  dialect,
  new URL("../README.md", import.meta.url),
  async (setup) => {
    const world = await lab();
    onTestFinished(() => world.dispose());
    await world.admin(`SET ROLE ${world.role}; ${[...setup, MORE].join(";\n")}`);
    const connect = async (elicit: ConnectOptions["elicit"]) => {
      const server = await talk(["--url", world.url, "--allow-write"], {
        ...(elicit && { elicit }),
      });
      onTestFinished(() => server.close());
      return server;
    };
    return await subjectOf(connect, ["pg_execute", "pg_undo_change"], async () => {
      const tables = await world.admin(
        "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
      );
      const rows = tables.map(
        ({ name }) => `SELECT '${name}' AS name, t::text AS row FROM ${name} t`,
      );
      return await world.admin(`${rows.join(" UNION ALL ")} ORDER BY 1, 2`);
    });
  },
  5,
);
