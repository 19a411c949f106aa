import { describe, expect, it } from "vitest";
import {
  answerText,
  encodeRow,
  type Format,
  limitsOf,
  lossAction,
  lossText,
  removedFrom,
  rowWriter,
  statementOf,
  targetOf,
  tokenize,
} from "./index.ts";

describe("cells", () => {
  it("keep every value exactly, and truncate long text between characters", () => {
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
  const answer = (format: Format, ...rows: unknown[][]) => {
    const writer = rowWriter(format, ["a", "a"], 64);
    const pieces = rows.map((row) => writer.write(row, { count: 0 }));
    return JSON.parse(answerText({ columns, pieces, format, elapsedMs: 1.23 }));
  };

  it("distinguish columns of the same name, and keep values in their cells", () => {
    expect(answer("objects", [1, 2])).toMatchObject({ objects: [{ a: 1, a_2: 2 }] });
    expect(answer("csv", ['x"y', null], ["\r\n", "\\"])).toMatchObject({
      text: 'a,a\n"x""y",\n"\r\n",\\\n',
    });
    expect(answer("markdown", ["x|y\nz", null])).toMatchObject({
      text: "| a | a |\n| --- | --- |\n| x\\|y<br>z | NULL |\n",
    });
  });

  it.each([
    [null, undefined, true, false],
    [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 5e-324, 1e300],
    [2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), -(2n ** 53n) + 1n, 0n],
    ["", "\ud800", "\u2028\0", "é".repeat(50), "x".repeat(64), "x".repeat(65)],
    [Buffer.from("ab"), Buffer.alloc(2_000), { a: ["x".repeat(100)] }, [1, [Buffer.from("c")]]],
  ])("write rows as JSON.stringify would write their encoded values: %#", (...row) => {
    const cut = { count: 0 };
    const encoded = encodeRow(row, 64, { count: 0 });
    const [a, b] = [{ count: 0 }, cut];
    encodeRow(row, 64, a);
    expect(rowWriter("rows", [], 64).write(row, b)).toBe(JSON.stringify(encoded));
    expect(b).toEqual(a);
  });

  it("say what was truncated and how to continue", () => {
    const text = answerText({
      columns,
      pieces: ["[1,2]"],
      format: "rows",
      stopped: "rows",
      nextCursor: "c",
      elapsedMs: 1.23,
    });
    expect(JSON.parse(text)).toEqual({
      columns,
      rows: [[1, 2]],
      row_count: 1,
      truncated: true,
      truncated_by: "rows",
      next_cursor: "c",
      elapsed_ms: 1.2,
      notices: [
        "1 row, and there are more. Continue with next_cursor, or narrow the query with WHERE.",
      ],
    });
  });
});

describe("tokens", () => {
  it.each([
    ["/* a */ -- b\n[x]]y `z` \"q\"\"r\" 's;''t'", ["[x]", "]", "y", "`z`", '"q""r"', "'s;''t'"]],
    ["'open '' to the end", ["'open '' to the end"]],
    ["a /* open", ["a"]],
  ])("of %j", (sql, expected) => {
    expect(tokenize(sql).map(({ text }) => text)).toEqual(expected);
  });
});

it("a loss names the largest first, and only why rows can't be restored", () => {
  const none = { inserted: 1, updated: 0, deleted: 0 };
  expect(lossText({ tables: [{ table: "a", ...none }], reason: "too large" })).toBeUndefined();
  const tables = [
    { table: "a", ...none, updated: 1 },
    { table: "b", ...none, deleted: 2_000 },
  ];
  expect(
    lossText({
      tables,
      objects: ["DROP TABLE c (0 rows)"],
      weakened: ["GRANT"],
      reason: "too large",
    }),
  ).toBe(
    "This cannot be undone: DROP TABLE c (0 rows); DELETE of 2,000 rows of b; UPDATE of 1 row of a (too large). This weakens protection: GRANT.",
  );
});

it.each([
  [
    { tables: [{ table: "users", updated: 0, deleted: 5_000, inserted: 0 }] },
    "Delete 5,000 rows of users",
  ],
  [{ objects: ["DROP TABLE c (0 rows)"], reason: "off" }, "Drop table c"],
  [
    {
      tables: [
        { table: "a", updated: 1, deleted: 0, inserted: 0 },
        { table: "b", updated: 0, deleted: 2, inserted: 0 },
      ],
      reason: "too large",
    },
    "Delete 2 rows of b, and 1 more",
  ],
  [{ weakened: ["GRANT"] }, undefined],
  [{ objects: ["DROP TABLE public.users (3 rows)"] }, "Drop table public.users"],
])("a button names the loss of %j", (loss, action) => {
  expect(lossAction(lossText(loss) ?? "")).toBe(action);
});

describe("statements", () => {
  it.each([
    ["DROP TABLE IF EXISTS a.b", "a.b"],
    ["DELETE FROM users", undefined],
    ["DROP VIEW v", undefined],
    ["ALTER TABLE a DROP COLUMN b", "a"],
    ["ALTER TABLE a ADD b", undefined],
    ["SELECT 'DROP TABLE users'", undefined],
  ])("%s", (sql, table) => {
    expect(removedFrom(statementOf(sql))).toBe(table);
  });

  it.each([
    ["INSERT OR REPLACE INTO main.users SELECT * FROM into_x", "main.users"],
    ["REPLACE INTO [a b] VALUES (1)", "[a b]"],
    ["WITH x AS (SELECT 1) UPDATE OR IGNORE users SET a = (SELECT 1)", "users"],
    ['DELETE FROM "delete" WHERE true', '"delete"'],
    ["DROP TABLE users", undefined],
  ])("names the table of %j", (sql, table) => {
    expect(targetOf(statementOf(sql))).toBe(table);
  });
  it("are counted", () => {
    const counts = ["", ";", "a;", "a; b", "a /* ; */", "';'"].map((sql) => statementOf(sql).count);
    expect(counts).toEqual([0, 0, 1, 2, 1, 1]);
    const trigger =
      "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM b; END";
    const after = ["", ";", "; DROP TABLE a"].map((rest) => statementOf(trigger + rest).count);
    expect(after).toEqual([1, 1, 2]);
    expect(statementOf("CREATE TABLE trigger (x); END; DROP TABLE a").count).toBe(3);
  });
});

it("a call's limits stay within the options", () => {
  const options = { maxRows: 500, maxBytes: 1, maxCellBytes: 2, queryTimeoutMs: 1_000 };
  expect(limitsOf(options)).toEqual({ rows: 200, bytes: 1, cellBytes: 2, timeoutMs: 1_000 });
  expect(limitsOf(options, { maxRows: 9_999, timeoutMs: 5_000 })).toMatchObject({
    rows: 500,
    timeoutMs: 1_000,
  });
});
