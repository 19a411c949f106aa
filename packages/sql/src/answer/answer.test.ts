import { describe, expect, it } from "vitest";
import { limitsOf } from "../options.ts";
import { encodeRow, type Format, rowWriter } from "./formats.ts";
import { answerText } from "./results.ts";

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

it("a call's limits stay within the options", () => {
  const options = { maxRows: 500, maxBytes: 1, maxCellBytes: 2, queryTimeoutMs: 1_000 };
  expect(limitsOf(options)).toEqual({ rows: 200, bytes: 1, cellBytes: 2, timeoutMs: 1_000 });
  expect(limitsOf(options, { maxRows: 9_999, timeoutMs: 5_000 })).toMatchObject({
    rows: 500,
    timeoutMs: 1_000,
  });
});
