import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, change, rowsOf } from "./asking.ts";
import { enter, type Lab, lab } from "./lab.ts";

/** For the tests that only read. */
let here: Lab;
beforeAll(async () => {
  here = await lab();
});
afterAll(() => here?.dispose());

describe("values", () => {
  it.each<readonly [sql: string, value: unknown, type: string]>([
    ["9223372036854775807", "9223372036854775807", "INTEGER"],
    ["9007199254740992", "9007199254740992", "INTEGER"],
    ["1.5", 1.5, "REAL"],
    ["9e999", "Infinity", "REAL"],
    ["NULL", null, ""],
    ["'é 😀 \u0001'", "é 😀 \u0001", "TEXT"],
    ["'a' || char(0) || 'b'", "a\0b", "TEXT"],
    ["x'00ff'", { $blob: 2, base64: "AP8=" }, "BLOB"],
    ["zeroblob(1025)", { $blob: 1025 }, "BLOB"],
  ])("%s comes back exactly", async (sql, value, type) => {
    const { rows, columns } = await ask(here, `SELECT ${sql} AS x`);
    expect(rows).toEqual([[value]]);
    expect(columns).toEqual([{ name: "x", type }]);
  });

  it("keep their declared types, and columns may share a name", async () => {
    const here = await enter({
      sql: "CREATE TABLE t (a DECIMAL(10,2), b DATETIME, c); INSERT INTO t VALUES (1.10, '2026-01-31', 7);",
    });
    expect(await ask(here, "SELECT *, a AS a, c + 0 AS a FROM t")).toMatchObject({
      columns: [
        { name: "a", type: "DECIMAL(10,2)" },
        { name: "b", type: "DATETIME" },
        { name: "c", type: "INTEGER" },
        { name: "a", type: "DECIMAL(10,2)" },
        { name: "a", type: "INTEGER" },
      ],
      rows: [[1.1, "2026-01-31", 7, 1.1, 7]],
    });
  });

  it("can be passed as they were returned", async () => {
    const here = await enter({ sql: "CREATE TABLE t (a, b, c, d, e, f);" });
    const params = ["9223372036854775807", 7, 1.25, null, { base64: "AP8=" }, true];
    await change(here, "INSERT INTO t VALUES (CAST(? AS INTEGER), ?, ?, ?, ?, ?)", { params });
    const blob = { $blob: 2, base64: "AP8=" };
    const types = ["integer", "integer", "blob"];
    expect(await rowsOf(here, "SELECT *, typeof(a), typeof(b), typeof(e) FROM t")).toEqual([
      ["9223372036854775807", 7, 1.25, null, blob, 1, ...types],
    ]);
    expect(
      await rowsOf(here, "SELECT count(*) FROM t WHERE e = ?", {
        params: [{ $blob: 2, base64: "AP8=" }],
      }),
    ).toEqual([[1]]);
  });

  it.each<readonly [value: unknown, message: string]>([
    ...[2 ** 53, -(2 ** 63), 1e300, Number.POSITIVE_INFINITY].map(
      (value) => [value, "params[0] is an integer outside ±(2^53 - 1)"] as const,
    ),
    [[1], "params[0] is a list"],
    [JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`), "params[0] is a list"],
    [{ $blob: 5_000 }, "params[0] is an object"],
    [{ base64: "no base64!" }, "params[0] is not valid base64"],
  ])("that SQLite cannot take exactly are refused: %#", async (value, message) => {
    await expect(ask(here, "SELECT ?", { params: [value] })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(message),
    });
  });

  it.each(
    [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n]
      .flatMap((value) => [value, -value])
      .map(String),
  )("find and change the row with the integer %s, and not its neighbour", async (digits) => {
    const near = [-1n, 0n, 1n]
      .map((step) => BigInt(digits) + step)
      .filter((n) => BigInt.asIntN(64, n) === n);
    const database = new Sqlite(here.file);
    const inserts = near.map((n) => `INSERT INTO ids VALUES (${n});`);
    database.exec(
      `DROP TABLE IF EXISTS ids; CREATE TABLE ids (id INTEGER PRIMARY KEY); ${inserts.join("")}`,
    );
    database.close();
    const isSafe = Number.isSafeInteger(Number(digits));
    const params = [isSafe ? Number(digits) : digits];
    for (const place of isSafe ? ["?"] : ["?", "CAST(? AS INTEGER)"])
      expect(await rowsOf(here, `SELECT id FROM ids WHERE id = ${place}`, { params })).toEqual([
        params,
      ]);
    await change(here, "DELETE FROM ids WHERE id = ?", { params });
    const expectedRows = near.filter((n) => n !== BigInt(digits)).map((n) => [n.toString()]);
    expect(await rowsOf(here, "SELECT CAST(id AS TEXT) FROM ids ORDER BY id")).toEqual(
      expectedRows,
    );
  });

  it.each<readonly [sql: string, params: unknown[], row: unknown[]]>([
    ["SELECT ?1, ?2, ?1", ["a", 2], ["a", 2, "a"]],
    ["SELECT ?3, ?1", ["a", "unused", 3], [3, "a"]],
    [
      "SELECT :name, @age, $city, ':no'",
      [{ name: "a", ":age": 2, city: null }],
      ["a", 2, null, ":no"],
    ],
    ["SELECT hex(:data) -- :not ?", [{ base64: "AP8=" }], ["00FF"]],
  ])("are bound by number and by name: %s", async (sql, params, row) => {
    expect(await rowsOf(here, sql, { params })).toEqual([row]);
  });

  it.each<readonly [sql: string, params: unknown[], message: string]>([
    ["SELECT ?, ?", [1], "The statement takes 2 values, but 1 was given."],
    ["SELECT :a, :b", [{ a: 1, c: 2 }], "No value for b. The statement has no parameter c."],
    ["SELECT :a, ?", [1, 2], "mixes ? with named parameters"],
    ["SELECT :a", [{ a: [1] }], "parameter a is a list"],
  ])("that do not fit are explained: %s", async (sql, params, message) => {
    await expect(ask(here, sql, { params })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(message),
    });
  });

  it.each([
    [
      "SELECT 1 + + FROM users WHERE id = 1 AND FROM",
      '(position 14: "SELECT 1 + + »FROM users WHERE',
    ],
    [
      "SELECT * FORM users",
      'near "FORM": syntax error (position 10: "SELECT * »FORM users") (SQLITE_ERROR).',
    ],
    [
      "SELECT id, nam FROM users",
      'no such column: nam (position 12: "SELECT id, »nam FROM users"). Did you mean name?',
    ],
    ['SELECT id FROM users WHERE name = "Ada"', 'no such column: "Ada" (position 35: '],
  ])("errors say where: %s", async (sql, message) => {
    await expect(ask(here, sql)).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
  });

  it("errors suggest columns of the tables that are meant, not of a view with the name of an alias", async () => {
    const here = await enter({ sql: "CREATE VIEW u AS SELECT 1 AS namx" });
    await expect(ask(here, "SELECT u.nam FROM users u")).rejects.toThrow(/Did you mean name\?$/);
  });

  it("that are huge or deeply nested are truncated, or refused with SQLite's error", async () => {
    const { rows, truncated_by } = await ask(here, "SELECT printf('%.*c', 50000000, 'é')");
    expect(truncated_by).toBe("cell");
    expect(String(rows?.[0]?.[0])).toMatch(/^é+… \(8192 of \d+ bytes\)$/);
    expect(await rowsOf(here, "SELECT length(printf('%.*c', 50000000, 'x'))")).toEqual([
      [50_000_000],
    ]);
    await expect(ask(here, "SELECT json(printf('%.*c', 100000, '['))")).rejects.toThrow(
      "malformed JSON",
    );
    await expect(
      ask(here, `SELECT ${"(".repeat(20_000)}1${")".repeat(20_000)}`),
    ).rejects.toMatchObject({ kind: "invalid" });
    await expect(ask(here, `SELECT 1${"+1".repeat(20_000)}`)).rejects.toThrow(
      /Expression tree is too large/,
    );
    await expect(ask(here, `SELECT ${"1,".repeat(5_000)}1`)).rejects.toThrow(/too many columns/);
  });
});
