import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseOn, type Lab, lab } from "../../../test/lab.ts";
import type { Database } from "../connection/database.ts";
import { type Place, Reader } from "./reading.ts";

let world: Lab;
let database: Database;
let reader: Reader;
beforeAll(async () => {
  world = await lab("CREATE TABLE numbers AS SELECT n, 'row ' || n AS name FROM generate_series(1, 1000) n");
  database = databaseOn(world.url);
  reader = new Reader(database);
});
afterAll(async () => {
  await database?.close();
  await world?.dispose();
});

const signal = new AbortController().signal;
const ask = (sql: string, more: { params?: unknown[]; rows?: number; bytes?: number; from?: Place } = {}) =>
  reader.read({
    sql,
    params: more.params ?? [],
    caps: { rows: more.rows ?? 200, bytes: more.bytes ?? 262_144 },
    show: (row) => [...row],
    fitting: (rows) => rows.length,
    signal,
    from: more.from,
  });

describe("types come back exactly", () => {
  it.each([
    ["bigint", "9223372036854775807::bigint", "9223372036854775807"],
    ["bigint", "42::bigint", 42],
    ["integer", "-7", -7],
    ["numeric", "12345678901234567890.1234567890::numeric", "12345678901234567890.1234567890"],
    ["numeric", "'NaN'::numeric", "NaN"],
    ["numeric", "1.10", "1.10"],
    ["double precision", "0.1::float8 + 0.2::float8", 0.30000000000000004],
    ["double precision", "'NaN'::float8", "NaN"],
    ["double precision", "'-Infinity'::float8", "-Infinity"],
    ["double precision", "'-0'::float8", "-0"],
    ["boolean", "true", true],
    ["text", "'ü🙂 \"quoted\"'", 'ü🙂 "quoted"'],
    [
      "timestamp with time zone",
      "'2026-07-28 09:00:00.123456+02'::timestamptz",
      "2026-07-28 07:00:00.123456+00",
    ],
    ["timestamp without time zone", "'infinity'::timestamp", "infinity"],
    ["date", "'0044-03-15 BC'::date", "0044-03-15 BC"],
    ["interval", "'1 year 2 mons 3 days 04:05:06.789'::interval", "1 year 2 mons 3 days 04:05:06.789"],
    ["integer[]", "'{1,NULL,{}}'::text::text", "{1,NULL,{}}"],
    [
      "integer[]",
      "array[[1,2],[3,null]]",
      [
        [1, 2],
        [3, null],
      ],
    ],
    ["text[]", `array['a,b','"','NULL',null,'{}','\\']`, ["a,b", '"', "NULL", null, "{}", "\\"]],
    ["numeric[]", "array[1.50, 'NaN'::numeric]", ["1.50", "NaN"]],
    ["bigint[]", "array[9007199254740993]", ["9007199254740993"]],
    ["boolean[]", "'[0:1]={t,f}'::bool[]", [true, false]],
    ["jsonb", `'{"a": [1, null, {"b": "c"}]}'::jsonb`, { a: [1, null, { b: "c" }] }],
    ["jsonb", `'{"big": 12345678901234567890}'::jsonb`, '{"big": 12345678901234567890}'],
    ["json", "'null'::json", null],
    ["bytea", "'\\xdeadbeef'::bytea", Buffer.from("deadbeef", "hex")],
    ["uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ["int4range", "'[1,5)'::int4range", "[1,5)"],
    ["record", "row(1, 'a')", "(1,a)"],
    ["point", "'(1,2)'::point", "(1,2)"],
    ["box[]", "'{(1,1),(0,0);(2,2),(0,0)}'::box[]", "{(1,1),(0,0);(2,2),(0,0)}"],
    ["integer", "NULL::int", null],
  ])("%s: %s", async (type, expression, value) => {
    const page = await ask(`SELECT ${expression} AS v`);
    expect(page.rows).toEqual([[value]]);
    if (!expression.endsWith("::text::text")) expect(page.columns).toEqual([{ name: "v", type }]);
  });

  it("keeps columns of the same name, and none at all", async () => {
    expect(await ask("SELECT 1 AS a, 2 AS a")).toMatchObject({
      rows: [[1, 2]],
      columns: [{ name: "a" }, { name: "a" }],
    });
    expect(await ask("SELECT")).toMatchObject({ columns: [], rows: [[]] });
    expect(await ask("SELECT 1 WHERE false")).toMatchObject({ columns: [{ type: "integer" }], rows: [] });
  });

  it("gives the names of types that people made", async () => {
    await world.admin("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN age AS int");
    expect(await ask("SELECT 'sad'::mood AS m, array['happy']::mood[] AS ms, 3::age AS a")).toMatchObject({
      columns: [{ type: "mood" }, { type: "mood[]" }, { type: "integer" }],
      rows: [["sad", ["happy"], 3]],
    });
  });
});

describe("parameters", () => {
  it("take the type that the statement gives them", async () => {
    const params = [1, "2026-01-01", [1, 2], { a: [1] }, ["x", 'y"'], null, true, [[1], [2]]];
    const page = await ask(
      "SELECT $1::int + 1, $2::date, $3::int[], $4::jsonb, $5::text[], $6::text, $7::bool, $8::jsonb",
      { params },
    );
    expect(page.rows).toEqual([[2, "2026-01-01", [1, 2], { a: [1] }, ["x", 'y"'], null, true, [[1], [2]]]]);
  });

  it("are never SQL", async () => {
    const page = await ask("SELECT $1::text", { params: ["'; DROP TABLE numbers; --"] });
    expect(page.rows).toEqual([["'; DROP TABLE numbers; --"]]);
  });

  it("are explained where they do not fit", async () => {
    await expect(ask("SELECT $1::int", { params: [] })).rejects.toMatchObject({
      kind: "invalid",
      code: "08P01",
    });
    await expect(ask("SELECT $1::int", { params: [[1]] })).rejects.toMatchObject({ code: "22P02" });
    await expect(ask("SELECT $1::text", { params: ["a\0"] })).rejects.toThrow(/\$1 holds a NUL/);
    await expect(ask("SELECT $1::text[]", { params: [["a\0"]] })).rejects.toThrow(/\$1 holds a NUL/);
    expect((await ask("SELECT 1")).rows).toEqual([[1]]);
  });
});

describe("caps and pages", () => {
  const pages = async (sql: string, rows: number, between: () => Promise<void> = async () => undefined) => {
    const all: unknown[] = [];
    let from: Place | undefined;
    do {
      const page = await ask(sql, { rows, ...(from === undefined ? {} : { from }) });
      all.push(...page.rows.map(([first]) => first));
      from = page.next;
      await between();
    } while (from !== undefined);
    return all;
  };
  const wanted = Array.from({ length: 1000 }, (_, index) => index + 1);

  it.each([1, 7, 63, 64, 65, 999, 1000, 1001])(
    "join without a repeat or a gap, %i rows each",
    async (rows) => {
      const counted = rows < 7 ? wanted.slice(0, 40) : wanted;
      expect(await pages(`SELECT n FROM numbers ORDER BY n LIMIT ${counted.length}`, rows)).toEqual(counted);
    },
  );

  it("join also where the kept result is gone, by running again to the same place", async () => {
    const drop = async () => {
      while (reader.yield());
    };
    expect(await pages("SELECT n, name FROM numbers ORDER BY n", 170, drop)).toEqual(wanted);
    expect(await pages("SELECT n FROM numbers", 333, drop)).toEqual(wanted);
  });

  it("join in one snapshot while others write", async () => {
    let written = 0;
    const write = async () => {
      written += 1;
      await world.admin(`INSERT INTO numbers VALUES (${-written}, 'new')`);
    };
    expect(await pages("SELECT n FROM numbers ORDER BY n", 300, write)).toEqual(wanted);
    await world.admin("DELETE FROM numbers WHERE n < 0");
  });

  it("are a conflict, not a silent gap, where the rows before changed and nothing was kept", async () => {
    const first = await ask("SELECT n FROM numbers ORDER BY n", { rows: 10 });
    while (reader.yield());
    await world.admin("INSERT INTO numbers VALUES (0, 'new')");
    if (first.next === undefined) throw new Error("no next page");
    await expect(
      ask("SELECT n FROM numbers ORDER BY n", { rows: 10, from: first.next }),
    ).rejects.toMatchObject({
      kind: "conflict",
    });
    await world.admin("DELETE FROM numbers WHERE n = 0");
  });

  it("stop at the bytes", async () => {
    const page = await ask("SELECT repeat('x', 1000) FROM generate_series(1, 100000)", {
      rows: 10_000,
      bytes: 10_000,
    });
    expect(page).toMatchObject({ stopped: "bytes" });
    expect(page.rows).toHaveLength(10);
    expect(page.next?.offset).toBe(10);
  });

  it("show at least one row, however large, and the rest on the next page", async () => {
    const sql = "SELECT n, repeat('x', 3000000) FROM generate_series(1, 12) n";
    const seen: unknown[] = [];
    let from: Place | undefined;
    do {
      const page = await ask(sql, { bytes: 1_000, ...(from === undefined ? {} : { from }) });
      expect(page.rows).toHaveLength(1);
      seen.push(page.rows[0]?.[0]);
      from = page.next;
    } while (from !== undefined);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it("leaves no transaction open when the result is read to its end", async () => {
    await pages("SELECT n FROM numbers ORDER BY n", 400);
    const open = async () =>
      (
        await world.admin(
          `SELECT 1 FROM pg_stat_activity WHERE usename = '${world.role}' AND state LIKE 'idle in transaction%'`,
        )
      ).length;
    while (reader.yield());
    await expect.poll(open).toBe(0);
  });
});

describe("notices and other statements", () => {
  it("passes on what the server remarks", async () => {
    await world.admin(
      "CREATE FUNCTION remark() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'careful'; RETURN 1; END $$",
    );
    expect((await ask("SELECT remark()")).notices).toEqual(["WARNING: careful"]);
    expect((await ask("SELECT 1")).notices).toEqual([]);
  });

  it("shows settings and plans", async () => {
    expect((await ask("SHOW standard_conforming_strings")).rows).toEqual([["on"]]);
    expect((await ask("EXPLAIN SELECT 1")).rows).toEqual([[expect.stringContaining("Result")]]);
  });
});
