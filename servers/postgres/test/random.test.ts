import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Dialect, outcomesOf, type Subject, withOutcomes } from "@refmcp/sql/testing";
import { expect, it, onTestFinished } from "vitest";
import { itLong } from "../../../vitest.long.ts";
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

/** A server for a database whose tables its role owns. */
async function enterWith(setup: readonly string[]): Promise<Subject> {
  const world = await lab();
  await world.admin(`SET ROLE ${world.role}; ${[...setup, MORE].join(";\n")}`);
  let [asked, agrees] = [false, false];
  const server = await talk(["--url", world.url, "--allow-write"], {
    elicit: () => {
      asked = true;
      return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
    },
  });
  onTestFinished(async () => {
    await server.close();
    await world.dispose();
  });
  return {
    async content() {
      const tables = await world.admin(
        "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
      );
      const rows = tables.map(
        ({ name }) => `SELECT '${name}' AS name, t::text AS row FROM ${name} t`,
      );
      return await world.admin(`${rows.join(" UNION ALL ")} ORDER BY 1, 2`);
    },
    async run(statements, isAgreeing) {
      [asked, agrees] = [false, isAgreeing];
      const { text, isError } = await server.call("pg_execute", { statements });
      if (isError) return { asked, error: text };
      const changeId: unknown = JSON.parse(text).change_id;
      return { asked, ...(typeof changeId === "string" ? { changeId } : {}) };
    },
    async undo(change_id) {
      const { text, isError } = await server.call("pg_undo_change", { change_id });
      if (isError) throw new Error(text);
      return String(JSON.parse(text).change_id);
    },
  };
}

it("what passes can be undone, whatever the schema; the README says what asks", async () => {
  const readme = fileURLToPath(new URL("../README.md", import.meta.url));
  const outcomes = await outcomesOf(dialect, [1, 2, 3], enterWith);
  const table = withOutcomes(await readFile(readme, "utf8"), dialect, outcomes);
  await expect(table).toMatchFileSnapshot(readme);
}, 300_000);

itLong(
  "the same with many schemas",
  async () => {
    const seeds = Array.from({ length: 5 }, (_, at) => 4 + at);
    expect((await outcomesOf(dialect, seeds, enterWith)).size).toBeGreaterThan(10);
  },
  900_000,
);
