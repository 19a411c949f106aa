import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  agreed,
  answerOf,
  csvLine,
  csvRecords,
  destructionOf,
  encodeRow,
  limitsOf,
  shownAs,
  statementOf,
  targetOf,
  tokenize,
} from "./index.ts";

describe("cells", () => {
  it("keep every value exactly, and cut long text without breaking a character", () => {
    const cut = { count: 0 };
    const row = [2n ** 63n, 5n, Number.NaN, -0, null, Buffer.from("ab"), { a: 1 }, "é".repeat(50)];
    expect(encodeRow(row, 64, cut)).toEqual([
      "9223372036854775808",
      5,
      "NaN",
      "-0",
      null,
      { $blob: 2, base64: "YWI=" },
      { a: 1 },
      `${"é".repeat(32)}… (64 of 100 bytes)`,
    ]);
    expect(cut.count).toBe(1);
    expect(encodeRow([Buffer.alloc(2_000)], 64, cut)).toEqual([{ $blob: 2_000 }]);
  });
});

describe("formats", () => {
  const columns = [
    { name: "a", type: "" },
    { name: "a", type: "" },
  ];
  it("keep columns of one name apart, and values in their cells", () => {
    expect(shownAs("objects", columns, [[1, 2]])).toEqual({ objects: [{ a: 1, a_2: 2 }] });
    expect(shownAs("csv", columns, [['x"y', null]])).toEqual({ text: 'a,a\r\n"x""y",\r\n' });
    expect(shownAs("markdown", columns, [["x|y\nz", null]])).toEqual({
      text: "| a | a |\n| --- | --- |\n| x\\|y<br>z | NULL |\n",
    });
    expect(csvLine(["", true, { a: 1 }])).toBe('"",true,"{""a"":1}"\r\n');
  });

  it("say what is missing", () => {
    const answer = answerOf({
      columns,
      rows: [[1, 2]],
      format: "rows",
      stopped: "rows",
      nextCursor: "c",
      elapsedMs: 1.23,
    });
    expect(answer).toMatchObject({
      truncated: true,
      truncated_by: "rows",
      next_cursor: "c",
      elapsed_ms: 1.2,
    });
  });
});

describe("CSV", () => {
  const read = async (text: string) => {
    const records: (string | null)[][] = [];
    for await (const { fields } of csvRecords(Readable.from([Buffer.from(text)]), "x.csv"))
      records.push(fields);
    return records;
  };
  it("is read with quotes, line breaks in them and a byte order mark", async () => {
    expect(await read('\ufeffa,b\r\n"x\ny","1""2"\r\n')).toEqual([
      ["a", "b"],
      ["x\ny", '1"2'],
    ]);
  });
  it("that is none is told with the line", async () => {
    await expect(read("a,b\n1,2,3\n")).rejects.toThrow(/line 2/);
  });
});

describe("tokens", () => {
  it.each([
    ["sqlite", "/* a */ -- b\n[x]]y `z` \"q\"\"r\" 's;''t'", ["[x]", "]", "y", "`z`", '"q""r"', "'s;''t'"]],
    ["postgres", "/* a /* b */ c */ $x$ ; $x$ E'\\'' $1", ["$x$ ; $x$", "E'\\''", "$", "1"]],
  ] as const)("of %s", (dialect, sql, expected) => {
    expect(tokenize(sql, dialect).map(({ text }) => text)).toEqual(expected);
  });
});

describe("statements", () => {
  it.each([
    ["DROP TABLE IF EXISTS a.b", "DROP TABLE a.b"],
    ["WITH x AS (SELECT 1 WHERE id = 1) DELETE FROM users", "DELETE of every row of users"],
    ["UPDATE OR IGNORE users SET a = (SELECT b FROM c WHERE d)", "UPDATE of every row of users"],
    ["DELETE FROM users WHERE true", "DELETE of every row of users"],
    ["DELETE FROM users WHERE id = 1", undefined],
    ["ALTER TABLE a DROP COLUMN b", "DROP COLUMN b of a with what is in it"],
    ["ALTER TABLE a ADD b", undefined],
    ["SELECT 'DROP TABLE users'", undefined],
  ])("%s", (sql, what) => {
    expect(destructionOf(statementOf(sql, "sqlite"))?.what).toBe(what);
  });

  it.each([
    ["INSERT OR REPLACE INTO main.users SELECT * FROM into_x", "main.users"],
    ["REPLACE INTO [a b] VALUES (1)", "[a b]"],
    ["WITH x AS (SELECT 1) UPDATE OR IGNORE users SET a = (SELECT 1)", "users"],
    ['DELETE FROM "delete" WHERE true', '"delete"'],
    ["DROP TABLE users", undefined],
  ])("names the table of %j", (sql, table) => {
    expect(targetOf(statementOf(sql, "sqlite"))).toBe(table);
  });
  it("are counted", () => {
    const counts = ["", ";", "a;", "a; b", "a /* ; */", "';'"].map((sql) => statementOf(sql, "sqlite").count);
    expect(counts).toEqual([0, 0, 1, 2, 1, 1]);
  });
});

it("what a call asks for is clamped by the options", () => {
  const options = { maxRows: 500, maxBytes: 1, maxCellBytes: 2, queryTimeoutMs: 1_000 };
  expect(limitsOf(options)).toEqual({ rows: 200, bytes: 1, cellBytes: 2, timeoutMs: 1_000 });
  expect(limitsOf(options, { maxRows: 9_999, timeoutMs: 5_000 })).toMatchObject({
    rows: 500,
    timeoutMs: 1_000,
  });
});

describe("asking", () => {
  it("does nothing without a yes, and asks about the loss only", async () => {
    const losses: string[] = [];
    const attempt = async (agreedLoss: string | undefined) =>
      agreedLoss === "3 rows" ? { done: "gone" } : { loss: "3 rows" };
    const confirm = async (loss: string) => void losses.push(loss);
    expect(await agreed({ attempt, confirm })).toBe("gone");
    expect(losses).toEqual(["3 rows"]);
    const no = async () => Promise.reject(new Error("no"));
    await expect(agreed({ attempt, confirm: no })).rejects.toThrow("no");
  });
});
