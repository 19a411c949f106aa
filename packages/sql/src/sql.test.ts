import { describe, expect, it } from "vitest";
import {
  answerText,
  encodeRow,
  type Format,
  LossTally,
  limitsOf,
  removalOf,
  rowWriter,
  SessionLosses,
  statementOf,
  type TableChange,
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
    for (const [at, row] of rows.entries())
      expect(writer.writeEncoded(encodeRow(row, 64, { count: 0 }))).toBe(pieces[at]);
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
      notices: ["1 row, and there are more. Continue with next_cursor, or narrow the query with WHERE."],
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

describe("a loss", () => {
  const change = { id: "1", table: "t", inserted: 0, updated: 0, deleted: 0 };
  const session = new SessionLosses();
  /** A transaction that is committed. @param left the rows of the table afterwards */
  const lossOf = (more: Partial<TableChange>, left: number, losses = new SessionLosses()) => {
    const tally = new LossTally(losses.changes);
    tally.rows({ ...change, ...more }, Math.min(left, tally.rowsNeeded({ ...change, ...more })));
    const loss = tally.loss();
    losses.add(tally.outcome);
    return loss?.replace("This cannot be undone: ", "");
  };

  it("is the last rows of a table, half of it, or many rows", () => {
    expect(lossOf({ deleted: 1 }, 0)).toBe("DELETE of every row of t (1 row).");
    expect(lossOf({ deleted: 9 }, 0)).toBe("DELETE of every row of t (9 rows).");
    expect(lossOf({ updated: 2 }, 2)).toBe("UPDATE of every row of t (2 rows).");
    expect(lossOf({ deleted: 899 }, 1)).toBe("DELETE of 899 of the 900 rows of t.");
    expect(lossOf({ deleted: 10 }, 10)).toBe("DELETE of 10 of the 20 rows of t.");
    expect(lossOf({ updated: 4, deleted: 6 }, 14)).toBe("change of 10 of the 20 rows of t.");
    expect(lossOf({ deleted: 1_001 }, 1_000_000)).toBe("DELETE of 1,001 rows of t.");
    for (const [more, left] of [
      [{ updated: 1 }, 1],
      [{ deleted: 9 }, 11],
      [{ deleted: 18 }, 1],
      [{ deleted: 1_000 }, 1_001],
      [{ inserted: 5, updated: 5, deleted: 5 }, 0],
      [{ inserted: 5, updated: 5 }, 5],
    ] as const)
      expect(lossOf(more, left), JSON.stringify(more)).toBeUndefined();
  });

  it("adds up over a session, until the user agrees to it", () => {
    const large = new SessionLosses();
    expect(lossOf({ deleted: 999 }, 1_000_000, large)).toBeUndefined();
    expect(lossOf({ deleted: 2 }, 1_000_000, large)).toMatch(
      /2 rows of t, which makes 1,001 in this session\.$/,
    );
    expect(lossOf({ deleted: 2 }, 1_000_000, large)).toBeUndefined();
    const small = new SessionLosses();
    for (let left = 24; left > 15; left--) expect(lossOf({ deleted: 1 }, left, small)).toBeUndefined();
    // Rows of the session itself don't hide it, and a lone UPDATE of a row does not count.
    expect(lossOf({ inserted: 900 }, 916, small)).toBeUndefined();
    for (let times = 0; times < 50; times++) expect(lossOf({ updated: 1 }, 916, small)).toBeUndefined();
    expect(lossOf({ updated: 4 }, 916, small)).toBe(
      "UPDATE of 4 rows of t, which makes 13 of its 25 rows in this session.",
    );
    const few = new SessionLosses();
    expect(lossOf({ deleted: 2 }, 1, few)).toBeUndefined();
    expect(lossOf({ deleted: 1 }, 0, few)).toBe(
      "DELETE of the last row of t, which makes 3 of its 3 rows in this session.",
    );
    for (let table = 0; table < 10; table++)
      expect(lossOf({ id: `many ${table}`, deleted: 100 }, 1_000, session)).toBeUndefined();
    expect(lossOf({ deleted: 1 }, 1_000, session)).toMatch(
      /^changes of 1 row together, which makes 1,001 in/,
    );
  });

  it("is a structure", () => {
    const tally = new LossTally();
    tally.structure("DROP TABLE t", 0);
    expect(tally.loss()).toMatch(/DROP TABLE t \(0 rows\)/);
  });

  it("is measured by one transaction at a time, and a cancelled one does not wait", async () => {
    const { signal } = new AbortController();
    const leaving = new AbortController();
    const order: string[] = [];
    const turn = (name: string, its = signal) =>
      session.inTurn(its, async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
      });
    const first = turn("first");
    const second = turn("second", leaving.signal);
    const third = turn("third");
    leaving.abort(new Error("cancelled"));
    await expect(second).rejects.toThrow("cancelled");
    await Promise.all([first, third]);
    await turn("fourth");
    expect(order).toEqual(["first", "third", "fourth"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });
});

describe("statements", () => {
  it.each([
    ["DROP TABLE IF EXISTS a.b", "DROP TABLE a.b"],
    ["DELETE FROM users", undefined],
    ["DROP VIEW v", "DROP VIEW v"],
    ["ALTER TABLE a DROP COLUMN b", "DROP COLUMN b of a with its contents"],
    ["ALTER TABLE a ADD b", undefined],
    ["SELECT 'DROP TABLE users'", undefined],
  ])("%s", (sql, what) => {
    expect(removalOf(statementOf(sql))?.what).toBe(what);
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
