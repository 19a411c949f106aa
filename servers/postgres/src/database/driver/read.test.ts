import { type Database, type Page, type Reading, readPage } from "@refmcp/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseOn } from "../../../test/lab.ts";
import { labFor } from "../../../test/session.ts";
import { readRows } from "./read.ts";
import type { Sessions } from "./sessions.ts";

const world = labFor(
  "CREATE TABLE numbers AS SELECT n, 'row ' || n AS name FROM generate_series(1, 1000) n",
);
let database: Sessions;
beforeAll(() => {
  database = databaseOn(world.url);
});
afterAll(() => database?.close());

const signal = new AbortController().signal;
interface Asked {
  params?: unknown[];
  rows?: number;
  bytes?: number;
  cursor?: string | undefined;
}
const ask = async (
  sql: string,
  { params = [], rows = 200, bytes = 262_144, cursor }: Asked = {},
) => {
  const read = (question: Reading, page: Page) => readRows(database, question, page);
  const databases = {
    kind: { names: { query: "query" } },
    at: async () => ({ name: "main", read }) as Partial<Database>,
  } as never;
  const asked = { sql, params, cursor, maxRows: rows, budget: bytes, signal };
  return JSON.parse(await readPage(databases, asked));
};

/** Transactions and locks that the server holds. */
const held = () =>
  world.admin(
    `SELECT state, relation FROM pg_stat_activity a LEFT JOIN pg_locks l USING (pid)
     WHERE usename = '${world.role}' AND (state <> 'idle' OR relation IS NOT NULL)`,
  );

describe("types come back exactly", () => {
  it.each([
    ["bigint", "9223372036854775807::bigint", "9223372036854775807"],
    ["numeric", "12345678901234567890.1234567890::numeric", "12345678901234567890.1234567890"],
    ["double precision", "0.1::float8 + 0.2::float8", 0.30000000000000004],
    ["double precision", "'-Infinity'::float8", "-Infinity"],
    ["text", "'ü🙂 \"quoted\"'", 'ü🙂 "quoted"'],
    ["integer[]", "'{{1},{NULL}}'::int[]", [[1], [null]]],
    ["text[]", `array['a,b','"','NULL',null,'{}','\\']`, ["a,b", '"', "NULL", null, "{}", "\\"]],
    ["bigint[]", "array[9007199254740993]", ["9007199254740993"]],
    ["jsonb", `'{"big": 12345678901234567890}'::jsonb`, '{"big": 12345678901234567890}'],
    ["bytea", "'\\xdeadbeef'::bytea", { $blob: 4, base64: "3q2+7w==" }],
    ["box[]", "'{(1,1),(0,0);(2,2),(0,0)}'::box[]", "{(1,1),(0,0);(2,2),(0,0)}"],
  ])("%s: %s", async (type, expression, value) => {
    const page = await ask(`SELECT ${expression} AS v`);
    expect(page.rows).toEqual([[value]]);
    expect(page.columns).toEqual([{ name: "v", type }]);
  });
});

describe("parameters", () => {
  it("are converted to the type that the statement expects", async () => {
    const params = [1, "2026-01-01", [1, 2], { a: [1] }, ["x", 'y"'], null, true, [[1], [2]]];
    const page = await ask(
      "SELECT $1::int + 1, $2::date, $3::int[], $4::jsonb, $5::text[], $6::text, $7::bool, $8::jsonb",
      { params },
    );
    expect(page.rows).toEqual([
      [2, "2026-01-01", [1, 2], { a: [1] }, ["x", 'y"'], null, true, [[1], [2]]],
    ]);
  });

  it("find the row of an integer around 2^53 and 2^63, given as text, and refuse rounded numbers", async () => {
    const digits = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n];
    await world.admin(
      `CREATE TABLE ids (id bigint PRIMARY KEY); INSERT INTO ids VALUES ${digits.map((n) => `(${n}), (${-n})`).join()}`,
    );
    for (const id of digits.flatMap((n) => [n, -n])) {
      const isSafe = Number.isSafeInteger(Number(id));
      const params = [isSafe ? Number(id) : id.toString()];
      expect((await ask("SELECT id FROM ids WHERE id = $1", { params })).rows).toEqual([params]);
      for (const rounded of isSafe ? [] : [Number(id), [Number(id)], { id: [Number(id)] }])
        await expect(ask("SELECT $1::text", { params: [rounded] })).rejects.toThrow(
          /Parameter \$1 is an integer outside ±\(2\^53 - 1\)/,
        );
    }
    expect((await ask("SELECT $1::float8, $2::numeric", { params: [0.1, 12.5] })).rows).toEqual([
      [0.1, "12.5"],
    ]);
  });

  it("are explained if they do not match", async () => {
    const missing = ask("SELECT $1::int", { params: [] });
    await expect(missing).rejects.toMatchObject({ kind: "invalid", code: "08P01" });
    await expect(ask("SELECT $1::int", { params: [[1]] })).rejects.toMatchObject({ code: "22P02" });
    for (const nul of ["a\0", ["a\0"]])
      await expect(ask("SELECT $1", { params: [nul] })).rejects.toThrow(/\$1 contains a NUL/);
    expect((await ask("SELECT 1")).rows).toEqual([[1]]);
  });
});

describe("caps and pages", () => {
  const pages = async (sql: string, rows: number) => {
    const all: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await ask(sql, { rows, cursor });
      all.push(...page.rows.map(([first]: unknown[]) => first));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return all;
  };
  const wanted = Array.from({ length: 1000 }, (_, index) => index + 1);

  it.each([63, 64, 65, 1000, 1001])(
    "join without a repeat or a gap, %i rows each",
    async (rows) => {
      expect(await pages("SELECT n FROM numbers ORDER BY n", rows)).toEqual(wanted);
    },
  );

  it("of a slow statement come before it finishes", async () => {
    const sql = "SELECT n, pg_sleep(0.01) FROM generate_series(1, 100000) n";
    const first = await ask(sql, { rows: 3 });
    expect(first.rows.map(([n]: unknown[]) => n)).toEqual([1, 2, 3]);
    const next = await ask(sql, { rows: 3, cursor: first.next_cursor });
    expect(next.rows.map(([n]: unknown[]) => n)).toEqual([4, 5, 6]);
  });

  it("leave no transaction, lock or snapshot behind: a migration does not wait for them", async () => {
    const sql = "SELECT n FROM numbers ORDER BY n";
    const page = await ask(sql, { rows: 10 });
    expect(page.next_cursor).toBeDefined();
    await expect.poll(held).toEqual([]);
    await world.admin("SET lock_timeout = '100ms'; ALTER TABLE numbers ADD COLUMN extra int");
    const next = await ask(sql, { rows: 10, cursor: page.next_cursor });
    expect(next.rows[0]).toEqual([11]);
  });
});

describe("notices and other statements", () => {
  it("passes on the server's notices", async () => {
    await world.admin(
      "CREATE FUNCTION remark() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE WARNING 'careful'; RETURN 1; END $$",
    );
    expect((await ask("SELECT remark()")).notices).toEqual(["WARNING: careful"]);
    expect((await ask("SELECT 1")).notices).toBeUndefined();
  });

  it("shows settings and plans", async () => {
    expect((await ask("SHOW standard_conforming_strings")).rows).toEqual([["on"]]);
    expect((await ask("EXPLAIN SELECT 1")).rows).toEqual([[expect.stringContaining("Result")]]);
  });
});
